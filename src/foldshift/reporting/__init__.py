"""Show results, in one way for all studies: number formats, tables, figures, paper versus ours."""

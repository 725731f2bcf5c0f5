"""What every study uses to show what was measured: number formats, tables, figures, paper versus ours."""

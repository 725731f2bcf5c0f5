"""Functions that the rules of the workflow call, and the one place that reaches into Snakemake."""

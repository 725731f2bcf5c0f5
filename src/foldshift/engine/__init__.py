"""Support for the Snakemake workflow: configuration, layout of jobs, costs, storage, archive."""

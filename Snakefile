"""The main job. Everything stands in workflow/Snakefile; this file makes `snakemake --cores N` work at the root."""


include: "workflow/Snakefile"


workflow.default_target = "all"

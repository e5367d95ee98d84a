# The workflow is in workflow/; this lets people type `snakemake` here.
include: "workflow/Snakefile"


workflow.default_target = "all"  # an included file keeps its own to itself

"""What Snakemake asks: the checked configuration, the files of every target, and what a job depends on."""

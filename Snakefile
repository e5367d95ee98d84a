import os
import sys

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from fedrepro.config import ConfigError
from fedrepro.workflow import Plan

min_version("9.27")


configfile: "config/config.yaml"


try:
    PLAN = Plan(config)
except ConfigError as error:
    raise WorkflowError(str(error)) from None
CONFIG = PLAN.config
RESULTS = PLAN.results
ENVIRONMENT = "../../envs/environment.yaml"

# The interpreter that runs Snakemake; and glibc keeps the memory of freed arrays instead of asking for it again and again.
shell.prefix(
    f"export PATH={os.path.dirname(sys.executable)}:$PATH"
    f" MALLOC_MMAP_THRESHOLD_={2**25} MALLOC_TRIM_THRESHOLD_={2**30}; "
)


wildcard_constraints:
    experiment="|".join(PLAN.experiments),
    block="|".join(sorted({name for _, name in PLAN.blocks})),
    paper="|".join(PLAN.papers),


include: "workflow/rules/data.smk"
include: "workflow/rules/reference.smk"
include: "workflow/rules/blocks.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/reports.smk"


rule all:
    default_target: True
    input:
        f"{RESULTS}/report/index.html",
        f"{RESULTS}/claims.csv",
        [PLAN.paper_files(paper) for paper in PLAN.papers],


for target, files in PLAN.figures().items():

    rule:
        name:
            target
        input:
            files,


for paper in PLAN.papers:

    rule:
        name:
            paper
        input:
            PLAN.paper_files(paper),

import json

from fedrepro.datasets.decode import prepare
from fedrepro.pipeline.jobs import job

with job() as given:
    allowed = frozenset(filter(None, given.may_download.split(",")))
    entry, files = json.loads(given.declared)
    declared = {"datasets": {given.dataset: entry}, "files": files}
    meta = prepare(given.dataset, declared, policy=given.policy, may_download=allowed)
    print(*meta["tried"], f"{given.dataset}: {meta['origin']}, {meta['title']}", sep="\n")

from fedrepro.datasets.catalogue import declared
from fedrepro.datasets.decode import prepare
from fedrepro.jobs import job

with job() as given:
    allowed = frozenset(filter(None, given.may_download.split(",")))
    meta = prepare(given.dataset, declared(), policy=given.policy, may_download=allowed)
    print(*meta["tried"], f"{given.dataset}: {meta['origin']}, {meta['title']}", sep="\n")

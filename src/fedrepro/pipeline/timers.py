"""Snakemake's sleeping timers, ended when a run ends.

With a rate limit Snakemake leaves one timer behind for every finished job, to look at the queue again after the
limit's timespan. profiles/ makes that timespan long, so that hundreds of them do not keep a core busy; without
this, leaving would wait for the last one.
"""

import threading


def cancel_all() -> None:
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()

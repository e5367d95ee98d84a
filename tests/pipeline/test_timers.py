"""A run that is over does not wait for Snakemake's timers, however long the profiles let them sleep."""

import threading

from fedrepro.pipeline.timers import cancel_all


def test_sleeping_timers_end_at_once_without_acting():
    fired = []
    timers = [threading.Timer(30, fired.append, [i]) for i in range(3)]
    for timer in timers:
        timer.start()
    cancel_all()
    for timer in timers:
        timer.join(5)
    assert not any(timer.is_alive() for timer in timers)
    assert not fired

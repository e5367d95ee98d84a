"""How far a run is: the estimate, the line, what is shown where, the journal, and what `fedrepro status` says."""

import fcntl
import io
import json
import logging
from dataclasses import asdict
from types import SimpleNamespace

import pytest

import snakemake_logger_plugin_fedrepro as plugin
from fedrepro import cli
from fedrepro.pipeline import progress
from fedrepro.pipeline.progress import DONE, FAILED, RUNNING, TRUST, Job, Run

LOG = "results/smoke/logs/blocks/one.log"


def job(recorded=None, state=progress.WAITING, log=LOG, paper="fedsplit", words="Running it", **more) -> Job:
    return Job(words, paper, log, recorded, state, **more)


def done(recorded=None, took=1.0, lag=0.0, **more) -> Job:
    return job(recorded, DONE, begin=50.0, end=50.0 + took + lag, took=took, **more)


def run(*jobs: Job, cores: int = 1, alive: bool = True) -> Run:
    return Run("smoke", cores, 0.0, {str(i): one for i, one in enumerate(jobs)}, alive)


# --- the estimate ---


def test_recorded_times_are_added_up_over_the_cores():
    assert run(job(10.0), job(20.0), job(30.0)).left(0.0) == 60.0
    assert run(job(10.0), job(20.0), job(30.0), cores=2).left(0.0) == 30.0
    assert run(job(10.0), job(90.0), cores=8).left(0.0) == 90.0  # no faster than the longest
    assert run(done(), done()).left(0.0) == 0.0


def test_a_running_job_counts_with_what_it_lacks():
    assert run(job(30.0, RUNNING, begin=100.0)).left(110.0) == 20.0
    assert run(job(30.0, RUNNING, begin=100.0)).left(200.0) == 0.0
    assert run(job(30.0, RUNNING, begin=100.0), alive=False).left(200.0) == 30.0  # it has to begin again


def test_a_slower_machine_is_noticed_once_it_has_worked_for_a_while():
    assert run(done(1000.0, 2000.0), job(30.0)).left(0.0) == pytest.approx(60.0, rel=0.01)
    assert run(done(0.1, 0.5), job(30.0)).left(0.0) < 30.0 * (1 + 0.5 / TRUST)


def test_snakemakes_own_time_is_added_to_every_job_but_one_late_start_is_not():
    assert run(*[done(1.0, 1.0, lag=0.5)] * 5, job(1.0), job(1.0)).left(0.0) == pytest.approx(3.0)
    assert run(done(1.0, 1.0, lag=9.0), job(1.0)).left(0.0) == pytest.approx(1.0)


def test_jobs_never_seen_take_as_long_as_others_of_their_kind():
    other = "results/smoke/logs/figures/fedsplit/fig1.log"
    assert run(done(took=4.0), job(), job()).left(0.0) == 8.0
    assert run(done(took=4.0), done(took=1.0, log=other), job(), job(log=other)).left(0.0) == 5.0
    assert run(job(), job()).left(0.0) is None
    assert run(done(took=4.0), job(log=other), job(log=other)).left(0.0) is None
    assert run(done(took=4.0), done(took=4.0), job(log=other)).left(0.0) == 4.0


def test_failed_jobs_count_once_the_run_is_over():
    assert run(job(5.0, FAILED), job(5.0)).left(0.0) == 5.0
    assert run(job(5.0, FAILED), job(5.0), alive=False).left(0.0) == 10.0


def test_seconds_come_from_beside_the_log(tmp_path):
    log = tmp_path / "one.log"
    assert progress.last_time(str(log)) is None
    for text, seconds in (("2.5 1.0 90\n", 2.5), ("", None), ("what", None)):
        log.with_suffix(".cost").write_text(text)
        assert progress.last_time(str(log)) == seconds
    log.with_suffix(".cost").write_text("2.5 1.0 90\n")
    assert progress.last_time(str(log), since=log.with_suffix(".cost").stat().st_mtime + 1) is None


# --- the line ---


def test_the_line_counts_jobs_and_papers_and_names_what_runs():
    line = run(done(), job(state=RUNNING), job(paper="shed"), job(state=FAILED)).line(0.0)
    assert line.startswith("1 of 4 jobs, 1 failed, about ")
    assert line.endswith(" left | fedsplit 1/3, shed 0/1 | running it")
    assert "time left unknown" in run(job(), job()).line(0.0)
    assert run(done(), done()).line(100.0) == "2 of 2 jobs in 2 min | fedsplit 2/2"


@pytest.mark.parametrize("width", [200, 140, 100, 78, 60, 48, 30, 12])
def test_the_line_fits(width):
    papers = "fedsplit", "fedhybrid", "fco", "hyfdca", "shed", "arena"
    jobs = [done(paper=paper) for paper in papers] + [job(paper=paper) for paper in papers[1:]]
    whole = run(*jobs, job(state=RUNNING, words="Running fedgd on fig1"), job(state=RUNNING, paper=""))
    line = whole.line(51.0, width)
    assert len(line) <= width
    assert ("hyfdca 1/2" in line) == (width >= 140)
    assert ("0/6 papers" in line) == (78 <= width < 140)
    assert ("running fedgd on fig1" in line) == (width >= 60)
    assert ("; running it" in line) == (width >= 78)
    assert line.startswith("6 of 13 j") and line.endswith(("it", "+1", "…"))


# --- the logger ---


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    monkeypatch.setattr(progress, "RUN", run(job(5.0), job(7.0)))
    return tmp_path


def record(event: str, level=logging.INFO, message="words", **more) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": message, "levelno": level, "event": event} | more)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, *records, dryrun=False) -> str:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    handler = plugin.LogHandler(SimpleNamespace(stdout=False, dryrun=dryrun, nocolor=True), None)
    handler.setFormatter(logging.Formatter())
    for one in records:
        handler.emit(one)
    handler.close()
    return stream.getvalue()


def test_a_terminal_gets_one_line_that_rewrites_itself(here, monkeypatch):
    text = shown(monkeypatch, Terminal(), *[record("job_info")] * 3)
    assert text.count(plugin.ERASE) >= 2 and text.count("\n") == 1
    assert text.endswith("\n") and "0 of 2 jobs" in text


def test_before_there_are_jobs_a_terminal_says_so_and_forgets_it(here, monkeypatch):
    monkeypatch.setattr(progress, "RUN", Run())
    text = shown(monkeypatch, Terminal(), *[record("workflow_started")] * 2)
    assert "planning the jobs" in text and text.endswith(plugin.ERASE)
    assert shown(monkeypatch, io.StringIO(), *[record("workflow_started")] * 2) == ""


def test_a_pipe_gets_a_line_now_and_then(here, monkeypatch):
    text = shown(monkeypatch, io.StringIO(), *[record("progress")] * 50)
    assert text.count("\n") == 2 and "\r" not in text  # the first and the last


def test_warnings_and_errors_are_shown_whole_above_the_line(here, monkeypatch):
    error = record("job_error", logging.ERROR, "Error in rule block")
    text = shown(monkeypatch, Terminal(), record("progress"), record("progress"), error)
    assert f"{plugin.ERASE}Error in rule block\n" in text
    for kept in (record("", logging.WARNING, "beware"), record("", message="Nothing to be done (all …)")):
        assert shown(monkeypatch, io.StringIO(), kept) == f"{kept.msg}\n"
    assert "python" not in shown(monkeypatch, io.StringIO(), record("shellcmd", message="python …"))
    assert "words" in shown(monkeypatch, io.StringIO(), record("job_info"), dryrun=True)


# --- the journal and the states ---


def test_the_journal_follows_snakemakes_events(here):
    journal = progress.Journal()
    journal.emit(record("job_info", jobid=0))
    assert progress.load() == progress.RUN and progress.load().alive
    journal.emit(record("job_finished", job_id=0))
    journal.emit(record("job_info", jobid=1))
    journal.emit(record("job_error", jobid=1))
    journal.emit(record("job_error", jobid=1))  # told again at the end
    journal.emit(record("job_info", jobid=99))  # a target that only collects
    journal.emit(record("progress", done=1, total=2))
    journal.close()
    kept = progress.load()
    assert [one.state for one in kept.jobs.values()] == [DONE, FAILED]
    assert not kept.alive and kept.jobs == progress.RUN.jobs
    assert len(progress.PLACE.read_text().splitlines()) == 5


def test_a_job_took_what_is_noted_beside_its_log(here):
    cost = here / LOG.replace(".log", ".cost")
    cost.parent.mkdir(parents=True)
    journal = progress.Journal()
    journal.emit(record("job_info", jobid=0))
    cost.write_text("123.0 1.0 90\n")
    journal.emit(record("job_finished", job_id=0))
    journal.close()
    assert progress.load().jobs["0"].took == 123.0


def test_a_folder_that_cannot_be_written_costs_the_journal_and_not_the_run(here):
    journal = progress.Journal(here / "nowhere" / "run.jsonl")
    journal.emit(record("job_info", jobid=0))
    journal.close()
    assert progress.RUN.jobs["0"].state == RUNNING


def test_a_journal_cut_short_or_damaged(here):
    assert progress.load() is None
    told = asdict(run(job(), job()))
    progress.PLACE.write_text(json.dumps(told) + '\n["0", "running", 5.0]\n["1", "runn')
    assert [one.state for one in progress.load().jobs.values()] == [RUNNING, progress.WAITING]
    for text in ("", "{", "[]\n", '{"jobs": 1}\n', json.dumps(told) + '\n["7", "done", 1.0, 1.0]\n'):
        progress.PLACE.write_text(text)
        assert progress.load() is None


@pytest.mark.parametrize(
    ("states", "alive", "words"),
    [
        ((DONE, DONE), False, ["finished: 2 of 2 jobs done, 0 failed"]),
        ((DONE, RUNNING), True, ["at work for 100 s: 1 of 2 jobs", "running for 40 s: Running it"]),
        ((DONE, RUNNING), False, ["stopped before its end: 1 of 2", "interrupted: Running it"]),
        ((DONE, FAILED), False, ["ended with failed jobs: 1 of 2 jobs done, 1 failed", f"no data ({LOG})"]),
        ((DONE, FAILED), True, ["at work for", f"failed: Running it: DataError: no data ({LOG})"]),
    ],
)
def test_states(here, states, alive, words):
    (here / LOG).parent.mkdir(parents=True)
    (here / LOG).write_text("Traceback …\nDataError: no data\n\n")
    lines = run(*[job(5.0, state, begin=60.0, took=5.0) for state in states], alive=alive).report(100.0)
    assert len(lines) == len(words)
    for line, part in zip(lines, words, strict=True):
        assert part.replace("100 s", "2 min") in line


def test_many_failures_are_not_a_wall(here):
    lines = run(*[job(state=FAILED)] * 200, alive=False).report(0.0)
    assert len(lines) < 30 and lines[-1] == "  … and 180 more" and "it left no log" in lines[1]


def test_status_without_a_run_and_during_one(here, capsys, monkeypatch):
    monkeypatch.chdir(progress.Path(progress.__file__).parents[3])
    monkeypatch.setattr(progress.load, "__defaults__", (here / "run.jsonl",))
    assert cli.main(["status"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("no run yet\n") and "at scale paper" in said and len(said.splitlines()) < 60
    journal = progress.Journal(here / "run.jsonl")
    assert cli.main(["status"]) == 0  # the scale of the run, and one that is at work
    said = capsys.readouterr().out
    assert "at scale smoke, at work" in said and "blocks that have run at scale smoke" in said
    fcntl.flock(journal.file, fcntl.LOCK_UN)  # as a kill does
    assert cli.main(["--scale", "quick", "status"]) == 0
    said = capsys.readouterr().out
    assert "stopped before its end" in said and "blocks that have run at scale quick" in said
    journal.close()


def test_a_papers_blocks_are_summed_up():
    some = {"shed_fig1": [True, True], "shed_fig2": [True, False], "shed_fig3": [False]}
    assert (
        " ".join(cli.of_paper("shed", some).split()) == "shed 3 of 5 blocks; incomplete: fig2 1/2, fig3 0/1"
    )
    assert cli.of_paper("shed", {"shed_fig1": [True]}).split()[-4:] == ["1", "of", "1", "blocks"]

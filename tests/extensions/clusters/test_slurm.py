"""Slurm by a stand-in for its commands, which runs the very script that is submitted.

The same was tried on a Slurm of one node (22.05): arrays in blocks, time limits, pre-emption, scancel.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from blurb.execution import sweeps
from blurb.extensions.clusters import _slurm_script
from blurb.extensions.clusters._slurm_script import SlurmError
from blurb.messages.errors import BlurbError, StoreError
from blurb.store.row_contents import failure_of
from tests.cli.in_process import ran, run
from tests.conftest import Builder
from tests.rewriting import csv_lines

SBATCH = """#!{python}
import json, os, subprocess, sys
said, place = os.environ["FAKE_SLURM"], sys.argv
with open(f"{{said}}/calls", "a") as file:
    file.write(json.dumps(place[1:]) + "\\n")
number = sum(1 for _ in open(f"{{said}}/calls"))
if os.path.exists(f"{{said}}/refuse-{{number}}"):
    sys.exit("sbatch: error: QOSMaxSubmitJobPerUserLimit")
array = next(one for one in place if one.startswith("--array=")).removeprefix("--array=").split("%")[0]
begin, end = map(int, array.split("-"))
script, offset = place[-2:]
if os.path.exists(f"{{said}}/run"):
    for index in range(begin, end + 1):
        about = {{"SLURM_ARRAY_TASK_ID": str(index), "SLURM_ARRAY_JOB_ID": str(number)}}
        subprocess.run(["bash", script, offset], env={{**os.environ, **about}}, check=True, stdout=subprocess.DEVNULL)
print(f"{{number}};cluster")
"""
SCONTROL = """#!/bin/bash
if [ "$1" = show ]; then echo "MaxArraySize            = 1"; else echo "$@" >> "$FAKE_SLURM/scontrol"; fi
"""
SQUEUE = (
    '#!/bin/bash\nnumber="${@: -1}"; grep -s "^${number#--jobs=}$" "$FAKE_SLURM/alive" || true\n'
)
RUN = shlex.split(
    "run baseline:majority baseline:constant --suite demo --tasks gad,biosses --precision fp32"
)
ONE_TRIAL = shlex.split("run baseline:majority --suite demo --tasks gad --precision fp32")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that tells the stand-ins what to do, and has what they were told."""
    place, said = tmp_path / "bin", tmp_path / "slurm"
    for folder in (place, said, tmp_path / "here"):
        folder.mkdir()
    for name, text in (
        ("sbatch", SBATCH.format(python=sys.executable)),
        ("scontrol", SCONTROL),
        ("squeue", SQUEUE),
    ):
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(said))
    monkeypatch.chdir(tmp_path / "here")
    return said


@pytest.fixture
def queued(site: Path) -> Path:
    """The folder of a sweep whose two parts were submitted as jobs 1 and 2."""
    assert blurb(*RUN, "--engine", "slurm,trials=2").returncode == 0
    (folder,) = sweeps.folders(Path("runs"))
    return folder


def blurb(*arguments: str) -> SimpleNamespace:
    """The command in this process; 2 and its message for an error."""
    found = run(*arguments)
    if isinstance(found.exception, BlurbError):
        return SimpleNamespace(
            returncode=2, stdout=found.stdout, stderr=f"{found.stderr}{found.exception}"
        )
    return SimpleNamespace(returncode=found.exit_code, stdout=found.stdout, stderr=found.stderr)


def calls(site: Path) -> list[list[str]]:
    return [json.loads(line) for line in (site / "calls").read_text().splitlines()]


@pytest.mark.costly
def test_the_jobs_make_the_tables_that_one_process_makes(site: Path) -> None:
    alone = blurb(*RUN, "--output", "alone/runs")
    assert alone.returncode == 0, alone.stderr
    (site / "run").touch()
    done = blurb(*RUN, "--engine", "slurm,trials=2,start_within=0,partition=main,mem_per_cpu=2G")
    assert done.returncode == 0, done.stderr
    assert "Submitted as job 1, 2" in done.stdout  # two parts, and this site allows arrays of one
    assert "4 trials to come: blurb status" in done.stderr
    assert [(call[1], call[-1]) for call in calls(site)] == [
        ("--array=0-0", "0"),
        ("--array=0-0", "1"),
    ]
    for name in ("leaderboard.csv", "results.csv"):
        assert Path("runs", name).read_bytes() == Path("alone/runs", name).read_bytes()
    assert sweeps.folders(Path("runs")) == []  # all are done
    again = blurb(*RUN, "--engine", "slurm")
    assert "Submitted" not in again.stdout
    assert again.stderr.count("already done") == 4


def test_what_is_printed_is_the_script_and_nothing_is_submitted(site: Path) -> None:
    found = blurb(
        *RUN,
        "--engine",
        "slurm,trials=2,partition=main,gres=gpu:1,setup=env.sh,at_once=1",
        "--print",
    )
    assert found.returncode == 2
    assert "setup=env.sh is not a file" in found.stderr
    Path("env.sh").write_text("module load python\n")
    found = blurb(
        *RUN,
        "--engine",
        "slurm,trials=2,partition=main,gres=gpu:1,setup=env.sh,at_once=1",
        "--print",
    )
    assert found.returncode == 0, found.stderr
    assert not (site / "calls").exists()
    (folder,) = sweeps.folders(Path("runs"))
    assert found.stdout == (folder / _slurm_script.SCRIPT).read_text()
    assert f"The sweep stays in {folder} for this script and for blurb worker" in found.stderr
    assert re.search(
        r"^# 1 part of the sweep|^# [2-9] parts of the sweep", found.stdout, re.MULTILINE
    )
    asked = re.findall(r"^#SBATCH --([a-z-]+)=?(.*)$", found.stdout, re.MULTILINE)
    assert {
        "partition": "main",
        "gres": "gpu:1",
        "requeue": "",
        "open-mode": "append",
    }.items() <= dict(asked).items()
    assert dict(asked)["signal"] == f"B:USR1@{_slurm_script.SAVING}"
    by_hand = re.findall(r"^#     (sbatch .*)$", found.stdout, re.MULTILINE)
    assert [line.split()[1] for line in by_hand] == ["--array=0-0%1", "--array=0-0%1"]
    assert subprocess.run(["bash", "-n", folder / _slurm_script.SCRIPT]).returncode == 0
    for line in by_hand:  # as they stand
        subprocess.run([*line.split()], check=True, stdout=subprocess.PIPE)
    assert [call[-1] for call in calls(site)] == ["0", "1"]


def test_trials_that_wait_in_the_queue_are_not_submitted_twice(site: Path) -> None:
    assert blurb(*RUN, "--engine", "slurm,trials=2").returncode == 0
    (site / "alive").write_text("1\n")
    found = blurb(*RUN, "--engine", "slurm")
    assert found.returncode == 2
    assert "were submitted before, and are not finished: job 1" in found.stderr
    assert "scancel 1" in found.stderr
    (site / "alive").write_text("")
    assert blurb(*RUN, "--engine", "slurm,trials=2").returncode == 0


def test_a_site_that_refuses_is_quoted_and_what_it_took_is_known(site: Path) -> None:
    (site / "refuse-2").touch()
    found = blurb(*RUN, "--engine", "slurm,trials=2")
    assert found.returncode == 2
    assert "QOSMaxSubmitJobPerUserLimit" in found.stderr
    assert "Submitted before: 1" in found.stderr
    (folder,) = sweeps.folders(Path("runs"))
    assert json.loads((folder / _slurm_script.PARTS).read_text())["submitted"] == ["1"]


def test_a_part_that_is_not_there(queued: Path) -> None:
    assert len(_slurm_script.jobs_of_parts(queued, [1], ())) == 2
    for number in (2, -1):
        with pytest.raises(StoreError, match=f"has no part {number}: it has 2 parts"):
            _slurm_script.jobs_of_parts(queued, [number], ())


@pytest.mark.parametrize("part", [[99], 3, None, ["0"]])
def test_a_part_that_lists_no_trials_is_damage_and_not_missing(
    part: object, queued: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = {"parts": [part], "submitted": [], "taken": 1}
    monkeypatch.setattr(_slurm_script, "read_parts", lambda folder: damaged)
    with pytest.raises(StoreError, match="part 0 is no list of the sweep's trials"):
        _slurm_script.jobs_of_parts(queued, [0], ())


@pytest.mark.slow
def test_near_the_time_limit_a_part_saves_itself_and_is_queued_again(
    site: Path, checkpoint: Builder
) -> None:
    arguments = shlex.split(
        f"run {checkpoint('bert_uncased')} --suite demo --tasks gad --protocol smoke --precision fp32 "
        "--set epochs=40 --device cpu"
    )
    assert blurb(*arguments, "--engine", "slurm,start_within=0").returncode == 0
    (folder,) = sweeps.folders(Path("runs"))
    about = {**os.environ, "SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_JOB_ID": "7"}
    script = ["bash", str(folder / _slurm_script.SCRIPT), "0"]
    job = subprocess.Popen(
        script, env=about, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    limit = time.time() + 120
    while not list(Path("runs").glob("*/*/.*.checkpoint/*")) and time.time() < limit:
        time.sleep(0.1)
    job.send_signal(signal.SIGUSR1)  # as Slurm does: to the script alone
    out, _ = job.communicate(timeout=60)
    assert job.returncode == 0, out
    assert "queued again" in out
    assert (site / "scontrol").read_text() == "requeue 7_0\n"
    assert not list(Path("runs").glob("*/*/*/DONE.json"))
    done = subprocess.run(
        script, env={**about, "SLURM_RESTART_COUNT": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (made,) = Path("runs").glob("*/*/*/provenance.json")
    assert json.loads(made.read_text())["facts"]["resumed"]["step"] > 0
    assert len(csv_lines(Path("runs/leaderboard.csv"))) == 1


def test_jobs_that_are_queued_keep_their_trials_whatever_is_run_meanwhile(
    queued: Path, site: Path
) -> None:
    before = {path.name: path.read_bytes() for path in queued.iterdir()}
    (site / "alive").write_text("1\n")
    assert blurb(*RUN, "--engine", "slurm,trials=2").returncode == 2
    turned = [RUN[0], RUN[2], RUN[1], *RUN[3:]]
    assert blurb(*turned, "--engine", "slurm,trials=1", "--print").returncode == 2
    assert {path.name: path.read_bytes() for path in queued.iterdir()} == before
    assert all(job.resume for job in sweeps.read(queued))
    assert sweeps.folders(Path("runs")) == [queued]


@pytest.mark.costly
def test_what_failed_is_submitted_again(queued: Path) -> None:
    for job in sweeps.read(queued):
        job.path.parent.mkdir(parents=True, exist_ok=True)
        failure_of(job.path).write_text('{"message": "a bad node"}')
    assert blurb(*RUN, "--engine", "slurm,trials=2").returncode == 0
    assert "2 trials done here" in blurb("worker", "--sweep", str(queued), "--part", "0").stdout


@pytest.mark.costly
def test_after_a_refusal_the_rest_can_be_submitted(site: Path) -> None:
    (site / "refuse-2").touch()
    assert blurb(*RUN, "--engine", "slurm,trials=2").returncode == 2
    (site / "alive").write_text("1\n")  # the first part is queued
    assert "job 1" in blurb(*RUN, "--engine", "slurm,trials=4").stderr
    (folder,) = sweeps.folders(Path("runs"))
    assert blurb("worker", "--sweep", str(folder), "--part", "0").returncode == 0
    again = blurb(*RUN, "--engine", "slurm,trials=2")
    assert again.returncode == 0, again.stderr
    assert "Submitted as job 3" in again.stdout
    assert again.stderr.count("already done") == 2


@pytest.mark.costly
def test_logs_stay_until_gc_and_while_jobs_are_queued(queued: Path, site: Path) -> None:
    (queued / "1_0.log").write_text("done")
    assert blurb("worker").returncode == 0
    assert sweeps.folders(Path("runs")) == []
    (site / "alive").write_text("2\n")
    assert "0 leftovers" in blurb("gc").stdout
    assert (queued / "1_0.log").exists()
    late = blurb("worker", "--sweep", str(queued), "--part", "1")
    assert (late.returncode, "0 trials done here" in late.stdout) == (0, True)
    (site / "alive").write_text("")
    assert "1 leftover removed" in blurb("gc").stdout
    assert not queued.exists()


@pytest.mark.parametrize(
    "name", ["new\ntouch ran\n#", "back\\slash", "tab\there", "line\u2028end", "bell\x07"]
)
def test_a_path_that_a_script_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(SlurmError, match="choose another --output folder"):
        _slurm_script.check_path(Path(name))


def test_slurm_reads_the_path_of_the_logs_as_it_is(here: Path) -> None:
    """What ends a word for Slurm is escaped, and a % is none of its patterns."""
    store = Path("a %A_%j 'b' \"c\" #d $(touch ran) `touch ran` ;e größe")
    done = ran([*ONE_TRIAL, "--output", str(store), "--engine", "slurm", "--print"])
    (line,) = re.findall(r"^#SBATCH --output=(.*)$", done.output, re.MULTILINE)
    words = shlex.split(line, comments=True)
    (folder,) = sweeps.folders(store)
    assert [word.replace("%%", "%") for word in words] == [f"{folder.absolute()}/%A_%a.log"]
    assert "%" not in words[0].removesuffix("/%A_%a.log").replace("%%", "")
    assert not Path("ran").exists()


@pytest.mark.parametrize("name", ["new\ntouch ran\n#", "back\\slash"])
def test_the_command_refuses_it_before_anything_is_written(name: str, here: Path) -> None:
    done = run(*ONE_TRIAL, "--output", name, "--engine", "slurm", "--print")
    assert isinstance(done.exception, SlurmError)
    assert not list(here.rglob("slurm.sh"))


def test_an_error_of_squeue_is_no_empty_answer(site: Path) -> None:
    assert blurb(*RUN, "--engine", "slurm").returncode == 0
    squeue = site.parent / "bin" / "squeue"
    squeue.write_text(
        "#!/bin/bash\necho 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1\n"
    )
    again = blurb(*RUN, "--engine", "slurm")
    assert (again.returncode, len(calls(site))) == (2, 1)
    assert (
        "whether job 1 is over: slurm_load_jobs error: Unable to contact slurm controller"
        in again.stderr
    )
    squeue.write_text(
        "#!/bin/bash\necho 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n"
    )
    assert blurb(*RUN, "--engine", "slurm").returncode == 0
    assert len(calls(site)) == 2


def test_a_sweep_is_not_thought_over_where_there_is_no_squeue(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert blurb(*RUN, "--engine", "slurm").returncode == 0
    assert blurb(*RUN).returncode == 0
    monkeypatch.setenv("PATH", str(site))
    assert "finished sweep" not in blurb("gc", "--dry-run").stdout
    monkeypatch.undo()


@pytest.mark.parametrize(
    "said", ["Welcome to the machine\n\n----\n101", "101;cluster\n", "  101  \n"]
)
def test_the_number_of_a_job_is_the_last_line_that_is_one(site: Path, said: str) -> None:
    (site.parent / "bin" / "sbatch").write_text(
        f"#!/bin/bash\necho x >> $FAKE_SLURM/calls\necho '{said}'\n"
    )
    assert "Submitted as job 101" in blurb(*RUN, "--engine", "slurm").stdout
    (folder,) = sweeps.folders(Path("runs"))
    assert set(_slurm_script.read_parts(folder)["submitted"]) == {"101"}


def test_an_answer_without_a_number_is_quoted(site: Path) -> None:
    (site.parent / "bin" / "sbatch").write_text("#!/bin/bash\necho 'Your job is in the queue'\n")
    done = blurb(*RUN, "--engine", "slurm")
    assert (done.returncode, "sbatch: Your job is in the queue" in done.stderr) == (2, True)


def test_a_job_that_was_submitted_though_sbatch_timed_out_is_found_by_name(site: Path) -> None:
    (site.parent / "bin" / "sbatch").write_text(
        "#!/bin/bash\necho 'Socket timed out on send/recv' >&2; exit 1\n"
    )
    squeue = '#!/bin/bash\ncase "$*" in *--name=blurb-*) echo 77;; *--jobs=77*) echo 77;; esac\n'
    (site.parent / "bin" / "squeue").write_text(squeue)
    done = blurb(*RUN, "--engine", "slurm,minutes=600")
    assert done.returncode == 0, done.stderr
    assert "Submitted as job 77" in done.stdout
    again = blurb(*RUN, "--engine", "slurm,minutes=600")
    assert "were submitted before, and are not finished: job 77" in again.stderr

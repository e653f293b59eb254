"""``kap pipeline``: what it refuses, and says, before Spark is started."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from threading import Event
from unittest.mock import patch

import pytest
from click.testing import Result

from kafka_admin_proto.cli.pipeline.failures import of_workers, short_reason
from kafka_admin_proto.tables.ingest.files import OpenFile
from tests.capture.test_request_log import entry, log4j
from tests.helpers.confined import confined
from tests.helpers.kap import ended, run_kap
from tests.helpers.profile import sample
from tests.spark.needs import require
from tests.tables.test_pipeline import InThisProcess

require("pyspark")
SAMPLE = Path(__file__).parents[3] / "samples" / "admin42.pcap.gz"
LOG = Path(__file__).parents[2] / "records" / "data" / "__cluster_metadata-0"


def run(*arguments: object) -> Result:
    return run_kap("pipeline", *map(str, arguments))


def refused(*arguments: object) -> str:
    """What is said of these arguments, on one line; nothing was run."""
    with (
        patch("kafka_admin_proto.spark.session.spark_session", side_effect=AssertionError),
        patch("kafka_admin_proto.spark.session.spark_context", side_effect=AssertionError),
    ):
        result = run(*arguments)
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


def test_no_such_captures(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "there is no no-such" in refused("no-such", "--out", out)
    assert "no file matches" in refused(tmp_path / "*.pcap", "--out", out)
    (tmp_path / "empty").mkdir()
    assert "there are no files in" in refused(tmp_path / "empty", "--out", out)
    assert "Missing argument" in refused("--out", out)
    assert not out.exists()


def test_a_folder_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    assert "something else in it (thesis.tex)" in refused(SAMPLE, "--out", tmp_path)


def test_tables_among_the_captures(tmp_path: Path) -> None:
    shutil.copy(SAMPLE, tmp_path)
    assert "is inside" in refused(tmp_path, "--out", tmp_path / "out")
    assert "is inside" in refused(tmp_path, "--out", tmp_path)
    assert "is inside" in refused(f"file:{tmp_path}", "--out", tmp_path / "out")
    assert "names the machine" in refused(f"file://else{tmp_path}", "--out", tmp_path / "out")
    assert "is inside" in refused(tmp_path, "--out", tmp_path / "out", "--streaming")


def test_tables_in_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "is a URI" in refused(SAMPLE, "--out", "s3://bucket/tables")
    stream = ("--out", "s3://bucket/tables", "--format", "delta", "--streaming")
    assert "name a folder with --work" in refused(SAMPLE, *stream)
    assert not list(tmp_path.iterdir())


def test_tables_of_other_captures(tmp_path: Path) -> None:
    (tmp_path / "_pipeline.json").write_text('{"format": 3, "mode": "batch", "inputs": ["a"]}')
    assert "--overwrite" in refused(SAMPLE, "--out", tmp_path)


def test_inputs_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is named with its reason, and the tables of an earlier run stay as they are."""
    out, inputs = tmp_path / "out", tmp_path / "in"
    out.mkdir()
    inputs.mkdir()
    before = '{"format": 3, "mode": "batch", "inputs": ["a"]}'
    (out / "_pipeline.json").write_text(before)
    (inputs / "a-empty.pcap").touch()
    (inputs / "b-notes.txt").write_text("Things to do: buy apples, and read the log.\n")
    shutil.copy(SAMPLE.with_name("create_topics.hex"), inputs / "c.hex")
    (inputs / "d.pcap.gz").write_bytes(gzip.compress(b"no capture at all"))
    shutil.copy(SAMPLE, inputs / "e-secret.pcap")
    opened = OpenFile.__init__

    def refuse(self: OpenFile, name: str) -> None:
        if "secret" in name:
            raise PermissionError(errno.EACCES, "[Errno 13] Failed to open local file")
        opened(self, name)

    monkeypatch.setattr(OpenFile, "__init__", refuse)
    result = run(inputs, "--out", out, "--overwrite")
    neither = "could not be read: it is neither a packet capture nor a broker's request log"
    assert result.stderr.splitlines() == [
        f"{inputs}/a-empty.pcap could not be read: it is empty",
        f"{inputs}/b-notes.txt {neither}; if it is one, name it with --input-format",
        f"{inputs}/c.hex {neither}, but looks like a dump of bytes as text, which kap decode reads",
        f"{inputs}/d.pcap.gz {neither}; if it is one, name it with --input-format",
        f"{inputs}/e-secret.pcap could not be read: Permission denied",
        f"Error: no input could be read; {out} is as it was before",
    ]
    assert result.exit_code == 1
    assert [each.name for each in out.iterdir()] == ["_pipeline.json"]
    assert (out / "_pipeline.json").read_text() == before


def test_the_format_of_a_log_that_nothing_tells(tmp_path: Path) -> None:
    """Its layout is its own, and its first request comes after what is looked at."""
    log, out = tmp_path / "broker.txt", tmp_path / "out"
    log.write_text("a line that says nothing of requests, in a layout of its own\n" * 2000)
    arguments = (log, "--out", out, "--runner", "processes")
    assert "name it with --input-format" in run(*arguments).stderr
    with log.open("a") as file:
        file.write(log4j(entry()))
    runner = nullcontext((InThisProcess(), lambda: None))
    with patch("kafka_admin_proto.cli.pipeline.pipeline._processes", return_value=runner):
        result = run(*arguments, "--input-format", "request-log")
    assert result.exit_code == 0, result.output
    assert f"{out}: 2 frames" in result.output


def test_ctrl_c_before_spark_is_started(tmp_path: Path) -> None:
    with patch("kafka_admin_proto.tables.ingest.files.listed_files", side_effect=KeyboardInterrupt):
        result = run(SAMPLE, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (130, "stopped by Ctrl-C\n")


def test_ctrl_c_when_the_folder_is_taken(tmp_path: Path) -> None:
    with patch(
        "kafka_admin_proto.cli.pipeline.pipeline.JobProgress", side_effect=KeyboardInterrupt
    ):
        result = run(SAMPLE, "--out", tmp_path / "out")
    said = f"stopped by Ctrl-C: {tmp_path / 'out'} is as it was before\n"
    assert (result.exit_code, result.stderr) == (130, said)


def test_many_inputs_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.pcap").touch()
    lines = ended(run(tmp_path, "--out", tmp_path.with_name("out")), 1).stderr.splitlines()
    assert lines[5] == "3 more could not be read"
    assert len(lines) == 7


def test_a_log_of_another_topic(tmp_path: Path) -> None:
    folder = tmp_path / "fruit-0"
    folder.mkdir()
    shutil.copy(LOG / "00000000000000000000.log", folder)
    assert "is of the topic fruit" in refused(folder, "--out", tmp_path / "out")


@pytest.mark.parametrize("what", ["a segment", "a snapshot", "a folder", "among others", "empty"])
def test_streams_do_not_read_the_metadata_log(tmp_path: Path, what: str) -> None:
    others, empty = tmp_path / "others", tmp_path / "__cluster_metadata-0"
    shutil.copytree(LOG, others)
    shutil.copy(SAMPLE, others)
    empty.mkdir()
    name = {
        "a segment": LOG / "00000000000000000000.log",
        "a snapshot": next(LOG.glob("*.checkpoint")),
        "a folder": LOG,
        "among others": others,
        "empty": empty,
    }[what]
    said = refused(SAMPLE, name, "--out", tmp_path / "out", "--streaming")
    assert "a stream does not read" in said
    assert not (tmp_path / "out").exists()


def test_a_stream_of_a_folder_that_is_not_there(tmp_path: Path) -> None:
    said = refused(tmp_path / "no-such", "--out", tmp_path / "out", "--streaming")
    assert "there is no" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "master=x"], "'master=x' is none of Spark's"),
        (["--split-size", "fast"], "'fast' is no size"),
        (["--split-size", "0"], "'0' is no size"),
        (["--end"], "--end goes with --streaming --every 0"),
        (["--streaming", "--overwrite"], "--overwrite does not go with --streaming"),
        (["--streaming", "--input-format", "log-segment"], "does not go with --streaming"),
        (["--retain", "30d"], "--retain goes with --streaming"),
        (["--streaming", "--retain", "0d"], "'0d' is no number of days, as in 30d"),
        (["--work", "w"], "--work goes with --format delta"),
        (["--input-format", "hex"], "'hex' is not one of 'auto', 'pcap', 'request-log'"),
    ],
)
def test_options(tmp_path: Path, arguments: list[str], said: str) -> None:
    assert said in refused(SAMPLE, "--out", tmp_path / "out", *arguments)


@pytest.mark.exhaustive
def test_without_java(tmp_path: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("kap"), "pipeline", SAMPLE, "--out", tmp_path / "out"],
        capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"JAVA_HOME": str(tmp_path / "nowhere")},
    )  # fmt: skip
    assert done.returncode == 2
    assert "Spark needs Java 17 or newer" in done.stderr
    assert "or make the tables without Spark: --runner processes" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", [(), ("--streaming", "--every", "0")], ids=["batch", "stream"])
def test_a_master_that_does_not_answer(tmp_path: Path, options: tuple[str, ...]) -> None:
    """It is said before Spark, which would go on trying for a minute, is started."""
    done = subprocess.run(
        [Path(sys.executable).with_name("kap"), "pipeline", SAMPLE, "--out", tmp_path / "out",
         "--master", "spark://127.0.0.1:1", *options],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        "Error: no Spark master answers at spark://127.0.0.1:1 (127.0.0.1:1: Connection refused): "
        "start it, or name another one\n"
    )


@pytest.mark.parametrize(
    ("options", "is_whole", "exit_code"),
    [(["--every", "9"], True, 0), (["--every", "0"], True, 0), (["--every", "0"], False, 130)],
    ids=["goes on", "all was read", "some was read"],
)
def test_ctrl_c_ends_a_stream(
    tmp_path: Path, options: list[str], is_whole: bool, exit_code: int
) -> None:
    """It ends in order: a stream has no end, but what is there was to be read with --every 0."""

    def run_stream(*_: object, stop: Event, **__: object) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(10)
        return is_whole

    folder = tmp_path / "captures"
    folder.mkdir()
    with (
        patch("kafka_admin_proto.spark.session.spark_session"),
        patch("kafka_admin_proto.spark.stream.tables.run_stream", run_stream),
    ):
        result = run(folder, "--out", tmp_path / "out", "--streaming", *options)
    assert result.exit_code == exit_code, result.output
    assert "stopped by Ctrl-C: the next start of the stream goes on from here" in result.stderr
    assert ("0 frames in" in result.stdout) is (exit_code == 0)


#: Where Ctrl-C is pressed: options, the line before it, exit code and what is said then.
PRESSED: dict[str, tuple[list[str], str, int, str]] = {
    "stream": (
        ["--streaming", "--every", "1"], "batch 0", 0, "the next start of the stream goes on",
    ),
    "a batch of a stream": (
        ["--streaming", "--every", "1"], "starting Spark", 0, "the next start of the stream",
    ),
    "start of a stream": (
        ["--streaming", "--every", "1"], "", 130, "the next start of the stream goes on",
    ),
    "batch": ([], "starting Spark", 130, "is as it was before"),
    "start of a batch": ([], "", 130, "is as it was before"),
}  # fmt: skip


@pytest.mark.explore
@pytest.mark.xdist_group("spark kills")
@pytest.mark.parametrize(
    ("place", "to"), sample([*product(PRESSED, ["the process", "a terminal's group"])], 1)
)
def test_ctrl_c(tmp_path: Path, place: str, to: str) -> None:
    """One line says that it stopped, and no traceback of Spark's comes before it."""
    arguments, pressed_after, exit_code, said = PRESSED[place]
    kap = Path(sys.executable).with_name("kap")
    process = subprocess.Popen(
        [kap, "pipeline", SAMPLE, "--out", tmp_path / "out", "--master", "local[2]", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    lines: list[str] = []
    while pressed_after and not (lines and lines[-1].startswith(pressed_after)):
        lines.append(process.stderr.readline())
    while not (tmp_path / "out" / ".lock").exists():
        time.sleep(0.1)
    (os.kill if to == "the process" else os.killpg)(process.pid, signal.SIGINT)
    table, errors = process.communicate(timeout=120)
    assert process.returncode == exit_code, errors
    steps = [each for each in errors.splitlines() if not re.fullmatch(r"[\w ]+: [\d.]+ s", each)]
    assert len(steps) == 1, errors
    assert steps[0].startswith("stopped by Ctrl-C")
    assert said in steps[0]
    assert ("frames in" in table) is (exit_code == 0)
    assert not list((tmp_path / "out").glob(".staging*"))


#: What Spark 4.3 says, without most of its stacks.
_OF_A_WORKER = """\
[STREAM_FAILED] Query [id = 232a] terminated with exception: An error occurred. Reason: \
An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "captured.py", line 262, in deco
    raise converted from None
  File "flow_state.py", line 58, in read_flow
    raise StateError(
kafka_admin_proto.spark.ingest.flow_state.StateError: it was written by '0.0.1': start a new one
 SQLSTATE: 38000

JVM stacktrace:
org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown: Traceback
\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1002)
"""
_OF_JAVA = """\
An error occurred while calling o249.parquet.
: org.apache.spark.SparkException: [FAILED_READ_FILE.X] Encountered error while reading a.parquet.
\tat org.apache.spark.sql.errors.QueryExecutionErrors.error(QueryExecutionErrors.scala:898)
Caused by: java.net.ConnectException: Connection refused
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_OF_A_WORKER, "it was written by '0.0.1': start a new one"),
        (_OF_JAVA, "ConnectException: Connection refused"),
        ("  File x\nOSError: [Errno 28] No space left on device: '/out'\n", "OSError: [Errno 28] "
         "No space left on device: '/out'"),
        ("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03", "[PATH_NOT_FOUND] Path "
         "does not exist: file:/x"),
        ("Job 3 cancelled\n\tat org.apache.spark.X", "Job 3 cancelled"),
        (": java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n",
         "Spark ended before the job did, as where a master answers nothing for a minute or is "
         "gone: the master's log says more"),
        ("", ""),
    ],
)  # fmt: skip
def test_what_a_job_failed_of(text: str, said: str) -> None:
    """One sentence of all that Spark says, and that the cause."""
    assert short_reason(text) == said


@pytest.mark.parametrize("journal", ["elsewhere", 1, "link"])
def test_a_strange_journal(tmp_path: Path, journal: object) -> None:
    """One sentence with the file and what to do; it is no mistake in how the command is used."""
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    (tmp_path / "elsewhere").mkdir()
    victim.write_text("of the victim")
    file = out / ".journal.json"
    if journal == "link":
        file.symlink_to(victim)
    else:
        marker = {"format": 3, "mode": "batch", "inputs": [str(SAMPLE)]}
        names = {"staging": str(tmp_path / "elsewhere"), "moves": [], "removes": []}
        found = {**names, "marker": marker} if journal == "elsewhere" else journal
        file.write_text(json.dumps(found))
    with (
        confined(tmp_path),
        patch("kafka_admin_proto.spark.session.spark_context", side_effect=AssertionError),
    ):
        result = run(SAMPLE, "--out", out)
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"Error: {file} ")
    assert "name another folder" in result.stderr
    assert victim.read_text() == "of the victim"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{_OF_A_WORKER}ModuleNotFoundError: No module named 'kafka_admin_proto'\n",
         "the workers' Python has no module kafka_admin_proto"),
        ("PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different version: "
         "3.12 than that in driver: 3.11, PySpark cannot run with different minor versions.\n",
         "the workers run Python 3.12, and this is Python 3.11"),
        ('Caused by: java.io.IOException: Cannot run program "/no/python": error=2, No such file\n'
         "Caused by: java.io.IOException: error=2, No such file or directory\n",
         "the workers have no Python at /no/python"),
    ],
)  # fmt: skip
def test_what_workers_lack(text: str, said: str) -> None:
    found = of_workers(text)
    assert found is not None
    assert found.startswith(f"{said}: have PYSPARK_PYTHON name one")


@pytest.mark.parametrize("text", [_OF_A_WORKER, _OF_JAVA, ""])
def test_what_workers_do_not_lack(text: str) -> None:
    assert of_workers(text) is None

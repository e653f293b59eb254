"""On a standalone cluster: inputs that only the driver sees, workers and masters that are not."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_admin_proto.spark.session import NoJavaError, check_java
from kafka_admin_proto.tables.ingest.files import plan
from kafka_admin_proto.tables.ingest.packets import packet_rows
from tests.helpers.requirements import skip_or_fail
from tests.spark.standalone import EXECUTORS, standalone
from tests.tables.test_pipeline import as_text, by_one_process
from tests.tables.traffic import ADMIN, CONTROLLER

pytestmark = [pytest.mark.xdist_group("spark processes"), pytest.mark.explore]
ROOT = Path(__file__).parents[2]
LONG_AGO_S = 1e9
#: A line of a `.pth` file, which Python runs when it starts.
_OTHER_RELEASE = "import kafka_admin_proto.version as v; v.__version__ = '0.0.1'"


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    with standalone(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver's, with a capture for all to see and one for the driver alone."""
    here = tmp_path_factory.mktemp("driver")
    for source, name in ((ADMIN, "captures/admin.pcap.gz"), (CONTROLLER, "hidden/link.pcap.gz")):
        (here / name).parent.mkdir()
        shutil.copy(source, here / name)
        os.utime(here / name, (LONG_AGO_S, LONG_AGO_S))
    return here


@pytest.fixture(scope="module")
def done(master: str, folder: Path) -> Any:
    """What `on_standalone` has done there."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.spark.on_standalone", master],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


def frames_in(out: Path) -> list[str]:
    """The table ``frames`` as frame records, but for frames that say what could not be opened."""
    table = pq.read_table(out / "frames")
    table = table.set_column(table.column_names.index("ts"), "ts", table["ts"].cast(pa.int64()))
    rows = [row for row in table.to_pylist() if "could not be opened" not in str(row["problem"])]
    for row in rows:
        row["body"] = None if row["body"] is None else json.loads(row["body"])
        row["topic_names"] = None if row["topic_names"] is None else dict(row["topic_names"])
    return as_text(rows)


def packets_of(capture: Path) -> int:
    rows = [row for part in plan([str(capture)]) for row in packet_rows(part)]
    return len([row for row in rows if row[-1] is None])


def test_relative_inputs(done: Any, folder: Path) -> None:
    capture = folder / "captures" / "admin.pcap.gz"
    expected = by_one_process([capture])
    assert [done[name]["exit_code"] for name in ("folder", "pattern", "stream")] == [0, 0, 0]
    assert frames_in(folder / "pattern") == expected
    assert done["read_frames"] == len(expected)
    assert done["load"] == packets_of(capture)


def test_an_input_that_workers_cannot_open(done: Any, folder: Path) -> None:
    """It is named once, and the others make the tables; without others these stay as they were."""
    link = f"{folder}/captures/link.pcap.gz could not be opened on "
    for name in ("one unopened", "all unopened"):
        assert done[name]["exit_code"] == 1
        assert done[name]["errors"].count(link) == 1
    assert "Error: 1 input could not be opened: the tables lack" in done["one unopened"]["errors"]
    assert "opened: folder is as it was before" in done["all unopened"]["errors"]
    assert frames_in(folder / "folder") == by_one_process([folder / "captures" / "admin.pcap.gz"])
    (problem,) = pq.read_table(folder / "folder" / "problems")["problem"].to_pylist()
    assert problem.startswith(link)
    assert f"OSError: {link}" in done["read unopened"]


def test_a_stream_tries_again(done: Any, folder: Path) -> None:
    """Once in each run, until a worker opens it; then each of its frames is there once."""
    steps = [done[f"stream of {what}"] for what in ("unopened", "unopened again", "all")]
    assert [each["exit_code"] for each in steps] == [1, 1, 0]
    link = f"{folder}/captures/link.pcap.gz could not be opened on "
    assert [each["errors"].count(link) for each in steps] == [1, 1, 0]
    captures = sorted((folder / "captures").iterdir())
    assert len(captures) == 2
    assert frames_in(folder / "streamed") == by_one_process(captures)
    assert pq.read_table(folder / "streamed" / "problems").num_rows == 0


@pytest.mark.parametrize(
    ("sites", "said"),
    [
        ([], r"the workers' Python has no module \w+: have PYSPARK_PYTHON name one"),
        (
            [str(ROOT), str(Path(msgspec.__file__).parents[1]), _OTHER_RELEASE],
            r"the job failed: a worker has kafka-admin-proto 0\.0\.1, and the driver",
        ),
    ],
    ids=["no package", "another release"],
)
def test_the_python_of_workers(master: str, tmp_path: Path, sites: list[str], said: str) -> None:
    """What it lacks is one line, without a traceback."""
    venv.create(tmp_path / "python", symlinks=True)
    (site,) = (tmp_path / "python" / "lib").glob("python*/site-packages")
    (site / "sites.pth").write_text("\n".join(sites))
    settings = [word for each in EXECUTORS.items() for word in ("--set", "=".join(each))]
    run = subprocess.run(
        [Path(sys.executable).with_name("kap"), "pipeline", ADMIN, "--out", tmp_path / "out",
         "--master", master, *settings],
        env=os.environ | {"PYSPARK_PYTHON": str(tmp_path / "python" / "bin" / "python")},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert re.search(rf"\nError: {said}.*\n\Z", run.stderr), run.stderr
    assert "Traceback" not in run.stderr
    assert "\tat " not in run.stderr

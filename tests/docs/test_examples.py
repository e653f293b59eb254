"""The examples end with a sentence where a file or a cluster is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
#: Nobody listens there.
NOBODY = "127.0.0.1:1"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("create_topics.py /nowhere.yaml --bootstrap-server h:1", 1, "/nowhere.yaml: "),
        (f"create_topics.py FILE --bootstrap-server {NOBODY}", 1, NOBODY),
        ("create_topics.py FILE --bootstrap-server h:1 --command-config /nowhere", 1, "/nowhere"),
        (f"metrics_probe.py {NOBODY}", 2, NOBODY),
        (f"metrics_probe.py {NOBODY} /nowhere.properties", 2, "/nowhere.properties"),
        ("metrics_probe.py", 2, "usage: "),
        (f"threaded_client.py {NOBODY}", 1, f"{NOBODY}: "),
        ("threaded_client.py no-such-host.invalid:9092", 1, "no-such-host.invalid:9092: "),
        ("threaded_client.py localhost:99999", 1, "localhost:99999: "),
        ("threaded_client.py localhost", 2, "'localhost' is not host:port"),
    ],
)
def test_what_is_missing_is_a_sentence(command: str, code: int, said: str, tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text("topics: [{name: orders}]")
    script, *arguments = command.replace("FILE", str(file)).split()
    done = subprocess.run(
        [sys.executable, FOLDER / script, *arguments],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_every_example_is_tried() -> None:
    """A new one is given a case above."""
    tried = {"create_topics.py", "metrics_probe.py", "threaded_client.py"}
    assert {file.name for file in FOLDER.glob("*.py")} == tried

"""What docs/server-faults.md shows runs, and its words are those that there are."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

from kafka_admin_proto.messages import CreateTopicsRequest
from kafka_admin_proto.server import SyncCluster
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic

_PAGE = (Path(__file__).parents[3] / "docs" / "server-faults.md").read_text("utf-8")


def test_the_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", _PAGE, re.DOTALL)

    def client(cluster: SyncCluster) -> None:
        with Nodes(cluster.bootstrap_servers) as nodes:
            for code in (41, 41, 0):
                answer = nodes.ask(0, CreateTopicsRequest([topic("a")], 1000), 7)
                assert answer.topics[0].error_code == code

    assert "..." in code
    exec(code.replace("...", "client(cluster)"), {"client": client})


def test_the_words_of_the_shell_are_faults() -> None:
    (line,) = re.findall(r"^kap serve.*$", _PAGE, re.MULTILINE)
    words = shlex.split(line)
    texts = [text for option, text in itertools.pairwise(words) if option == "--fault"]
    faults = SyncCluster(3).faults
    for text in texts:
        faults.add_text(text)
    assert len(list(faults)) == 2


def test_the_words_of_the_tables_are_faults() -> None:
    for row in re.findall(r"^\| (`[a-z].*?) \| (.*?) \|", _PAGE, re.MULTILINE):
        for text in re.findall(r"`(.*?)`", row[0]):
            effect = "" if _is_effect(text) else " cut=after"
            SyncCluster(3).faults.add_text(text + effect)


def _is_effect(text: str) -> bool:
    names = {"delay-ms", "throttle-ms", "error", "cut", "drop", "garbage"}
    return any(each.partition("=")[0] in names for each in text.split())

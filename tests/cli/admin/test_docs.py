"""The examples of docs/kafka-shell.md are run, and print what they show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kafka_admin_proto.cli.app import kap
from tests.cli.admin.conftest import Run
from tests.cli.admin.scripted_broker import ScriptedBroker

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "kafka-shell.md"
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def shown(block: str, run: Run, broker: ScriptedBroker) -> str:
    """The block as it is when its commands are run one after the other."""
    found = []
    for command in re.findall(r"^\$ kap (.*)$", block, re.MULTILINE):
        result = run(command)
        text = (result.stdout + result.stderr).replace(str(broker.port), "9092")
        text = re.sub(r"\d+\.\d$", "1.5", text, flags=re.MULTILINE)  # milliseconds of kap ping
        found.append(f"$ kap {command}\n{text}")
    return "\n".join(found)


@pytest.mark.parametrize("block", BLOCKS, ids=[each.splitlines()[0] for each in BLOCKS])
def test_each_example(block: str, run: Run, broker: ScriptedBroker) -> None:
    assert shown(block, run, broker).strip() == block.strip()


def test_every_command_that_the_page_names_is_there() -> None:
    for line in set(re.findall(r"`kap ([a-z][a-z -]*)", PAGE.read_text("utf-8"))):
        command = kap
        for word in shlex.split(line):
            found = getattr(command, "get_command", lambda *_: None)(None, word)
            if found is None:
                break
            command = found
        assert command is not kap, line

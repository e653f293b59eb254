"""The examples of docs/kafka-shell.md are run, and print what they show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.cli.admin.commands import all_commands
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import topic_of

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "kafka-shell.md"
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


#: What differs from run to run, as the page has it.
_CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
_TOPIC_IDS = {
    "clicks": "X7Y7OoGNVwW0ZcLWsXiYfw", "orders": "0UZo8hi8UjOrNWJzUFqkmg",
    "payments": "HIaKus3AWXiSOnLjsME_GA",
}  # fmt: skip
_VARYING = {
    r"\d+\.\d$": "1.5",  # milliseconds of kap ping
    r"\b20\d\d-\d\d-\d\dT[\d:.]+Z": "2026-11-30T12:00:00.000Z",
}


def shown(block: str, run: Run, cluster: SyncCluster) -> str:
    """The block as it is when its commands are run one after the other."""
    printed = []
    for command in re.findall(r"^\$ kap (.*)$", block, re.MULTILINE):
        result = run(command)
        printed.append(f"$ kap {command}\n{result.stdout}{result.stderr}")
    text = "\n".join(printed)
    for pattern, value in _VARYING.items():
        text = re.sub(pattern, value, text, flags=re.MULTILINE)
    for number, address in enumerate(cluster.bootstrap_servers.split(",")):
        text = text.replace(address.rpartition(":")[2], str(9092 + number))
    text = text.replace(cluster.state.cluster_id, _CLUSTER_ID)
    for name, topic_id in _TOPIC_IDS.items():
        if name in cluster.state.topic_names:
            text = text.replace(topic_id_to_text(topic_of(cluster, name).id), topic_id)
    return text


@pytest.mark.parametrize("block", BLOCKS, ids=[each.splitlines()[0] for each in BLOCKS])
def test_each_example(block: str, run: Run, cluster: SyncCluster) -> None:
    assert shown(block, run, cluster).strip() == block.strip()


def named_flags(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a text with each flag that stands behind it.

    Behind it is in the same line of code; in a table's row also in the cells behind: these are of
    all commands of the first cell, which may name further ones of the group, as "delete" here:
    | `kap offsets reset`, `delete` | `--group` |
    """
    commands = dict(all_commands())

    def command_of(*lines: str) -> str:
        found = (p for line in lines for p in commands if f"{line} ".startswith(f"{p} "))
        return next(found, "")

    for row in re.findall(r"^\| (`kap .*?) \|(.*)$", text, re.MULTILINE):
        names = re.findall(r"`(?:kap )?([^`]+)`", row[0])
        group = names[0].split()[0]
        for path in filter(None, (command_of(name, f"{group} {name}") for name in names)):
            yield from ((path, flag) for flag in re.findall(r"`(--[\w-]+)", row[1]))
    for line in re.findall(r"\bkap ([a-z][^`\n|]*)", text.replace("\\\n", " ")):
        for path in commands:
            if f"{line} ".startswith(f"{path} "):
                yield from ((path, flag) for flag in re.findall(r"(?<=\s)(--[\w-]+)", line))


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_flag_that_a_page_names_is_one_of_the_command(page: Path) -> None:
    commands = dict(all_commands())
    wrong = {
        f"kap {path} {flag}"
        for path, flag in named_flags(page.read_text("utf-8"))
        if flag != "--help"
        and not any(flag in (*each.opts, *each.secondary_opts) for each in commands[path].params)
    }
    assert not wrong


def test_flags_of_pages_are_found() -> None:
    found = set(named_flags(PAGE.read_text("utf-8")))
    assert {("acls delete", "--producer"), ("offsets reset", "--shift-by")} <= found
    assert ("topics create", "--replication-factor") in found
    assert len(found) > 40


def test_every_command_that_the_page_names_is_there() -> None:
    for line in set(re.findall(r"`kap ([a-z][a-z -]*)", PAGE.read_text("utf-8"))):
        command = kap
        for word in shlex.split(line):
            found = getattr(command, "get_command", lambda *_: None)(None, word)
            if found is None:
                break
            command = found
        assert command is not kap, line

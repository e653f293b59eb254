"""Scripts of Kafka's command line tools, run on both clusters."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.server.clients.normalised import is_known, normalised
from tests.server.clients.pair import Pair, Side

_HERE = Path(__file__).parent
_FILES = msgspec.json.decode((_HERE / "java_files.json").read_bytes(), type=dict[str, msgspec.Raw])
#: These take their options before the word that says what they do.
_OPTIONS_FIRST = ("FeatureCommand", "MetadataQuorumCommand", "TransactionsCommand")


class Outputs(msgspec.Struct):
    """The output of a command on both clusters, with the exit code in the first line."""

    command: str
    real: str
    ours: str


def write_files(folder: Path) -> None:
    """The files that commands name as @name."""
    for name, content in _FILES.items():
        (folder / name).write_bytes(content)


def run_script(tools: KafkaTools, pair: Pair, folder: Path, script: str) -> Iterator[Outputs]:
    """Each command of a script with both outputs, normalised."""
    for line in (_HERE / script).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        command = line.removeprefix("! ")

        def asked(side: Side, command: str = command) -> str:
            command, _, given = command.partition(" < ")
            stdin = "".join(f"{each}\n" for each in given.split(",") if given)
            outcome = tools.outcome(*_arguments(command, side, folder), stdin=stdin)
            text = f"{outcome.status}\n{outcome.stdout}\n--\n{outcome.stderr}"
            return normalised(text, side, folder)

        if command == line and not is_known(command):
            yield Outputs(command, *pair.question(asked, _moves_go_on))
        else:
            yield Outputs(command, *pair.change(asked))


def _moves_go_on(text: str) -> bool:
    """Whether an output says that replicas still move: they may have arrived a moment later."""
    return "is still in progress" in text or "adding:" in text


def _arguments(command: str, side: Side, folder: Path) -> list[str]:
    words = [
        str(folder / each[1:]) if each.startswith("@") else each for each in shlex.split(command)
    ]
    where = ["--bootstrap-server", side.bootstrap]
    if words[0] in _OPTIONS_FIRST:
        return [words[0], *where, *words[1:]]
    return [*words, *where]

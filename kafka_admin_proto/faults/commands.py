"""The commands of a control socket that add, list and remove faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kafka_admin_proto.control_socket import Command
from kafka_admin_proto.counts import counted
from kafka_admin_proto.faults.faults import Faults

#: Commands with their arguments, as the help shows them.
COMMANDS = {
    "fault NAME=VALUE...": "let something go wrong with requests, as --fault does",
    "faults": "each fault, and how often it fired",
    "heal": "let nothing go wrong any more",
}


def commands_of(faults: Callable[[], Faults]) -> dict[str, Command]:
    """The commands, with what each does; ``faults`` gives those of a cluster or a proxy."""
    return {
        "fault NAME=VALUE...": partial(_fault, faults),
        "faults": partial(_faults, faults),
        "heal": partial(_heal, faults),
    }


async def _fault(faults: Callable[[], Faults], *words: str) -> None:
    faults().add_text(" ".join(words))


async def _faults(faults: Callable[[], Faults]) -> str:
    lines = [f"{each.text}: fired {counted(each.fired, 'times')}" for each in faults()]
    return "; ".join(lines) or "none"


async def _heal(faults: Callable[[], Faults]) -> str | None:
    was = None if list(faults()) else "ok: there were no faults"
    faults().clear()
    return was

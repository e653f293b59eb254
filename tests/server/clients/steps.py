"""The steps of a script of a client, each with what it gave as a text that can be compared."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from tests.server.clients.normalised import normalised
from tests.server.clients.pair import Side

Shown = dict[str, str]
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TOPIC_ID = re.compile(r'(topic_id": )"[\w-]{22}"')
#: Ids that differ, and what is as random in Kafka as here or is of a machine.
_RANDOM = re.compile(
    r'"(port|cluster_id|controller(_id)?|leader_epoch|throttle_time_ms|elapsed_s|latency_ms|'
    r'lag|end_offset|high_watermark|last_\w+_ms|epoch)": '
    r'("[^"]*"|-?[\d.]+)'
)


class Steps:
    """The results of the steps, by their names."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.shown: Shown = {}

    def ask(self, name: str, asked: Callable[..., Any], *, changes: bool = False) -> None:
        """An answer or an error, as text."""
        try:
            found: Any = asked()
        except Exception as error:  # what the client raises is its answer
            found = f"{type(error).__name__}: {error}"
        self.keep(name, found)
        if changes:
            self.side.wait_for_brokers()

    async def wait(self, name: str, asked: Callable[..., Awaitable[Any]]) -> None:
        """The same of a coroutine."""
        try:
            found: Any = await asked()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        self.keep(name, found)

    def keep(self, name: str, found: Any) -> None:
        text = json.dumps(found, default=_plain, sort_keys=True, indent=1)
        text = _RANDOM.sub(r'"\1": null', _TOPIC_ID.sub(r"\1null", _UUID.sub("uuid", text)))
        self.shown[name] = normalised(text, self.side, Path("/nowhere"))


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    return str(value)

"""Files that a task could not open: the row that says so, and how the driver finds it again.

Workers need not see what the driver sees. A task writes such a row in the place of packets, and
the driver looks for these rows among the problems of a run or of a stream's batch.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.tables.store_errors import store_reason
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: In the problem of each part of a file that could not be opened, and in no other problem.
UNOPENED = " could not be opened on "


class Unopened(NamedTuple):
    """The ``files`` that were to be read, and the ``problems`` of those that were not opened whole.

    ``whole`` are those of which no part was opened, so that nothing of them was read.
    """

    files: frozenset[str]
    problems: Mapping[str, str]
    whole: frozenset[str]


class UnopenedError(KafkaAdminProtoError):
    """None of the inputs of a run could be opened by its tasks; ``unopened`` has them."""

    def __init__(self, unopened: Unopened) -> None:
        super().__init__("; ".join(unopened.problems.values()))
        self.unopened: Unopened = unopened


def unopened_problem(name: str, error: OSError, start: int = 0) -> str:
    """The problem of a part of a file that begins at byte ``start``; no two parts share it."""
    where = f" from byte {start} on" if start else ""
    host = f"{socket.gethostname()}: {open_reason(error)}"
    return f"{replace_invalid_utf8(name)}{where}{UNOPENED}{host}"


def open_reason(error: OSError) -> str:
    """Why a file could not be opened, on one line."""
    return os.strerror(error.errno) if error.errno else store_reason(str(error))


def find_unopened(problems: Iterable[tuple[str, str]], parts: Iterable[str]) -> Unopened:
    """The files that the problems of a run say were not opened: pairs of a capture and a problem.

    ``parts`` has the file of each part that was to be read.
    """
    planned = Counter(parts)
    names = {replace_invalid_utf8(name): name for name in planned}
    found: dict[str, dict[str, None]] = {}
    for capture, problem in problems:
        if UNOPENED in problem and capture in names:
            found.setdefault(names[capture], {})[problem] = None
    return Unopened(
        frozenset(planned),
        {name: next(iter(each)) for name, each in found.items()},
        frozenset(name for name, each in found.items() if len(each) == planned[name]),
    )

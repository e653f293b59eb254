"""Questions to tables that a pipeline replaces while they are answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.sinks.journal import JOURNAL
from kafka_admin_proto.tables.sinks.origin import MARKER

#: Attempts at a query. A stream may replace a table while it is read: once a minute by default.
TRIES = 5
#: Seconds in which tables are put in place.
_PAUSE = 0.2

Tables = Mapping[str, StoredTable]
T = TypeVar("T")


class TablesReplacedError(KafkaAdminProtoError):
    """The tables were replaced whenever they were read."""


class CurrentTables:
    """The tables of a folder as ``read`` finds them, which is asked again when files are gone."""

    def __init__(self, folder: str, read: Callable[[], Tables]) -> None:
        self._folder = Path(folder)
        self._read = read
        self._tables: Tables | None = None

    def ask(self, question: Callable[[Tables], T]) -> T:
        """The answer, which has to be whole: nothing is read later. Raises TablesReplacedError."""
        for _ in range(TRIES):
            try:
                if self._tables is None:
                    self._tables = self._settled()
                return question(self._tables)
            except FileNotFoundError:  # it was there when the folder was listed
                self._tables = None
        raise TablesReplacedError(
            f"the pipeline has replaced the tables each of the {TRIES} times that they were read: "
            "ask when it is done, with --streaming give it a longer --every, or ask a copy of "
            "the folder"
        )

    def _settled(self) -> Tables:
        """The tables of one time: of those being replaced, a folder may be missed.

        A pipeline that was killed meanwhile leaves them as they are until it is run again.
        """
        for _ in range(TRIES):
            before = self._state()
            tables = self._read()
            if before is not None and before == self._state():
                break
            time.sleep(_PAUSE)
        return tables

    def _state(self) -> tuple[int, int] | None:
        """What differs whenever tables were replaced, None while they are."""
        if (self._folder / JOURNAL).exists():
            return None
        try:
            found = (self._folder / MARKER).stat()
        except OSError:  # of somebody else's making, or in an object store
            return 0, 0
        return found.st_ino, found.st_mtime_ns

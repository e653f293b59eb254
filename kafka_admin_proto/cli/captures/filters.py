"""Which frames of an input to show: options that commands share."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import click
import msgspec

from kafka_admin_proto.capture.dumps.frame_decoder import message_name
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.errors import DumpError, UnknownMessageError
from kafka_admin_proto.schema.catalog import catalog


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The values that a frame must have to be shown; None stands for any value.

    ``since`` and ``until`` are microseconds since 1970, the first included.
    """

    api_keys: frozenset[int] | None = None
    client_id: str | None = None
    connection: str | None = None
    errors_only: bool = False
    since: int | None = None
    until: int | None = None

    def __call__(self, frame: DecodedFrame) -> bool:
        if self.api_keys is not None and frame.api_key not in self.api_keys:
            return False
        if self.client_id is not None and frame.client_id != self.client_id:
            return False
        if self.connection is not None and not self._is_connection(frame):
            return False
        if self.since is not None and (frame.ts is None or frame.ts < self.since):
            return False
        if self.until is not None and (frame.ts is None or frame.ts >= self.until):
            return False
        return not self.errors_only or frame.error is not None or bool(frame.error_codes())

    def _is_connection(self, frame: DecodedFrame) -> bool:
        """Whether the filter names the connection, one of its ends, or the address of one."""
        ends = (frame.client or "", frame.server or "")
        names = (frame.connection, *ends, *(end.rpartition(":")[0] for end in ends))
        return self.connection in names


class FilteredFrames:
    """Numbers the frames from 1, yields those that pass the filter, and counts their problems.

    ``mask`` hides secrets; see `DecodedFrame.shown`.
    """

    def __init__(
        self, frames: Iterable[DecodedFrame], wanted: Filter, only: int | None, *, mask: bool
    ) -> None:
        self._frames = frames
        self._wanted = wanted
        self._only = only
        self._mask = mask
        self.count: int = 0
        self.problems: int = 0
        #: Gaps and other frames of which it is unknown whether the filter selects them.
        self._unplaced = 0
        #: Called before an input that may pause is waited for.
        self.on_wait: Callable[[], None] = _nothing

    def __iter__(self) -> Iterator[tuple[int, DecodedFrame]]:
        only, mask, wanted = self._only, self._mask, self._wanted
        takes_all = wanted == Filter()
        for read in self._frames:
            self.count = count = self.count + 1
            if only is not None and only != count:
                continue
            frame = read.shown(mask=mask)
            error = frame.error
            if takes_all or isinstance(error, DumpError) or wanted(frame):
                if error is not None:
                    self.problems += 1
                yield count, frame
            elif error is not None and frame.api_key is None:
                self._unplaced += 1

    def finish(self, *, failed: bool = False) -> None:
        """Leave with the exit code, once all frames were taken; ``failed``: 1 in any case.

        Raises click.UsageError where there was no frame of the number asked for.
        """
        if self._unplaced:
            click.echo(
                f"{self._unplaced} holes and pieces without an api are not in this choice of "
                "frames; kap decode without filters shows them",
                err=True,
            )
        if self._only is not None and self.count < self._only:
            raise click.UsageError(f"there is no frame {self._only}; the input has {self.count}")
        sys.exit(1 if self.problems or failed else 0)


def _nothing() -> None:
    pass


def api_keys(text: str, dialect: str) -> frozenset[int]:
    """The keys of apis given by name, in any case, or number: "CreateTopics,3"."""
    keys = set()
    names = {name.casefold(): name for name in catalog().names(dialect)}
    for word in filter(None, (word.strip() for word in text.split(","))):
        if word.isdecimal():
            keys.add(int(word))
            continue
        known = word if f"{word.casefold()}request" not in names else f"{word}Request"
        try:
            found = message_name(names.get(known.casefold(), known), dialect=dialect)
        except UnknownMessageError as error:
            raise click.UsageError(str(error)) from None
        key = catalog().entry(found, dialect).api_key
        if key is None or catalog().entry(found, dialect).type not in ("request", "response"):
            raise click.UsageError(f"{found} is no request, nor the response to one")
        keys.add(key)
    if not keys:
        raise click.UsageError("--api names no api")
    return frozenset(keys)


#: Seconds since 1970, after 1973: fewer digits are a date, or a slip.
_SECONDS = re.compile(r"\d{9,11}(\.\d*)?")


class Instant(click.ParamType[int]):
    """A point in time as microseconds since 1970; a date and time without a zone is in UTC."""

    name = "time"

    def convert(
        self, value: str, parameter: click.Parameter | None, context: click.Context | None
    ) -> int:
        if _SECONDS.fullmatch(value):
            return round(float(value) * 1_000_000)
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time like 2026-01-31T12:00:00, nor seconds since 1970")
        if found.tzinfo is None:
            found = found.replace(tzinfo=UTC)
        return round(found.timestamp() * 1_000_000)

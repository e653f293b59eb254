"""Which frames of an input to show: options that commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

import click
import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.plain_rows import OtherFrames, RowFilter
from kafka_admin_proto.capture.topics_named import names_topic, topics_named
from kafka_admin_proto.cli.output import printable, utc_text
from kafka_admin_proto.cli.times import Time, TimeOfDay, window
from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.errors import DumpError, UnknownMessageError
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.message_names import find_message

#: Values of each kind that are listed, and that are counted: names in a capture have no end.
_LISTED = 8
_MOST_VALUES = 1000


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The values that a frame must have to be shown; None stands for any value.

    ``since`` and ``until`` are microseconds since 1970, the first included; those of a
    `TimeOfDay` are known once the first frame is. ``topic`` is one that the body names, also by its
    id; ``slower_than_us`` is the least latency of a response.
    """

    api_keys: frozenset[int] | None = None
    client_id: str | None = None
    connection: str | None = None
    topic: str | None = None
    errors_only: bool = False
    slower_than_us: int | None = None
    since: Time | None = None
    until: Time | None = None

    def from_first(self, ts: int) -> Filter:
        """The same with the instants of its times of day, in an input that starts at ``ts``."""
        since, until = window(self.since, self.until, ts)
        return msgspec.structs.replace(self, since=since, until=until)

    def __call__(self, frame: DecodedFrame) -> bool:
        if self.api_keys is not None and frame.api_key not in self.api_keys:
            return False
        if self.client_id is not None and frame.client_id != self.client_id:
            return False
        if self.connection is not None and not self._is_connection(frame):
            return False
        if not self._is_in_time(frame.ts):
            return False
        if self.slower_than_us is not None and (
            frame.latency_us is None or frame.latency_us < self.slower_than_us
        ):
            return False
        if self.topic is not None and not names_topic(frame, self.topic):
            return False
        return not self.errors_only or frame.error is not None or bool(frame.error_codes())

    def _is_in_time(self, ts: int | None) -> bool:
        """Whether a time is in the window; without one there is no time of day's instant either."""
        if self.since is None and self.until is None:
            return True
        if ts is None or isinstance(self.since, TimeOfDay) or isinstance(self.until, TimeOfDay):
            return False
        return (self.since is None or ts >= self.since) and (self.until is None or ts < self.until)

    def _is_connection(self, frame: DecodedFrame) -> bool:
        return self._names_connection(
            frame.connection or "", frame.client or "", frame.server or ""
        )

    def _names_connection(self, name: str, client: str, server: str) -> bool:
        """Whether the filter names the connection, one of its ends, or the address of one."""
        ends = (client, server)
        return self.connection in (name, *ends, *(end.rpartition(":")[0] for end in ends))

    def of_rows(self, unseen: frozenset[int], others: OtherFrames | None) -> RowFilter | None:
        """The same for rows that the engine writes; None for what it does not look at."""
        since, until = self.since, self.until
        if isinstance(since, TimeOfDay) or isinstance(until, TimeOfDay):
            return None
        return RowFilter(
            api_keys=self.api_keys,
            client_id=self.client_id,
            connection=None if self.connection is None else self._names_connection,
            topic=self.topic,
            errors_only=self.errors_only,
            slower_than_us=self.slower_than_us,
            since=since,
            until=until,
            unseen=unseen,
            others=others,
        )


class WhatThereIs:
    """Collects, of the frames that do not match, the values that the given filters ask for."""

    def __init__(self, wanted: Filter) -> None:
        self._wanted = wanted
        #: How many frames there are: pieces without an api are none.
        self.count: int = 0
        given = {
            "apis": wanted.api_keys, "client ids": wanted.client_id,
            "connections": wanted.connection, "topics": wanted.topic,
        }  # fmt: skip
        self._values: dict[str, dict[str, int]] = {
            name: {} for name, value in given.items() if value is not None
        }
        self.apis: dict[str, int] | None = self._values.get("apis")
        self.client_ids: dict[str, int] | None = self._values.get("client ids")
        self.connections: dict[str, int] | None = self._values.get("connections")
        self._times: list[int] = []
        self._slowest_us: int | None = None

    def add(self, frame: DecodedFrame) -> None:
        """A frame that does not match; ``frame`` is as outputs may show it."""
        for name, counts in self._values.items():
            for value in _values(name, frame):
                if value in counts or len(counts) < _MOST_VALUES:
                    counts[value] = counts.get(value, 0) + 1
        self.add_all(1, [] if frame.ts is None else [frame.ts], frame.latency_us)

    def add_all(self, count: int, times: list[int], slowest_us: int | None) -> None:
        """So many frames whose values are counted."""
        self.count += count
        if times:
            known = [*self._times, *times]
            self._times = [min(known), max(known)]
        if slowest_us is not None:
            self._slowest_us = max(self._slowest_us or 0, slowest_us)

    def describe(self) -> str:
        """``0 of 294 frames match; client ids are …``, for each filter that was given."""
        wanted = self._wanted
        verb = "matches" if self.count == 1 else "match"
        parts = [f"0 of {with_commas(self.count, 'frames')} {verb}"]
        for name, counts in self._values.items():
            listed = sorted(counts, key=lambda value: -counts[value])[:_LISTED]
            more = ", …" if len(counts) > _LISTED else ""
            parts.append(f"{name} are {', '.join(listed)}{more}" if listed else f"no {name}")
        if wanted.since is not None or wanted.until is not None:
            times = [utc_text(each) for each in self._times]
            parts.append(f"times are {times[0]} to {times[1]}" if times else "no frame has a time")
        if wanted.slower_than_us is not None:
            slowest = self._slowest_us
            parts.append(
                "no response has a latency" if slowest is None
                else f"the slowest response took {slowest / 1000:.1f} ms"
            )  # fmt: skip
        return printable("; ".join(parts))


def _values(name: str, frame: DecodedFrame) -> list[str]:
    if name == "topics":
        return sorted(topics_named(frame))
    key = None if frame.api_key is None else f"key {frame.api_key}"
    found = {
        "apis": frame.api or key, "client ids": frame.client_id, "connections": frame.connection,
    }[name]  # fmt: skip
    return [] if found is None else [found]


class FilteredFrames:
    """Numbers the frames from 1, yields those that pass the filter, and counts their problems.

    ``mask`` hides secrets; see `DecodedFrame.shown`. ``with_requests``: the request of a response
    is in front of it, where the filter has not selected it itself.
    """

    def __init__(
        self,
        frames: Iterable[DecodedFrame],
        wanted: Filter,
        only: int | None,
        *,
        mask: bool,
        with_requests: bool = False,
        dialect: str = "kafka",
    ) -> None:
        self._frames = frames
        self._wanted = wanted
        self._only = only
        self._mask = mask
        self._with_requests = with_requests
        self._dialect = dialect
        #: The numbers of requests that were not shown, by the identity of their frames: a response
        #: keeps its request, so that no other frame can have that identity by then.
        self._numbers: dict[int, int] = {}
        #: What the frames are that do not match, as long as none has matched.
        self._others: WhatThereIs | None = None if wanted == Filter() else WhatThereIs(wanted)
        self.count: int = 0
        #: How the engine may choose among frames; None as long as it may not.
        self.row_filter: RowFilter | None = None
        self.problems: int = 0
        #: Apis asked for that no frame shown has.
        self._missing = set(wanted.api_keys or ())
        #: Gaps and other frames of which it is unknown whether the filter selects them.
        self._unplaced = 0
        #: Called before an input that may pause is waited for.
        self.on_wait: Callable[[], None] = _nothing
        self._choose(wanted)

    def __iter__(self) -> Iterator[tuple[int, DecodedFrame]]:
        only, mask, wanted = self._only, self._mask, self._wanted
        takes_all, is_first = wanted == Filter(), True
        for read in self._frames:
            self.count = count = self.count + 1
            if is_first and read.ts is not None:
                is_first, wanted = False, wanted.from_first(read.ts)
                self._choose(wanted)
            if self._with_requests and read.direction == "request":
                self._numbers[id(read)] = count
            if only is not None and only != count:
                continue
            frame = read.shown(mask=mask)
            error = frame.error
            is_fault = isinstance(error, DumpError)  # of the input, and no frame
            if takes_all or is_fault or wanted(frame):
                if error is not None:
                    self.problems += 1
                is_first_such = self._others is not None or frame.api_key in self._missing
                if is_first_such and not is_fault:
                    self._others = None
                    self._missing.discard(frame.api_key)
                    self._choose(wanted)
                yield from self._request_of(read)
                self._numbers.pop(id(read), None)
                yield count, frame
                continue
            if error is not None and frame.api_key is None:
                self._unplaced += 1
            elif self._others is not None:
                self._others.add(frame)

    def _choose(self, wanted: Filter) -> None:
        """Have the engine choose, unless only plain Python finds what there is instead: topics."""
        if self._others is None or wanted.topic is None:
            self.row_filter = wanted.of_rows(frozenset(self._missing), self._others)

    def _request_of(self, response: DecodedFrame) -> Iterator[tuple[int, DecodedFrame]]:
        number = self._numbers.pop(id(response.request), None)
        if response.request is not None and number is not None:
            yield number, response.request.shown(mask=self._mask)

    def finish(self, *, failed: bool | None = None) -> None:
        """Leave with the exit code, once all frames were taken: 1 with ``failed``.

        Without it, the exit code is 1 where a frame has a problem.

        Raises click.UsageError where there was no frame of the number asked for.
        """
        if self._only is not None and self.count < self._only:
            raise click.UsageError(
                f"there is no frame {self._only}; the input has {self.count}, and numbers "
                "count over all files given, in their order"
            )
        if not self.count and failed is None:
            click.echo("there are no frames: no packet of the capture has data", err=True)
        is_bare = self._unplaced == self.count and self._wanted.api_keys is not None
        if self._unplaced and is_bare:
            click.echo(
                "--api chooses among frames, and there is none whose api is known; if the input is "
                "a body without a header, say --unit body with --api and --version, if it is a "
                "response without its request, --response with them",
                err=True,
            )
            failed = True
        elif self._others is not None and self._others.count:
            click.echo(self._others.describe(), err=True)
        elif self._others is None and self._missing and self._only is None:
            apis = [api_name(key, self._dialect) or str(key) for key in sorted(self._missing)]
            click.echo(f"no frame that is shown is of {' or '.join(apis)}", err=True)
        if self._unplaced and not is_bare:
            click.echo(
                f"{with_commas(self._unplaced, 'pieces')} without an api left out of this "
                "choice of "
                "frames; kap decode without filters shows all",
                err=True,
            )
        sys.exit(self.problems > 0 if failed is None else failed)


def _nothing() -> None:
    pass


def api_keys(text: str, dialect: str) -> frozenset[int]:
    """The keys of apis given by name, in any case, or number: "CreateTopics,3"."""
    keys = set()
    for word in filter(None, (word.strip() for word in text.split(","))):
        if word.isdecimal():
            keys.add(int(word))
            continue
        try:
            message = find_message(word, dialect=dialect)
        except UnknownMessageError as error:
            raise click.UsageError(str(error)) from None
        entry = catalog().entry(*message)
        if entry.api_key is None or entry.type not in ("request", "response"):
            raise click.UsageError(f"{message[0]} is no request, nor the response to one")
        keys.add(entry.api_key)
    if not keys:
        raise click.UsageError("--api names no api")
    return frozenset(keys)

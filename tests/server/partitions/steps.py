"""Drawn steps of a log, done by ours and written as lines for Kafka's."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_admin_proto.records.batches.batches import read_batches, write_batch
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.model import COMPRESSIONS, Batch, Record
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.compaction import compact
from kafka_admin_proto.server.partitions.failures import RecordsRefused
from kafka_admin_proto.server.partitions.log import Appended, PartitionLog
from kafka_admin_proto.server.partitions.message_sets.down_conversion import DownConverter
from kafka_admin_proto.server.partitions.retention import apply_retention
from kafka_admin_proto.server.partitions.segments import FoundOffset, offsets_before
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.server.partitions.drawn_sets import SETS, message_set

START_MS = 1_700_000_000_000
_INT = (1 << 31) - 1
_LARGE = 1 << 20

_records = st.lists(
    st.tuples(
        st.sampled_from([*[0] * 12, *[-900] * 4, -5_000, 40, 3_600_001, -(1 << 62), None]),
        st.sampled_from([b"a", b"a", b"b", b"b", b"c", b"", None]),
        st.sampled_from([None, b"", b"1", b"22", bytes(40)]),
        st.sampled_from([(), (), (("h", b"1"), ("h", None))]),
    ),
    min_size=1,
    max_size=4,
)
_FAULTS = [
    "crc", "base_offset", "count", "delta", "negative_delta", "control", "log_append", "magic",
    "cut", "body", "unknown_compression", "twice", "gap", "unknown_bits", "no_count", "short",
]  # fmt: skip
_appends = st.fixed_dictionaries({
    "records": _records,
    "compression": st.sampled_from([*COMPRESSIONS, *["none"] * 5]),
    "producer": st.sampled_from([-1, -1, 1, 2, 3, -2]),
    "epoch": st.sampled_from([0, 0, 0, 0, 1, 2, -1]),
    "sequence": st.sampled_from(["next", "next", "next", "again", 0, 3, -1, _INT - 1]),
    "transactional": st.booleans(),
    "fault": st.sampled_from([*[None] * 50, *_FAULTS]),
    "at": st.integers(0, 400),
    "leader_epoch": st.integers(0, 4),
})  # fmt: skip
_offsets = st.integers(0, 25)
_ARGUMENTS: dict[str, tuple[int, st.SearchStrategy[Any]]] = {
    "append": (24, _appends),
    "now": (4, st.sampled_from([1, 100, 2_000, 10_000])),
    "marker": (
        4,
        st.tuples(
            st.sampled_from([1, 2, 3]), st.sampled_from([0, 0, 0, 1, 2]), st.booleans(),
            st.sampled_from([0, 0, 0, 1]), st.integers(0, 4), st.sampled_from([0, 1, 2]),
        ),
    ),
    "read": (
        6,
        st.tuples(
            _offsets, st.sampled_from([0, 100, 300, _LARGE]),
            st.sampled_from(["END", "HIGH", "COMMITTED"]),
        ),
    ),
    "high": (6, st.sampled_from([0, 1, 2, *[-1] * 6])),
    "time": (4, st.none() | st.integers(-6_000, 20_000)),
    "epoch-end": (2, st.integers(-1, 5)),
    "epoch": (1, st.integers(0, 5)),
    "aborted": (3, st.tuples(_offsets, _offsets)),
    "delete": (2, _offsets),
    "truncate": (1, st.integers(0, 8)),
    "retention": (2, st.none()),
    "expire": (1, st.none()),
}  # fmt: skip


def _steps(arguments: dict[str, tuple[int, st.SearchStrategy[Any]]]) -> st.SearchStrategy[Any]:
    names = [name for name, (weight, _) in arguments.items() for _ in range(weight)]
    step = st.sampled_from(names).flatmap(lambda name: st.tuples(st.just(name), arguments[name][1]))
    return st.lists(step, min_size=12, max_size=50)


_OPTIONAL = {
    "message.timestamp.type": st.sampled_from(["CreateTime", "LogAppendTime"]),
    "compression.type": st.sampled_from([*COMPRESSIONS[1:], "uncompressed", "producer"]),
    "cleanup.policy": st.sampled_from(["delete", "compact", "compact,delete"]),
    "max.message.bytes": st.sampled_from(["150", "1048588"]),
    "segment.bytes": st.sampled_from(["140", "300", "900"]),
    "segment.ms": st.sampled_from(["1000", "5000"]),
    "segment.index.bytes": st.sampled_from(["24", "40"]),
    "min.cleanable.dirty.ratio": st.just("0"),
    "min.compaction.lag.ms": st.just("2000"),
    "delete.retention.ms": st.sampled_from(["0", "2000"]),
    "retention.ms": st.sampled_from(["-1", "3000", "20000"]),
    "retention.bytes": st.sampled_from(["0", "400"]),
    "message.timestamp.before.max.ms": st.sampled_from(["1000", "100000"]),
    "message.timestamp.after.max.ms": st.sampled_from(["10", "100000"]),
}
_good_appends = st.fixed_dictionaries({
    "records": st.lists(
        st.tuples(
            st.sampled_from([0, -900]),
            st.sampled_from([b"a", b"b", b"c", b"d"]),
            st.sampled_from([None, b"", b"1", bytes(20)]),
            st.just(()),
        ),
        min_size=1,
        max_size=3,
    ),
    "compression": st.sampled_from(["none", "none", "gzip"]),
    "producer": st.sampled_from([-1, 1, 2]),
    "epoch": st.just(0),
    "sequence": st.just("next"),
    "transactional": st.sampled_from([True, False, False]),
    "fault": st.none(),
    "at": st.just(0),
    "leader_epoch": st.just(0),
})  # fmt: skip
#: Configs and steps of any log, and those of one that compaction has much to do with. These have no
#: small indexes: Kafka's cleaner fails with a full time index there ("size = 1"), and ours goes on.
ANY = st.tuples(st.fixed_dictionaries({}, optional=_OPTIONAL), _steps(_ARGUMENTS))
COMPACTED = st.tuples(
    st.fixed_dictionaries(
        {
            "cleanup.policy": st.sampled_from(["compact", "compact,delete"]),
            "segment.bytes": st.sampled_from(["160", "300", "500"]),
            "min.cleanable.dirty.ratio": st.sampled_from(["0", "0.3"]),
            "delete.retention.ms": st.sampled_from(["0", "2000", "86400000"]),
        },
        optional={
            name: _OPTIONAL[name]
            for name in ("message.timestamp.type", "retention.ms")
        }
        | {"min.compaction.lag.ms": st.just("2000")},
    ),
    _steps(
        {
            **{name: _ARGUMENTS[name] for name in ("now", "read", "time", "aborted", "truncate")},
            "append": (24, _good_appends),
            "marker": (
                6,
                st.tuples(
                    st.sampled_from([1, 2]), st.just(0), st.booleans(), st.just(0), st.just(0),
                    st.just(0),
                ),
            ),
            "high": (6, st.just(-1)),
            "compact": (8, st.none()),
            "expire": (1, st.none()),
            "retention": (1, st.none()),
        }
    ),
)  # fmt: skip


def usable(drawn: dict[str, str], release: str) -> dict[str, str]:
    """Configs that both logs can have: sizes decide nothing where each compresses by itself."""
    found = {"index.interval.bytes": "0", "segment.index.bytes": "100000", **drawn}
    if is_recompressed(found):
        for name in ("segment.bytes", "retention.bytes", "max.message.bytes"):
            found.pop(name, None)
    if release >= "4" and "segment.bytes" in found:
        found["internal.segment.bytes"] = found.pop("segment.bytes")
    return found


def is_recompressed(found: dict[str, str]) -> bool:
    """Whether batches may be compressed anew, which gives other bytes here than in Java."""
    return found.get("compression.type", "producer") not in ("producer", "uncompressed")


#: A log that old producers write to. What they compress, each side compresses anew.
OLD = st.tuples(
    st.fixed_dictionaries(
        {},
        optional={
            name: _OPTIONAL[name]
            for name in (
                "message.timestamp.type", "compression.type", "cleanup.policy",
                "message.timestamp.before.max.ms", "message.timestamp.after.max.ms",
            )
        },
    ),
    _steps(
        {name: _ARGUMENTS[name] for name in ("now", "append", "high", "time")}
        | {"append": (4, _appends), "set": (30, SETS)}
    ),
)  # fmt: skip


_plain_appends = st.fixed_dictionaries({
    "records": st.lists(
        st.tuples(
            st.sampled_from([0, -900, -(1 << 62), None]),
            st.sampled_from([b"a", None]),
            st.sampled_from([None, b"", b"1", bytes(40), bytes(3000)]),
            st.sampled_from([(), (("h", b"1"),)]),
        ),
        min_size=1,
        max_size=6,
    ),
    "compression": st.sampled_from([*["none"] * 6, *COMPRESSIONS]),
    "producer": st.sampled_from([-1, -1, 1]),
    "epoch": st.just(0),
    "sequence": st.just("next"),
    "transactional": st.booleans(),
    "fault": st.none(),
    "at": st.just(0),
    "leader_epoch": st.just(0),
})  # fmt: skip
#: A log that old consumers read.
READ_BY_OLD = st.tuples(
    st.fixed_dictionaries(
        {},
        optional={
            "message.timestamp.type": st.sampled_from(["CreateTime", "LogAppendTime"]),
            "segment.bytes": st.sampled_from(["300", "9000"]),
        },
    ),
    _steps({
        "now": _ARGUMENTS["now"],
        "append": (24, _plain_appends),
        "marker": (
            3,
            st.tuples(st.just(1), st.just(0), st.booleans(), st.just(0), st.just(0), st.just(0)),
        ),
        "old": (
            20,
            st.tuples(
                st.sampled_from([0, 1]), _offsets, st.sampled_from([0, 60, 100, 300, _LARGE])
            ),
        ),
        "before": (6, st.tuples(st.integers(-2, 3) | st.integers(0, 20_000), st.integers(0, 4))),
        "high": (6, st.sampled_from([0, 1, 2, *[-1] * 6])),
        "delete": _ARGUMENTS["delete"],
    }),
)  # fmt: skip


class Ours:
    """Our log, which gives a line for Kafka's and its own answer to each step."""

    def __init__(self, found: dict[str, str], release: str) -> None:
        settings = LogSettings.of(found, ReleaseNumber.parse(release))
        # As in the driver, a producer expires after a second.
        settings = replace(settings, producer_id_expiration_ms=1000)
        self.log = PartitionLog("t", 0, settings, now_ms=0)
        self.now = 0

    def do(self, name: str, argument: Any) -> tuple[str, str]:
        """The line for Kafka's log, and our answer."""
        words, act = getattr(self, "_" + name.replace("-", "_"))(argument)
        try:
            answer = "ok\t" + act()
        except RecordsRefused as refused:
            errors = "|".join(f"{index}={text}" for index, text in refused.record_errors)
            answer = f"err\t{refused.code}\t{refused.message}\t{errors}"
        except ApiFailure as refused:
            answer = f"err\t{refused.code}\t{refused.message}\t"
        line = "append" if name == "set" else name
        return "\t".join(map(str, (line, *words))), answer

    def everything(self) -> list[tuple[str, str]]:
        """Reads of each segment, whole."""
        starts = [max(each.base_offset, self.log.start_offset) for each in self.log.segments]
        return [self.do("read", (start, _LARGE, "END")) for start in starts]

    def state(self) -> str:
        log = self.log
        bases = " ".join(f"{each.base_offset}:{each.size_bytes}" for each in log.segments)
        epochs = " ".join(f"{epoch}:{start}" for epoch, start in log.epochs.entries)
        producers = " ".join(
            f"{each.producer_id}:{each.producer_epoch}:{each.last_sequence}:{each.last_timestamp}:"
            f"{each.coordinator_epoch}:{each.current_txn_start_offset}:{len(each.batches)}"
            for each in sorted(log.producers(), key=lambda each: each.producer_id)
        )
        places = (
            log.start_offset, log.end_offset, log.high_watermark, log.last_stable_offset,
            log.size_bytes,
        )  # fmt: skip
        return "ok\t" + "\t".join(map(str, (*places, bases, epochs, producers)))

    def _now(self, passed: int) -> Any:
        self.now = max(self.now, START_MS) + passed
        return (self.now,), lambda: ""

    def _append(self, drawn: dict[str, Any]) -> Any:
        data = self._batch(drawn)
        epoch = drawn["leader_epoch"]
        return (data.hex(), epoch), lambda: _appended(
            self.log.append(data, leader_epoch=epoch, now_ms=self.now)
        )

    def _set(self, drawn: dict[str, Any]) -> Any:
        data, epoch = message_set(drawn, max(self.now, START_MS)), drawn["leader_epoch"]
        words, act = (
            (data.hex(), epoch),
            lambda: _appended(self.log.append(data, leader_epoch=epoch, now_ms=self.now)),
        )
        return words, act

    def _marker(self, drawn: tuple[int, int, bool, int, int, int]) -> Any:
        producer, epoch, commit, coordinator, leader, version = drawn
        words = producer, epoch, int(commit), coordinator, leader, version
        return words, lambda: _appended(
            self.log.append_marker(
                producer, epoch, commit=commit, coordinator_epoch=coordinator,
                leader_epoch=leader, now_ms=self.now, transaction_version=version,
            )
        )  # fmt: skip

    def _read(self, drawn: tuple[int, int, str]) -> Any:
        offset, size, isolation = drawn
        ends = {
            "END": self.log.end_offset,
            "HIGH": self.log.high_watermark,
            "COMMITTED": self.log.last_stable_offset,
        }
        return drawn, lambda: self.log.read(offset, size, up_to=ends[isolation]).hex()

    def _old(self, drawn: tuple[int, int, int]) -> Any:
        magic, offset, size = drawn

        def act() -> str:
            up_to = self.log.end_offset
            found = self.log.batches(offset, _LARGE, up_to=up_to)
            if not found:
                return ""
            limit = max(size, found[0].size_bytes)
            size_bytes = min(limit, sum(each.size_bytes for each in found))
            data = self.log.read(offset, size, up_to=up_to)
            return DownConverter(magic).converted(data, size_bytes, offset).hex()

        return drawn, act

    def _before(self, drawn: tuple[int, int]) -> Any:
        since, most = drawn
        timestamp = START_MS + since if since >= 0 else since
        return (timestamp, most), lambda: " ".join(
            map(
                str,
                offsets_before(self.log.segments, self.log.start_offset, timestamp, most, self.now),
            )
        )

    def _end(self, place: int) -> int:
        """The end of a batch, which high watermarks and truncations are at; -1 is the last one."""
        batches = [each for segment in self.log.segments for each in segment.batches]
        ends = [each.last_offset + 1 for each in batches] or [0]
        return ends[min(place, len(ends) - 1)]

    def _high(self, place: int) -> Any:
        offset = self._end(place)

        def act() -> str:
            self.log.high_watermark = offset
            return str(self.log.high_watermark)

        return (offset,), act

    def _time(self, since: int | None) -> Any:
        if since is None:
            return (-3,), lambda: _found(self.log.offset_of_max_timestamp())
        timestamp = START_MS + since
        return (timestamp,), lambda: _found(
            self.log.offset_for_time(timestamp, up_to=self.log.end_offset)
        )

    def _epoch_end(self, epoch: int) -> Any:
        return (epoch,), lambda: "\t".join(map(str, self.log.end_of_epoch(epoch)))

    def _epoch(self, epoch: int) -> Any:
        return (epoch,), _silent(self.log.begin_epoch, epoch)

    def _aborted(self, drawn: tuple[int, int]) -> Any:
        first, end = max(drawn[0], self.log.start_offset), drawn[1]
        return (first, end), lambda: " ".join(
            f"{each.producer_id}:{each.first_offset}:{each.last_offset}:{each.last_stable_offset}"
            for each in self.log.aborted_transactions(first, end)
        )

    def _delete(self, offset: int) -> Any:
        if self.log.producers():
            # From within a batch, 4.3 puts the last stable offset of a transaction before it.
            offset = self._end(offset)
        return (offset,), _silent(self.log.delete_before, offset)

    def _truncate(self, place: int) -> Any:
        offset = self._end(place)
        return (offset,), _silent(self.log.truncate, offset, self.now)

    def _retention(self, _: None) -> Any:
        return (), _silent(apply_retention, self.log, self.now)

    def _expire(self, _: None) -> Any:
        return (), _silent(self.log.expire_producers, self.now)

    def _compact(self, _: None) -> Any:
        return (), _silent(compact, self.log, self.now)

    def _batch(self, drawn: dict[str, Any]) -> bytes:
        fault = drawn["fault"]
        records = [
            Record(index, -1 if since is None else max(self.now + since, 0), key, value, headers)
            for index, (since, key, value, headers) in enumerate(drawn["records"])
        ]
        if fault == "gap":
            records[-1].offset += 1
        # Of a damaged body that is compressed, each finds another fault first.
        compression: Any = "none" if fault == "body" else drawn["compression"]
        batch = Batch.of(records, compression=compression)
        if fault == "gap":
            batch.last_offset_delta -= 1
        if drawn["producer"] != -1:
            batch.producer_id, batch.producer_epoch = drawn["producer"], drawn["epoch"]
            batch.is_transactional = drawn["transactional"]
            batch.base_sequence = self._sequence(drawn, len(records))
        return _with_fault(bytearray(write_batch(batch)), fault, drawn["at"])

    def _sequence(self, drawn: dict[str, Any], count: int) -> int:
        wanted: int | str = drawn["sequence"]
        if isinstance(wanted, int):
            return wanted
        states = {each.producer_id: each for each in self.log.producers()}
        state = states.get(drawn["producer"])
        if state is None or state.producer_epoch != drawn["epoch"]:
            return 0
        last = state.last_sequence
        return (last + 1 if wanted == "next" else last - count + 1) & _INT


def _with_fault(data: bytearray, fault: str | None, at: int) -> bytes:
    """The batch with a fault, and otherwise a right checksum."""
    if fault in (None, "gap"):
        return bytes(data)
    if fault == "twice":
        return bytes(data + data)
    if fault == "short":
        return struct.pack(">qiib", 0, 3 + at % 20, 0, 2) + bytes(at % 20 + 3)
    if fault == "cut":
        return bytes(data[: at % len(data)])
    if fault == "magic":
        data[16] = 3 + at % 200
    elif fault == "base_offset":
        data[7] = 5
    elif fault == "count":
        data[60] += 1
    elif fault == "no_count":
        data[57:61] = struct.pack(">i", -(at % 2))
    elif fault == "delta":
        data[26] += 1
    elif fault == "negative_delta":
        data[23:27] = struct.pack(">i", -1 - at)
    elif fault == "body":
        data[61 + at % (len(data) - 61)] ^= 1 + at % 254
    else:
        data[22] |= {
            "control": 32, "log_append": 8, "unknown_compression": 7, "unknown_bits": 128,
        }.get(fault, 0)  # fmt: skip
    struct.pack_into(">I", data, 17, crc32c(data[21:]) ^ (fault == "crc"))
    return bytes(data)


def _silent(act: Callable[..., None], *arguments: Any) -> Callable[[], str]:
    """A step whose answer is empty."""

    def done() -> str:
        act(*arguments)
        return ""

    return done


def _appended(found: Appended) -> str:
    return (
        f"{found.base_offset}\t{found.last_offset}\t{found.log_append_time_ms}\t"
        f"{found.start_offset}"
    )


def _found(found: FoundOffset | None) -> str:
    return f"{found.offset}\t{found.timestamp}\t{found.leader_epoch}" if found else ""


def whole_batches(answer: str) -> str:
    """An answer to a read without a last batch that Kafka has cut short."""
    data = bytes.fromhex(answer.removeprefix("ok\t"))
    end = 0
    while end + 12 <= len(data):
        size = 12 + int.from_bytes(data[end + 8 : end + 12], "big")
        if end + size > len(data):
            break
        end += size
    return "ok\t" + data[:end].hex()


def contents(answer: str) -> list[Batch]:
    """The batches of an answer to a read, as values that do not depend on their compression."""
    batches = list(read_batches(bytes.fromhex(answer.removeprefix("ok\t"))))
    for batch in batches:
        batch.size = batch.offset_in_data = 0
    return batches

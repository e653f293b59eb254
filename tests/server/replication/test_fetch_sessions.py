"""Our fetch sessions beside Kafka's own FetchManager: the same partitions, rows, ids and codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages import FetchRequest, FetchResponse
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic, ForgottenTopic
from kafka_admin_proto.messages.fetch_response import EpochEndOffset, PartitionData
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.replication import fetch_sessions
from kafka_admin_proto.server.replication.fetch_sessions import FetchContext, FetchSessions, Key
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.helpers.profile import draws
from tests.helpers.release_tool import RELEASES, ReleaseTool

_NAMES = ("a", "b", "c")
_IDS = {name: UUID(int=number) for number, name in enumerate(_NAMES, 1)}
_NONE = UUID(int=0)
_MINUTE_MS = 60_000
_INT = (1 << 31) - 1

_partitions = st.tuples(st.sampled_from(_NAMES), st.integers(0, 2))
#: Rows: error, high watermark, log start, preferred replica, diverging epoch, bytes of records.
_ROWS = [
    *[(0, 0, 0, -1, -1, 0)] * 3, (0, 1, 0, -1, -1, 0), (0, 1, 1, -1, -1, 0), (0, 1, 1, -1, -1, 7),
    (0, 1, 0, -1, -1, 7), (3, -1, -1, -1, -1, 0), (103, -1, -1, -1, -1, 0), (0, 0, 0, 2, -1, 0),
    (0, 1, 1, -1, 0, 0),
]  # fmt: skip
_ANY = {
    #: A session by how many were used since, another number, or none.
    "session": st.sampled_from([*[0] * 6, 1, "none", "other"]),
    "other": st.sampled_from([1, -1, -_INT, _INT // 8 + 1, _INT - 3, _INT]),
    "epoch": st.sampled_from([*["next"] * 9, *[0] * 5, -1, 1, 7, -2]),
    "version": st.sampled_from([7, 12, 12, 13, 13, 13, 17]),
    "asked": st.lists(st.tuples(_partitions, st.integers(0, 9)), max_size=5),
    "forgotten": st.lists(_partitions, max_size=2),
    "follower": st.sampled_from([-1, -1, -1, 2]),
    "known": st.sets(st.sampled_from(_NAMES)).map(lambda found: found or set(_NAMES)),
    "after_ms": st.sampled_from([1, 1, 1, _MINUTE_MS, 2 * _MINUTE_MS, 2 * _MINUTE_MS + 1]),
    #: Whether the answer comes after that of the next request.
    "waits": st.sampled_from([False, False, False, True]),
    "rows": st.tuples(*[st.sampled_from(_ROWS)] * 9),
    "refused": st.sets(st.integers(0, 8), max_size=2),
}  # fmt: skip
#: Many sessions, which take each other's room.
_CROWDED = {
    **_ANY,
    "session": st.sampled_from([*["none"] * 16, *range(16)]),
    "epoch": st.just("next"),
    "version": st.just(12),
    "follower": st.sampled_from([-1, 2]),
    "after_ms": st.sampled_from([5_000, 10_000]),
    "waits": st.just(False),
    "rows": st.just(_ROWS[:9]),
    "refused": st.just(set()),
}


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request: pytest.FixtureRequest) -> Iterator[ReleaseTool]:
    tool = ReleaseTool("FetchSessions.java", request.param)
    yield tool
    tool.close()


class Pair:
    """Ours and Kafka's sessions, which get the same requests and the same rows."""

    def __init__(self, kafka: ReleaseTool, slots: int) -> None:
        self._kafka = kafka
        self._ours = FetchSessions(slots)
        self._opened = 0
        self._now_ms = 0
        #: The id of the next session of ours, which is that of Kafka's.
        self.ids: Iterator[int] = iter(())
        #: The ids and next epochs of sessions that were answered.
        self.sessions: list[tuple[int, int]] = []
        self._tell(f"new\t{slots}")

    def next_id(self, *_: int) -> int:
        return next(self.ids)

    def _tell(self, line: str) -> str:
        (answer,) = self._kafka.ask([line])
        kind, _, found = answer.partition("\t")
        return found if kind == "ok" else f"err {found}"

    def open(self, step: dict[str, Any]) -> Callable[[], None]:
        """Open a request; what answers it."""
        self._now_ms += step["after_ms"]
        self._tell(f"now\t{self._now_ms}")
        version = step["version"]
        request = self._request(step)
        names = ",".join(f"{topic_id_to_text(_IDS[each])}={each}" for each in sorted(step["known"]))
        theirs = self._tell(f"open\t{version}\t{names}\t{request.encode(version).hex()}")
        try:
            context = self._ours.context(
                request, version,
                of_follower=step["follower"] >= 0,
                name_of={_IDS[each]: each for each in step["known"]}.get,
                now_ms=self._now_ms,
            )  # fmt: skip
        except ApiFailure as failure:
            if theirs.startswith("err"):
                assert failure.code == -1
                return lambda: None
            number, self._opened = self._opened, self._opened + 1
            assert theirs == ""
            refused = FetchResponse(error_code=failure.code)
            return lambda: self._check(number, version, "", lambda _: refused)
        number, self._opened = self._opened, self._opened + 1
        ours = [
            f"{each.name or 'null'}|{_id(key)}|{key[1]}|{each.part.fetch_offset}"
            for key, each in context.partitions.items()
        ]
        assert " ".join(ours) == theirs
        return lambda: self._respond(number, version, context, step)

    def _request(self, step: dict[str, Any]) -> FetchRequest:
        by_ids = step["version"] >= 13
        session, epoch = 0, step["epoch"]
        if step["session"] == "other":
            session = step["other"]
        elif step["session"] != "none" and self.sessions:
            session = self.sessions[-1 - step["session"] % len(self.sessions)][0]
        if epoch == "next":
            epoch = dict(self.sessions).get(session, 0)
        request = FetchRequest(session_id=session, session_epoch=epoch)
        request.replica_id = step["follower"] if step["version"] < 15 else -1
        request.replica_state.replica_id = step["follower"] if step["version"] >= 15 else -1
        for (name, partition), offset in step["asked"]:
            topic = FetchTopic("", _IDS[name]) if by_ids else FetchTopic(name)
            topic.partitions = [FetchPartition(partition, fetch_offset=offset)]
            request.topics.append(topic)
        for name, partition in step["forgotten"]:
            forgotten = ForgottenTopic("", _IDS[name]) if by_ids else ForgottenTopic(name)
            forgotten.partitions = [partition]
            request.forgotten_topics_data.append(forgotten)
        return request

    def _respond(
        self, number: int, version: int, context: FetchContext, step: dict[str, Any]
    ) -> None:
        rows: dict[Key, PartitionData] = {}
        columns = []
        keys = list(enumerate(context.partitions))
        keys.sort(key=lambda each: each[0] in step["refused"])
        for (_, key), row in zip(keys, step["rows"], strict=False):
            error, high, start, preferred, diverging, size = row
            if version < 12:  # which has neither
                preferred = diverging = -1
            rows[key] = PartitionData(
                key[1], error, high, log_start_offset=start, preferred_read_replica=preferred,
                diverging_epoch=EpochEndOffset(diverging), records=bytes(size),
            )  # fmt: skip
            name = context.partitions[key].name or "null"
            columns.append("|".join(map(str, [name, _id(key), key[1], error, high, start,
                                               preferred, diverging, size])))  # fmt: skip

        def respond(theirs: FetchResponse) -> FetchResponse:
            self.ids = iter([theirs.session_id])
            return context.response(rows, self._now_ms)

        self._check(number, version, " ".join(columns), respond)

    def _check(
        self, number: int, version: int, rows: str, ours: Callable[[FetchResponse], FetchResponse]
    ) -> None:
        hexed = self._tell(f"respond\t{number}\t{version}\t{rows}")
        theirs = FetchResponse.decode(bytes.fromhex(hexed), version)
        assert FetchResponse.decode(ours(theirs).encode(version), version) == theirs
        if not theirs.session_id or theirs.error_code:
            return
        known = [each for each in self.sessions if each[0] == theirs.session_id]
        for each in known:
            self.sessions.remove(each)
        self.sessions.append((theirs.session_id, known[0][1] + 1 if known else 1))


def _id(key: Key) -> str:
    return topic_id_to_text(key[0] if isinstance(key[0], UUID) else _NONE)


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        pytest.param(_ANY, 30, id="any"),
        pytest.param(_CROWDED, 60, id="crowded", marks=pytest.mark.explore),
    ],
)
@settings(max_examples=draws(56), deadline=None)
@given(data=st.data())
@pytest.mark.exhaustive
def test_as_kafka(kafka: ReleaseTool, kind: Any, most: int, data: st.DataObject) -> None:
    slots = data.draw(st.sampled_from([0, 7, 8, 8, 17]))
    steps = data.draw(st.lists(st.fixed_dictionaries(kind), min_size=most // 2, max_size=most))
    pair = Pair(kafka, slots)
    waiting: list[Callable[[], None]] = []
    with mock.patch.object(fetch_sessions, "randrange", pair.next_id):
        for step in steps:
            waiting.append(pair.open(step))
            if not step["waits"]:
                for answer in reversed(waiting):
                    answer()
                waiting.clear()

"""Members of a share group that know what was acknowledged when their server is killed."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import share_acknowledge_request, share_fetch_request
from tests.server.kills.clients import PATIENCE_S, SHARE_GROUP, KilledClient

_ACCEPT, _RELEASE, _REJECT = 1, 2, 3


class ShareMember(KilledClient):
    """A member of a share group that acknowledges records of a partition which it produces."""

    kind = group = SHARE_GROUP

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.done: set[int] = set()
        self.pending: set[int] = set()
        self.produced = 0
        self._released: set[int] = set()
        self._session = 0
        self._topic_id: UUID | None = None

    def check(self) -> None:
        """All that is not done with is delivered; what was being acknowledged may be."""
        self._join()
        deadline = time.monotonic() + PATIENCE_S
        missing = set(range(self.produced)) - self.done - self.pending
        while missing:
            missing.difference_update(self._acquire())
            assert time.monotonic() < deadline, (self.name, self.turn, missing)
        if self._session:
            self._session = -1
            self._acquire()  # it ends the session: what was acquired is there for the next one

    def step(self) -> None:
        if not self.joined:
            self._join()
            self.joined = True
        appended = self.produce("shared", self.number, [b"v"] * 3)
        assert appended.error_code == 0, appended
        self.produced = appended.base_offset + 3
        for offset in self._acquire():
            # A record that is released again and again would be archived.
            kinds = (_ACCEPT, _REJECT) if offset in self._released else (_ACCEPT, _RELEASE, _REJECT)
            self._acknowledge(offset, self.draw.choice(kinds))

    def _join(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        self._session, epoch = 0, 0
        while True:
            found = self.ask(
                m.ShareGroupHeartbeatRequest(
                    self.group, self.name, epoch, subscribed_topic_names=["shared"]
                ),
                1, lambda each: each.error_code,
            )  # fmt: skip
            assert found.error_code == 0, found
            epoch = found.member_epoch
            if found.assignment is not None and found.assignment.topic_partitions:
                (self._topic_id,) = [each.topic_id for each in found.assignment.topic_partitions]
                return
            assert time.monotonic() < deadline, found
            time.sleep(0.02)

    def _acquire(self) -> list[int]:
        assert self._topic_id is not None
        ask = share_fetch_request
        topics = [ask.FetchTopic(self._topic_id, [ask.FetchPartition(self.number)])]
        request = m.ShareFetchRequest(
            self.group, self.name, self._session, max_wait_ms=0, min_bytes=0, max_bytes=1 << 20,
            max_records=500, batch_size=500, topics=topics if self._session >= 0 else [],
        )  # fmt: skip
        answer = self.ask(request, 1, _share_code, self.number)
        assert answer.error_code == 0, answer
        if self._session >= 0:
            self._session += 1
        found: list[int] = []
        for row in (row for each in answer.responses for row in each.partitions):
            for each in row.acquired_records:
                found += range(each.first_offset, each.last_offset + 1)
        assert self.done.isdisjoint(found), (self.name, self.turn, self.done & set(found))
        return found

    def _acknowledge(self, offset: int, how: int) -> None:
        assert self._topic_id is not None
        ask = share_acknowledge_request
        rows = [ask.AcknowledgementBatch(offset, offset, [how])]
        part = ask.AcknowledgePartition(self.number, rows)
        (self._released if how == _RELEASE else self.pending).add(offset)
        request = m.ShareAcknowledgeRequest(
            self.group,
            self.name,
            self._session,
            topics=[ask.AcknowledgeTopic(self._topic_id, [part])],
        )
        answer = self.ask(request, 1, _share_code, self.number)
        assert (answer.error_code, _share_code(answer)) == (0, 0), answer
        self._session += 1
        if how != _RELEASE:
            self.done.add(offset)


def _share_code(answer: Any) -> int:
    """The error of the partition in an answer of a share group, 0 where it is not named."""
    rows = [row for each in answer.responses for row in each.partitions]
    code: int = rows[0].error_code if rows else answer.error_code
    return code

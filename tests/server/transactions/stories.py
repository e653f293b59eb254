"""Drawn stories of transactional producers, told to two clusters at once.

``python -m tests.server.transactions.stories 4.4.0 SEED STEPS`` tells one beside a real broker.
Ids of producers are replaced by their order of appearance.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.add_partitions_to_txn_request import AddPartitionsToTxnTopic
from kafka_admin_proto.messages.offset_fetch_request import OffsetFetchRequestTopic
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.releases import release as release_facts
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message
from tests.server.groups.stories import CONFIGS, Side, both

TRANSACTIONS = {
    **CONFIGS,
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "3",
}
_PATIENCE_S = 30.0
#: Longer than a story takes.
_TIMEOUT_MS = 600_000
_GROUP = "g"
_NAMES, _TOPICS = ("t0", "t1"), ("orders", "bills")
_BUSY = (
    codes.CONCURRENT_TRANSACTIONS, codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR,
    codes.COORDINATOR_LOAD_IN_PROGRESS, codes.NOT_ENOUGH_REPLICAS,
)  # fmt: skip
#: The time of records: those of 1970 are gone when a real broker has looked for old ones, which it
#: does every five minutes.
_NOW_MS = int(time.time() * 1000)
#: Of TxnOffsetCommit.
_WITH_TOPIC_IDS = 6
#: A moment, but not -1.
_STARTED = re.compile(r"start_time_ms': [0-9]+")


class TransactionSide(Side):
    """A cluster, and the newest id and epoch of each producer there."""

    def prepare(self) -> None:
        super().prepare()
        self.producers = {each: (-1, -1) for each in _NAMES}
        self.ids: list[int] = []
        for each in _NAMES:
            deadline = time.monotonic() + _PATIENCE_S
            while self.ask(m.FindCoordinatorRequest(each, 1), 3).error_code in _BUSY:
                assert time.monotonic() < deadline, "no coordinator"
                time.sleep(0.1)
            self.settled(m.InitProducerIdRequest(each, _TIMEOUT_MS), 4)

    def settled(self, request: Message, version: int) -> Any:
        """The response once no transaction is being ended any more."""
        deadline = time.monotonic() + _PATIENCE_S
        while _is_busy(response := self.ask(request, version)) and time.monotonic() < deadline:
            time.sleep(0.05)
        if isinstance(request, m.EndTxnRequest):
            # What comes before the markers are written depends on time.
            self.settled(m.DescribeTransactionsRequest([request.transactional_id]), 0)
        found = getattr(response, "producer_id", -1)
        if found >= 0:
            name = request.transactional_id  # type: ignore[attr-defined]
            self.producers[name] = found, response.producer_epoch
        return response

    def shown(self, response: Any) -> str:
        """A response as a text that is equal on both sides."""
        text = _STARTED.sub("start_time_ms': ?", self.seen("admin", response))
        for each in self.producers.values():
            if each[0] >= 0 and each[0] not in self.ids:
                self.ids.append(each[0])
        for index, each_id in enumerate(self.ids):
            text = text.replace(f"'producer_id': {each_id},", f"'producer_id': <{index}>,")
        return text


def _is_busy(response: Message) -> bool:
    """Whether it says that a transaction is being ended, or a coordinator is not ready."""
    text = repr(response)
    return "'Prepare" in text or any(re.search(rf"error_code={each}\b", text) for each in _BUSY)


class Story:
    """Steps drawn by a seed, of which each side makes requests with its own ids."""

    def __init__(self, seed: int, release: str, steps: int) -> None:
        self._random = Random(seed)
        self._facts = release_facts(release)
        self._steps = steps

    def tell(self, left: TransactionSide, right: TransactionSide) -> Iterator[tuple[str, ...]]:
        """(step, the left side's answer, the right side's)."""
        for number in range(self._steps):
            make, version = self._step()
            step = f"{number}: v{version} {make(left)}"
            yield step, *(each.shown(each.settled(make(each), version)) for each in (left, right))

    def _version(self, key: int, lowest: int) -> int:
        known = self._facts.versions_of(key)
        return self._random.randint(max(lowest, known.lowest), known.highest)

    def _step(self) -> tuple[Callable[[TransactionSide], Message], int]:
        random = self._random
        name, topic, number = random.choice(_NAMES), random.choice(_TOPICS), random.randrange(2)
        shift = random.choice((0,) * 12 + (1, -1))
        kind = random.choice(
            ("add", "add", "write", "write", "end", "end", "init", "offsets", "commit_offsets",
             "describe", "list", "fetch")
        )  # fmt: skip
        if kind == "commit_offsets":
            # 3.9 takes a newer epoch's amid a transaction, whose markers then fail for ever.
            shift = min(shift, 0)

        def who(side: TransactionSide) -> tuple[int, int]:
            producer_id, epoch = side.producers[name]
            return producer_id, max(epoch + shift, -1) if epoch >= 0 else epoch

        if kind == "init":
            known = random.random() < 0.5
            timeout_ms = random.choice((_TIMEOUT_MS,) * 6 + (0, 10**6))
            return (
                lambda side: m.InitProducerIdRequest(
                    name, timeout_ms, *(who(side) if known else (-1, -1))
                ),
                self._version(22, 3),
            )
        if kind == "add":
            rows = [AddPartitionsToTxnTopic(topic, [number])]
            if random.random() < 0.1:
                rows.append(AddPartitionsToTxnTopic("missing", [0]))
            return (
                lambda side: m.AddPartitionsToTxnRequest([], name, *who(side), rows),
                random.randint(0, 3),
            )
        if kind == "offsets":
            return lambda side: m.AddOffsetsToTxnRequest(name, *who(side), _GROUP), self._version(
                25, 0
            )
        if kind == "commit_offsets":
            part = TxnOffsetCommitRequestPartition(number, random.randrange(9))
            version = self._version(28, 0)

            def committed(side: TransactionSide) -> Message:
                topic_id = side.topic_ids[topic] if version >= _WITH_TOPIC_IDS else ZERO_TOPIC_ID
                asked = [TxnOffsetCommitRequestTopic(topic, topic_id, [part])]
                return m.TxnOffsetCommitRequest(name, _GROUP, *who(side), topics=asked)

            return committed, version
        if kind == "end":
            commit = random.random() < 0.6
            return lambda side: m.EndTxnRequest(name, *who(side), commit), self._version(26, 0)
        if kind == "write":
            return lambda side: _written(name, topic, number, who(side)), min(
                12, self._version(0, 8)
            )
        if kind == "describe":
            return lambda _: m.DescribeTransactionsRequest([name, "missing"]), 0
        if kind == "list":
            states = random.choice(([], ["Ongoing"], ["Empty", "odd"]))
            return lambda _: m.ListTransactionsRequest(states), self._version(66, 0)
        asked_of = OffsetFetchRequestTopic(topic, [0, 1])
        return lambda _: m.OffsetFetchRequest(_GROUP, [asked_of], require_stable=True), 7


def _written(name: str, topic: str, number: int, producer: tuple[int, int]) -> Message:
    """A batch that begins an epoch, which a second one of the epoch repeats."""
    batch = Batch.of([Record(0, _NOW_MS, None, b"v")])
    batch.is_transactional, batch.base_sequence = True, 0
    batch.producer_id, batch.producer_epoch = producer
    data = [PartitionProduceData(number, write_batch(batch))]
    return m.ProduceRequest(name, -1, 10_000, [TopicProduceData(topic, partition_data=data)])


def differences(seed: int, release: str, steps: int, left: str, right: str) -> list[str]:
    """What two clusters (host:port) answer otherwise in a story; the first one is named first."""
    sides = TransactionSide(left), TransactionSide(right)
    try:
        for each in sides:
            each.prepare()
        told = Story(seed, release, steps).tell(*sides)
        return [f"{step}\n  {one}\n  {other}" for step, one, other in told if one != other]
    finally:
        for each in sides:
            each.close()


if __name__ == "__main__":
    release, seed, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with both(release, TRANSACTIONS) as (real, ours):
        found = differences(seed, release.rpartition(".")[0], steps, real, ours)
    print("\n".join(found) or "no difference")
    sys.exit(bool(found))

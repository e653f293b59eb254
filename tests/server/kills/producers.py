"""Transactional producers that know what was acknowledged when their server is killed."""

from __future__ import annotations

import time
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import (
    add_partitions_to_txn_request,
    fetch_request,
    txn_offset_commit_request,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, read_batches
from tests.server.kills.clients import PATIENCE_S, KilledClient

#: Transactions that nobody ends are over soon.
_TRANSACTION_MS = 400


class TransactionalProducer(KilledClient):
    """Transactions on both partitions of a topic and an offset; number 1 speaks version 2 of it."""

    kind = "producer"

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.topic, self.group = f"out{number}", f"{self.name}-group"
        self.begun = 0
        self.committed_ones: list[int] = []
        #: The transaction whose EndTxn(commit) was not answered.
        self.pending: int | None = None
        self._producer = Batch.of([])
        self._sequences = [0, 0]

    def check(self) -> None:
        expected = [self.committed_ones]
        if self.pending is not None:
            expected.append([*self.committed_ones, self.pending])
        found = [self._stable_values(number) for number in range(2)]
        wanted = [
            [b"%d-%d" % (each, place) for each in numbers for place in range(2)]
            for numbers in expected
        ]
        assert found[0] == found[1], (self.name, self.turn)
        assert found[0] in wanted, (self.name, self.turn)
        self.committed_ones = expected[wanted.index(found[0])]
        self.pending = None
        offset = self.committed(self.group, 0)
        assert offset == (self.committed_ones or [-1])[-1], (self.name, self.turn)

    def step(self) -> None:
        if not self.joined:
            self._init()
            self.joined = True
            return
        self.begun += 1
        number, is_new = self.begun, self.number == 1
        if not is_new:
            self._add()
        for partition in range(2):
            for place in range(2):
                self._producer.base_sequence = self._sequences[partition]
                appended = self.produce(
                    self.topic, partition, [b"%d-%d" % (number, place)], self._producer,
                    self.name, 12 if is_new else 9,
                )  # fmt: skip
                if self._failed(appended.error_code):
                    return
                self._sequences[partition] += 1
        if self._commit_offset(number, is_new) and self.draw.random() < 0.9:
            self._end(number, commit=self.draw.random() < 0.6, version=5 if is_new else 3)
        else:
            self.joined = False  # InitProducerId aborts it, or its timeout

    def _init(self) -> None:
        while True:
            found = self.ask(
                m.InitProducerIdRequest(self.name, _TRANSACTION_MS), 4,
                lambda each: each.error_code,
            )  # fmt: skip
            if found.error_code != codes.CONCURRENT_TRANSACTIONS:
                break
            time.sleep(0.01)
        assert found.error_code == 0, found
        self._producer.producer_id = found.producer_id
        self._producer.producer_epoch = found.producer_epoch
        self._sequences = [0, 0]

    def _who(self) -> tuple[int, int]:
        return self._producer.producer_id, self._producer.producer_epoch

    def _failed(self, code: int) -> bool:
        """Whether the producer was fenced, since its transaction was open for too long."""
        fenced = (
            codes.INVALID_PRODUCER_EPOCH, codes.PRODUCER_FENCED, codes.INVALID_TXN_STATE,
            codes.CONCURRENT_TRANSACTIONS,
        )  # fmt: skip
        assert code in (0, *fenced), (self.name, code)
        self.joined = code == 0
        return not self.joined

    def _add(self) -> None:
        rows = [add_partitions_to_txn_request.AddPartitionsToTxnTopic(self.topic, [0, 1])]
        request = m.AddPartitionsToTxnRequest([], self.name, *self._who(), rows)
        offsets = m.AddOffsetsToTxnRequest(self.name, *self._who(), self.group)
        while True:
            found = self.ask(
                request, 3,
                lambda each: (
                    each.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
                ),
            )  # fmt: skip
            rows_of = found.results_by_topic_v3_and_below[0].results_by_partition
            codes_of = {each.partition_error_code for each in rows_of}
            if codes_of != {codes.CONCURRENT_TRANSACTIONS}:
                break
            time.sleep(0.002)
        self.ask(offsets, 3, lambda each: each.error_code)

    def _commit_offset(self, number: int, is_new: bool) -> bool:
        ask = txn_offset_commit_request
        rows = [ask.TxnOffsetCommitRequestPartition(0, number)]
        answer = self.ask(
            m.TxnOffsetCommitRequest(
                self.name, self.group, *self._who(),
                topics=[ask.TxnOffsetCommitRequestTopic("in", partitions=rows)],
            ),
            5 if is_new else 3, lambda each: each.topics[0].partitions[0].error_code,
        )  # fmt: skip
        return not self._failed(answer.topics[0].partitions[0].error_code)

    def _end(self, number: int, *, commit: bool, version: int) -> None:
        if commit:
            self.pending = number
        answer = self.ask(
            m.EndTxnRequest(self.name, *self._who(), commit), version,
            lambda each: each.error_code,
        )  # fmt: skip
        self.pending = None
        if not self._failed(answer.error_code):
            if commit:
                self.committed_ones = [*self.committed_ones, number]
            if version == 5:
                self._producer.producer_id = answer.producer_id
                self._producer.producer_epoch = answer.producer_epoch
                self._sequences = [0, 0]

    def _stable_values(self, partition: int) -> list[bytes]:
        """The values that read_committed sees once no transaction is open."""
        deadline = time.monotonic() + PATIENCE_S
        offset, found = 0, list[bytes]()
        while True:
            row = self._fetched(partition, offset)
            if row.last_stable_offset < row.high_watermark:
                assert time.monotonic() < deadline, f"{self.topic}-{partition}: a transaction hangs"
                time.sleep(0.02)
            elif offset == row.high_watermark:
                return found
            else:
                values, offset = _committed_values(row)
                found += values

    def _fetched(self, partition: int, offset: int) -> Any:
        rows = [fetch_request.FetchPartition(partition, fetch_offset=offset)]
        rows[0].partition_max_bytes = 1 << 20
        request = m.FetchRequest(
            max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, isolation_level=1,
            topics=[fetch_request.FetchTopic(self.topic, partitions=rows)],
        )  # fmt: skip
        answer = self.ask(
            request, 11, lambda each: each.responses[0].partitions[0].error_code, partition
        )
        (row,) = answer.responses[0].partitions
        assert row.error_code == 0, row
        return row


def _committed_values(row: Any) -> tuple[list[bytes], int]:
    """Values that were fetched, without those of aborted transactions, and the next offset.

    As in a consumer, a transaction of the fetched records is aborted up to its producer's marker.
    """
    starting = sorted(
        (each.first_offset, each.producer_id) for each in row.aborted_transactions or []
    )
    aborted, found, end = set[int](), list[bytes](), -1
    for batch in read_batches(row.records or b""):
        while starting and starting[0][0] <= batch.last_offset:
            aborted.add(starting.pop(0)[1])
        if batch.is_control:
            aborted.discard(batch.producer_id)
        elif batch.producer_id not in aborted:
            found += [each.value or b"" for each in batch.records]
        end = batch.last_offset + 1
    return found, end

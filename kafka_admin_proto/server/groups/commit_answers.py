"""What requests about a group's offsets share: their topics, and the answer to commits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import UUID

from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_admin_proto.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.committers import Commit, Committer
from kafka_admin_proto.server.groups.offsets import commit
from kafka_admin_proto.server.groups.records import CommittedOffset
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.replication.leaders import topic_of
from kafka_admin_proto.server.security.authorizer.access import allows
from kafka_admin_proto.server.security.authorizer.rules import READ, TOPIC
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message

_Request = OffsetCommitRequest | TxnOffsetCommitRequest
_Response = OffsetCommitResponse | TxnOffsetCommitResponse
_RequestRow = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition
_Row = OffsetCommitResponsePartition | TxnOffsetCommitResponsePartition


class _TopicRow(Protocol):
    """A topic of a request, by its name or, since topic ids, by its id."""

    name: str
    topic_id: UUID


_AnyTopicRow = TypeVar("_AnyTopicRow", bound=_TopicRow)


class AskedTopic(NamedTuple):
    """A topic that a request asks for: its name, the topic if it exists, and an error code or 0."""

    name: str
    known: Topic | None
    error_code: int


def asked_topics(
    state: View,
    caller: Caller,
    operation: int,
    rows: Sequence[_AnyTopicRow],
    *,
    ids_since: int,
) -> list[tuple[_AnyTopicRow, AskedTopic]]:
    """The rows of a request with their topics, on which the caller needs an operation.

    ``ids_since`` is the first version with topic ids: from then on a topic that is not there is an
    error before that of a missing right.
    """
    asked = []
    for row in rows:
        topic = topic_of(state, row.name, row.topic_id)
        name = row.name if topic is None else topic.name
        code = 0
        if topic is None and caller.version >= ids_since:
            code = codes.UNKNOWN_TOPIC_ID
        elif not allows(state, caller, operation, TOPIC, name):
            code = codes.TOPIC_AUTHORIZATION_FAILED
        asked.append((row, AskedTopic(name, topic, code)))
    return asked


def read_commits(
    state: View,
    caller: Caller,
    request: _Request,
    response: _Response,
    *,
    ids_since: int,
    retention_ms: int = -1,
) -> list[tuple[Commit, _Row]]:
    """The commits of topics that the caller may read, with their rows.

    Every partition gets its row in the response, with an error where its offset is not stored. As
    in Kafka the rows with such an error come first, and one topic has all of its rows then.
    ``retention_ms`` is for how long offsets are kept, -1 for as long as the broker's configs say.
    """
    of_topic: type[Any] = OffsetCommitResponseTopic
    of_partition: type[_Row] = OffsetCommitResponsePartition
    if isinstance(response, TxnOffsetCommitResponse):
        of_topic, of_partition = TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition
    now_ms = state.controller_state.clock.now_ms()
    expires_ms = None if retention_ms < 0 else now_ms + retention_ms
    commits: list[tuple[Commit, _Row]] = []
    refused: dict[tuple[str, UUID], list[_Row]] = {}
    taken: list[tuple[tuple[str, UUID], list[_Row]]] = []
    topics: Sequence[OffsetCommitRequestTopic | TxnOffsetCommitRequestTopic] = request.topics
    for asked, topic in asked_topics(state, caller, READ, topics, ids_since=ids_since):
        key = (asked.name, asked.topic_id)
        numbers: Collection[int] = topic.known.partitions if topic.known is not None else ()
        if topic.error_code or topic.known is None:
            refused.setdefault(key, [])
        rows: list[_Row] = []
        parts: Sequence[_RequestRow] = asked.partitions
        for part in parts:
            row = of_partition(part.partition_index, topic.error_code)
            if topic.known is None or row.error_code or part.partition_index not in numbers:
                row.error_code = row.error_code or codes.UNKNOWN_TOPIC_OR_PARTITION
                refused.setdefault(key, []).append(row)
                continue
            committed = CommittedOffset(
                part.committed_offset,
                part.committed_leader_epoch,
                part.committed_metadata or "",
                now_ms,
                expires_ms,
                topic.known.id if state.release >= (4,) else ZERO_TOPIC_ID,
            )
            rows.append(row)
            commits.append((Commit(topic.name, part.partition_index, committed), row))
        if rows:
            taken.append((key, rows))
    if refused:
        for key, rows in taken:
            refused.setdefault(key, []).extend(rows)
        taken = list(refused.items())
    response.topics = [of_topic(*key, rows) for key, rows in taken]
    return commits


def answer_commits(
    request: _Request,
    version: int,
    shard_of: Callable[[], Shard],
    commits: Sequence[tuple[Commit, _Row]],
    response: _Response,
    producer: tuple[int, int] | None = None,
) -> Answer:
    """Append the commits of a request, each of which has its row in the response.

    ``shard_of`` gives the shard of the group, or raises ApiFailure, which all rows get then.
    """
    if not commits:
        return Answer(response)

    def marked(code: int) -> Message:
        for _, row in commits if code else ():
            row.error_code = code
        return response

    committer = Committer(
        request.generation_id_or_member_epoch, request.member_id, request.group_instance_id, version
    )
    try:
        shard = shard_of()
        reply = shard.reply(marked)
        fits = commit(
            shard, request.group_id, committer, [each for each, _ in commits],
            lambda code: reply.send(marked(code)), producer,
        )  # fmt: skip
    except ApiFailure as failure:
        return Answer(marked(failure.code))
    for (_, row), short in zip(commits, fits, strict=True):
        if not short:
            row.error_code = row.error_code or codes.OFFSET_METADATA_TOO_LARGE
    return answer_of(reply, response)

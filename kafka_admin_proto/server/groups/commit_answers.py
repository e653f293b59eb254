"""The answer to requests that commit offsets: OffsetCommit and TxnOffsetCommit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_admin_proto.messages.offset_commit_request import OffsetCommitRequest
from kafka_admin_proto.messages.offset_commit_response import OffsetCommitResponsePartition
from kafka_admin_proto.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from kafka_admin_proto.messages.txn_offset_commit_response import TxnOffsetCommitResponsePartition
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.committers import Commit, Committer
from kafka_admin_proto.server.groups.offsets import commit
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.values import Message


def answer_commits(
    request: OffsetCommitRequest | TxnOffsetCommitRequest,
    version: int,
    shard_of: Callable[[], Shard],
    commits: Sequence[Commit],
    rows: Sequence[OffsetCommitResponsePartition | TxnOffsetCommitResponsePartition],
    response: Message,
    producer: tuple[int, int] | None = None,
) -> Answer:
    """Append the commits of a request, each of which has its row in the response.

    ``shard_of`` gives the shard of the group, or raises ApiFailure, which all rows get then.
    """

    def marked(code: int) -> Message:
        for row in rows if code else ():
            row.error_code = code
        return response

    committer = Committer(
        request.generation_id_or_member_epoch, request.member_id, request.group_instance_id, version
    )
    try:
        shard = shard_of()
        reply = shard.reply(marked)
        fits = commit(
            shard, request.group_id, committer, commits,
            lambda code: reply.send(marked(code)), producer,
        )  # fmt: skip
    except ApiFailure as failure:
        return Answer(marked(failure.code))
    for row, short in zip(rows, fits, strict=True):
        if not short:
            row.error_code = row.error_code or codes.OFFSET_METADATA_TOO_LARGE
    return answer_of(reply, response)

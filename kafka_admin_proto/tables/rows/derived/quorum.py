"""Make rows of the table ``quorum_events`` from the requests of a quorum's elections."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from kafka_admin_proto.tables.rows.calls import Call, Json, error_of, items, number, text
from kafka_admin_proto.tables.rows.derived_table import ORIGIN, TEXT, DerivedTable

QUORUM_APIS = ("Vote", "BeginQuorumEpoch", "EndQuorumEpoch")


def quorum_rows(call: Call) -> Iterator[Json]:
    """The columns of ``quorum_events`` from a call's bodies, one row for each partition."""
    request = call.request["body"]
    if not isinstance(request, dict):
        return
    response = None if call.response is None else call.response["body"]
    if not isinstance(response, dict):
        response = {}
    answers = {
        (text(topic.get("topicName")), number(partition.get("partitionIndex"))): partition
        for topic in items(response, "topics")
        for partition in items(topic, "partitions")
    }
    vote = call.request["api"] == "Vote"
    for topic in items(request, "topics"):
        name = text(topic.get("topicName"))
        for partition in items(topic, "partitions"):
            index = number(partition.get("partitionIndex"))
            answer = answers.get((name, index), {})
            granted, pre_vote = answer.get("voteGranted"), partition.get("preVote", False)
            yield {
                "topic": name,
                "partition": index,
                "replica_id": number(partition.get("replicaId" if vote else "leaderId")),
                "epoch": number(partition.get("replicaEpoch" if vote else "leaderEpoch")),
                "pre_vote": pre_vote if vote and isinstance(pre_vote, bool) else None,
                "answered": call.response is not None,
                "granted": granted if isinstance(granted, bool) else None,
                "leader_id": number(answer.get("leaderId")),
                "leader_epoch": number(answer.get("leaderEpoch")),
                "error": error_of(response.get("errorCode"), answer.get("errorCode")),
                "latency_us": None if call.response is None else call.response["latency_us"],
            }


#: Elections of the quorum's leaders: one row for each partition of a Vote, BeginQuorumEpoch or
#: EndQuorumEpoch request, with the answer of its response. ``replica_id`` is the candidate of a
#: Vote, otherwise the leader, and ``epoch`` is its epoch.
_SCHEMA = pa.schema(
    [
        *ORIGIN,
        ("client", TEXT),
        ("server", TEXT),
        ("api", TEXT),
        ("api_version", pa.int16()),
        ("topic", TEXT),
        ("partition", pa.int32()),
        ("replica_id", pa.int32()),
        ("epoch", pa.int32()),
        ("pre_vote", pa.bool_()),
        ("answered", pa.bool_()),
        ("granted", pa.bool_()),
        ("leader_id", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("error", TEXT),
        ("latency_us", pa.int64()),
    ]
)
TABLE = DerivedTable(name="quorum_events", schema=_SCHEMA, apis=QUORUM_APIS, rows=quorum_rows)

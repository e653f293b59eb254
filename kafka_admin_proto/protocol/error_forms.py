"""Where Kafka's answers to failed requests are not as the definitions suggest, api by api."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_admin_proto.protocol import api_keys

#: Apis whose answers have no row for each row of a request that failed as a whole.
WITHOUT_ROWS = frozenset({
    api_keys.INIT_PRODUCER_ID, api_keys.END_TXN, api_keys.ADD_OFFSETS_TO_TXN,
    api_keys.LIST_TRANSACTIONS, api_keys.DESCRIBE_QUORUM, api_keys.UPDATE_FEATURES,
    api_keys.DESCRIBE_LOG_DIRS, api_keys.SYNC_GROUP, api_keys.JOIN_GROUP, api_keys.LEAVE_GROUP,
    api_keys.HEARTBEAT, api_keys.OFFSET_DELETE, api_keys.ALTER_PARTITION,
    api_keys.ALTER_SHARE_GROUP_OFFSETS, api_keys.DELETE_SHARE_GROUP_OFFSETS,
    api_keys.BEGIN_QUORUM_EPOCH, api_keys.END_QUORUM_EPOCH, api_keys.FETCH_SNAPSHOT,
    api_keys.SHARE_FETCH, api_keys.SHARE_ACKNOWLEDGE, api_keys.VOTE,
    api_keys.CONSUMER_GROUP_HEARTBEAT,
})  # fmt: skip

#: The first version of the apis of delegation tokens that has who asked for a token.
FIRST_REQUESTER = 3
#: The first version of Fetch with topics by their ids, of JoinGroup with a protocol that may be
#: null, and of OffsetFetch with a code for the group.
_FIRST_FETCH_IDS, _FIRST_NULL_PROTOCOL, _FIRST_GROUP_ERRORS = 13, 7, 2


def _delete_records(response: Any, request: Any, code: int, version: int) -> None:
    """No low watermark is known where the request failed."""
    for topic in response.topics:
        for row in topic.partitions:
            row.low_watermark = -1


def _init_producer_id(response: Any, request: Any, code: int, version: int) -> None:
    response.producer_epoch = -1


def _produce(response: Any, request: Any, code: int, version: int) -> None:
    """No row has an offset, what the request names twice has one row, and no topic has none."""
    topics: dict[Any, Any] = {}
    rows: dict[Any, dict[int, Any]] = {}
    for topic in response.responses:
        key = topic.name, topic.topic_id
        topics.setdefault(key, topic)
        for row in topic.partition_responses:
            row.base_offset = -1
            rows.setdefault(key, {})[row.index] = row
    for key, found in rows.items():
        topics[key].partition_responses = list(found.values())
    response.responses = [topic for key, topic in topics.items() if key in rows]


def _add_partitions_to_txn(response: Any, request: Any, code: int, version: int) -> None:
    """With a code of the whole response there are no rows."""
    if response.error_code:
        response.results_by_transaction = []


def _metadata(response: Any, request: Any, code: int, version: int) -> None:
    """Kafka gives topics by their ids an empty name, which is no null."""
    for topic in response.topics:
        topic.name = topic.name or ""


def _describe_client_quotas(response: Any, request: Any, code: int, version: int) -> None:
    response.entries = None


def _describe_user_scram_credentials(response: Any, request: Any, code: int, version: int) -> None:
    for each in response.results:
        each.user = ""


def _alter_user_scram_credentials(response: Any, request: Any, code: int, version: int) -> None:
    """A user who is named twice has one row."""
    response.results = list({each.user: each for each in response.results}.values())


def _fetch(response: Any, request: Any, code: int, version: int) -> None:
    """The session is the request's. Topics by their ids have no rows, nor have forgotten ones."""
    response.session_id = request.session_id
    ids = version >= _FIRST_FETCH_IDS
    response.responses = [] if ids else response.responses[: len(request.topics)]
    for topic in response.responses:
        for row in topic.partitions:
            row.high_watermark, row.records = -1, b""


def _write_txn_markers(response: Any, request: Any, code: int, version: int) -> None:
    """Each producer id and each partition has one row, and no topic has none."""
    markers: dict[int, Any] = {}
    for marker in response.markers:
        topics: dict[str, Any] = {}
        rows: dict[str, dict[int, Any]] = {}
        for topic in marker.topics:
            for row in topic.partitions:
                topics.setdefault(topic.name, topic)
                rows.setdefault(topic.name, {})[row.partition_index] = row
        for name, topic in topics.items():
            topic.partitions = list(rows[name].values())
        marker.topics = list(topics.values())
        markers[marker.producer_id] = marker
    response.markers = list(markers.values())


def _join_group(response: Any, request: Any, code: int, version: int) -> None:
    if version >= _FIRST_NULL_PROTOCOL:
        response.protocol_name = None


def _offset_fetch(response: Any, request: Any, code: int, version: int) -> None:
    """Where a group has a code it has no topics."""
    if version >= _FIRST_GROUP_ERRORS:
        response.topics = []
    for group in response.groups:
        group.topics = []
    for topic in response.topics:
        for row in topic.partitions:
            row.committed_offset = -1


def _alter_replica_log_dirs(response: Any, request: Any, code: int, version: int) -> None:
    """Topics stand below folders in the request, and above them in the answer."""
    row = type(response).AlterReplicaLogDirTopicResult
    part = type(response).AlterReplicaLogDirPartitionResult
    response.results = [
        row(topic.name, [part(number, code) for number in topic.partitions])
        for folder in request.dirs
        for topic in folder.topics
    ]


def _create_delegation_token(response: Any, request: Any, code: int, version: int) -> None:
    response.principal_type, response.principal_name = "User", "ANONYMOUS"
    if version >= FIRST_REQUESTER:
        response.token_requester_principal_type = "User"
        response.token_requester_principal_name = "ANONYMOUS"
    response.issue_timestamp_ms = response.expiry_timestamp_ms = response.max_timestamp_ms = -1


def _describe_share_group_offsets(response: Any, request: Any, code: int, version: int) -> None:
    for each in response.groups:
        each.topics = []


#: Functions that bring an answer that failed as a whole into Kafka's form.
MENDED: dict[int, Callable[[Any, Any, int, int], None]] = {
    api_keys.PRODUCE: _produce,
    api_keys.FETCH: _fetch,
    api_keys.METADATA: _metadata,
    api_keys.OFFSET_FETCH: _offset_fetch,
    api_keys.JOIN_GROUP: _join_group,
    api_keys.WRITE_TXN_MARKERS: _write_txn_markers,
    api_keys.DELETE_RECORDS: _delete_records,
    api_keys.ALTER_REPLICA_LOG_DIRS: _alter_replica_log_dirs,
    api_keys.CREATE_DELEGATION_TOKEN: _create_delegation_token,
    api_keys.DESCRIBE_SHARE_GROUP_OFFSETS: _describe_share_group_offsets,
    api_keys.INIT_PRODUCER_ID: _init_producer_id,
    api_keys.ADD_PARTITIONS_TO_TXN: _add_partitions_to_txn,
    api_keys.DESCRIBE_CLIENT_QUOTAS: _describe_client_quotas,
    api_keys.DESCRIBE_USER_SCRAM_CREDENTIALS: _describe_user_scram_credentials,
    api_keys.ALTER_USER_SCRAM_CREDENTIALS: _alter_user_scram_credentials,
}

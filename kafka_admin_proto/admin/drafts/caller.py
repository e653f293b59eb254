"""What all operations of a draft share: its requests, its codes, its view of topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.operations.common.failures import NONE, Failure
from kafka_admin_proto.admin.operations.common.item_retries import R
from kafka_admin_proto.admin.operations.common.metadata import slices
from kafka_admin_proto.admin.operations.common.waiting import K, Missing, topic_of, wait_for_results
from kafka_admin_proto.admin.operations.topics.descriptions import (
    PartitionDescription,
    TopicDescription,
)
from kafka_admin_proto.admin.operations.topics.replica_lag import ReplicaLag
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import kip_4a, kip_4b
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.error_codes import find_error
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message

_METADATA = {"kip-4a": kip_4a.TopicMetadataRequest, "kip-4b": kip_4b.TopicMetadataRequest}
#: Topics that Kafka's brokers make for themselves; the drafts do not say which ones these are.
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})

#: What a broker lacks of an item, from its topic's description.
MissingInTopic = Callable[[K, TopicDescription], Iterable[Missing]]


class DraftCaller(Caller):
    """Requests in the client's dialect, which is a draft's."""

    async def ask_draft(self, request: Message, deadline: Deadline) -> dict[str, Failure]:
        """What became of each topic, from a response that maps topics to codes.

        It is sent again only if it surely was not sent. Raises UnsupportedVersionError where the
        cluster does not serve the draft.
        """
        await self.check_cluster(deadline)
        reply = await self.call(
            request, Message, to=Target.CONTROLLER, timeout=deadline.left, repeatable=False
        )
        rows: Sequence[Any] = getattr(reply.body, "items", ())
        return {
            each.topic if hasattr(each, "topic") else each.topic_name: self.failure(each.error_code)
            for each in rows
        }

    async def topic_views(
        self, names: Sequence[str], deadline: Deadline, *, to: int | Target = Target.ANY
    ) -> dict[str, TopicDescription]:
        """Topics as a broker's TopicMetadata v1 has them; without names, all."""
        await self.check_cluster(deadline)
        topics = {}
        for some in slices(names) if names else [[]]:
            request = _METADATA[self.dialect](list(some))
            reply = await self.call(request, Message, to=to, timeout=deadline.left)
            for each in getattr(reply.body, "topic_metadata", ()):
                topics[each.topic_name] = self._described(each)
        return topics

    async def on_every_broker(
        self, results: Mapping[K, R], missing: MissingInTopic[K], deadline: Deadline
    ) -> dict[K, R]:
        """The results once every broker has them, as ``wait_for_results`` returns them.

        So the drafts have it checked whether a request is done.
        """

        async def find(broker: int, asked: Sequence[K], left: float) -> dict[K, list[Missing]]:
            names = list(dict.fromkeys(map(topic_of, asked)))
            there = await self.topic_views(names, Deadline(left), to=broker)
            return {
                item: list(missing(item, there.get(topic_of(item)) or self.unknown(topic_of(item))))
                for item in asked
            }

        return await wait_for_results(self, results, find, deadline)

    def failure(self, code: int) -> Failure:
        """The failure for a code, by the draft's names; Nones for 0."""
        if code == 0:
            return NONE
        found = find_error(code, dialect=self.dialect)
        if found is None:
            return Failure(error=str(code), message=None)
        return Failure(error=found.name, message=found.meaning)

    def unknown(self, name: str) -> TopicDescription:
        """A topic that the answer leaves out."""
        return TopicDescription(name=name, **self.failure(codes.UNKNOWN_TOPIC_OR_PARTITION))

    async def check_cluster(self, deadline: Deadline) -> None:
        """Raise UnsupportedVersionError unless the cluster serves the draft.

        Another one would take TopicMetadata v1 for its own Metadata v1.
        """
        spoken = await self.versions(Target.ANY, timeout=deadline.left)
        if _keys("kip-4b") & spoken.keys() != _keys(self.dialect):
            raise UnsupportedVersionError(
                f"the cluster does not serve {self.dialect}; kap serve --rules {self.dialect} does"
            )

    def _described(self, topic: Any) -> TopicDescription:
        configs = getattr(topic, "config_entry", None)
        return TopicDescription(
            name=topic.topic_name,
            internal=topic.topic_name in INTERNAL,
            partitions=[self._partition(each) for each in topic.partition_metadata],
            configs=None
            if configs is None
            else {each.config_key: each.config_value for each in configs},
            **self.failure(topic.topic_error_code),
        )

    def _partition(self, row: Any) -> PartitionDescription:
        lags = getattr(row, "replicas_lag", None)
        return PartitionDescription(
            partition=row.partition_id,
            leader=None if row.leader < 0 else row.leader,
            leader_epoch=None,
            replicas=row.replicas if lags is None else [each.replica_id for each in lags],
            isr=getattr(row, "isr", []),
            offline=[],
            lag=None
            if lags is None
            else [
                ReplicaLag(each.replica_id, lag=None if each.lag < 0 else each.lag) for each in lags
            ],
            **self.failure(row.partition_error_code),
        )


def _keys(dialect: str) -> frozenset[int]:
    """The api keys that the draft's requests alone have: TopicMetadata has Metadata's."""
    entries = [catalog().entry(each, dialect) for each in catalog().names(dialect)]
    keys = {each.api_key for each in entries if each.type == "request" and each.api_key is not None}
    return frozenset(keys - {api_keys.METADATA})

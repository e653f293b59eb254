"""The states of share groups' partitions that each broker coordinates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafka_admin_proto.messages import RemoveTopicRecord
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.routing import Coordinators
from kafka_admin_proto.server.coordination.shard import CoordinatorShard, Leads, Then, unheard
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.share.shard import ShareStateShard
from kafka_admin_proto.server.share.state import ShareKey
from kafka_admin_proto.server.topics.names import SHARE_GROUP_STATE
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.replication.replicas import ReplicatedLog
    from kafka_admin_proto.server.state import State


_RETRIED = (codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR)
#: A share coordinator that is not there is asked after so long and so often.
RETRY_MS, ATTEMPTS = 1000, 5

#: Asks a shard for something of a key; the function gets 0, or an error code.
Ask = Callable[[ShareStateShard, ShareKey, Then], None]


def asked_again(
    shard: CoordinatorShard, code: int, attempt: int, ask: Callable[[int], object]
) -> bool:
    """Whether ``ask`` gets the next attempt some time later, since no coordinator was there."""
    is_retried = code in _RETRIED and attempt < ATTEMPTS
    if is_retried:  # nothing else takes its place, somebody waits
        shard.later(object(), RETRY_MS, partial(ask, attempt + 1))
    return is_retried


class ShareCoordinators(Coordinators[ShareStateShard]):
    """The states of a cluster, by partition of ``__share_group_state``."""

    topic_name = SHARE_GROUP_STATE

    def __init__(self, state: State) -> None:
        super().__init__(state)
        state.followers.append(self._appended)

    def ask_each(self, keys: Collection[ShareKey], ask: Ask, then: Then) -> None:
        """Ask the coordinator of each key; ``then`` gets 0 when all have done it, or a code."""
        waiting, returned = set(keys), set[int]()

        def done(key: ShareKey, code: int) -> None:
            waiting.discard(key)
            returned.add(code)
            if not waiting:
                then(max(returned, key=bool))

        for key in keys:
            try:
                ask(self.led(key.text), key, partial(done, key))
            except ApiFailure as failure:
                done(key, failure.code)

    def _make(self, leads: Leads, replicas: ReplicatedLog) -> ShareStateShard:
        state = self._state
        config = partial(state.broker_value, node_id=leads.node)
        return ShareStateShard(leads, replicas, state.clock, config, self.sent)

    def _begin(self, shard: ShareStateShard) -> None:
        if self._state.release >= (4,):  # before, a topic of that name is one like others
            shard.prune_later()

    def _appended(self, records: Sequence[Message], offset: int) -> None:
        """Follow the metadata log: states of deleted topics are deleted."""
        gone = {each.topic_id for each in records if isinstance(each, RemoveTopicRecord)}
        if gone:
            for shard in list(self._shards.values()):
                shard.delete([each for each in shard.states if each.topic_id in gone], unheard)

"""The groups of all brokers in one listing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import raise_failure
from kafka_admin_proto.admin.operations.common.routing import ask_every_broker
from kafka_admin_proto.admin.operations.groups.model import GroupListing, ListedGroup
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import ListGroupsRequest, ListGroupsResponse
from kafka_admin_proto.schema.versions import VersionRange

_WITH_STATES, _WITH_TYPES = VersionRange.parse("4+"), VersionRange.parse("5+")
#: Of all types; brokers pass over a name that they do not know. Source: GroupState of Kafka 4.3.
_STATES = (
    "Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "Assigning",
    "Reconciling", "NotReady",
)  # fmt: skip
_TYPES = ("classic", "consumer", "share", "streams")


class ListGroups(Caller):
    """ListGroups, of each broker."""

    async def list_groups(
        self,
        *,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        protocol_types: Iterable[str] = (),
        timeout: float | None = None,
    ) -> GroupListing:
        """The groups of all brokers, sorted; those of the states, types and protocols asked for.

        ``states`` and ``types`` are Kafka's names in any case ("Stable", "consumer"), which the
        brokers filter by; one that is too old to (before 2.6, before 3.8) is among the ``failed``.
        Raises InstructionError for a name that Kafka has not.
        """
        named, protocols = (list(states), list(types)), set(protocol_types)
        for given, known, what in zip(named, (_STATES, _TYPES), ("state", "type"), strict=True):
            lowered = {name.lower() for name in known}
            for word in given:
                if word.lower() not in lowered:
                    raise InstructionError(
                        f"no group has the {what} {word!r}; there are {', '.join(known)}"
                    )

        async def ask(broker: int, seconds: float) -> list[ListedGroup]:
            return await _list_groups_of_broker(self, broker, *named, seconds)

        answers, failed = await ask_every_broker(self, ask, timeout=timeout)
        # A group that moves between the answers may be listed by both coordinators.
        groups = {group.group_id: group for answer in answers for group in answer}
        return GroupListing(
            [
                groups[id_]
                for id_ in sorted(groups)
                if not protocols or groups[id_].protocol_type in protocols
            ],
            failed,
        )


async def _list_groups_of_broker(
    caller: Caller, broker: int, states: Sequence[str], types: Sequence[str], timeout: float
) -> list[ListedGroup]:
    before_types = _WITH_STATES if states else None
    try:
        reply = await caller.call_owner(
            ListGroupsRequest(list(states), list(types)),
            ListGroupsResponse,
            to=broker,
            timeout=timeout,
            versions=_WITH_TYPES if types else before_types,
        )
    except UnsupportedVersionError:
        # Brokers whose listing has no types have classic groups (3.7 consumer groups on trial too).
        names = {each.lower() for each in types}
        if "classic" not in names or names - {"classic", "consumer"}:
            raise
        reply = await caller.call_owner(
            ListGroupsRequest(list(states)),
            ListGroupsResponse,
            to=broker,
            timeout=timeout,
            versions=before_types,
        )
    raise_failure(reply.body.error_code, context="ListGroups")
    return [
        ListedGroup(
            group.group_id,
            group.group_type.lower() or None,
            group.protocol_type,
            group.group_state or None,
            broker,
        )
        for group in reply.body.groups
    ]

"""Requests that only the coordinator of a group or a transactional id answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import IntEnum

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.item_retries import R
from kafka_admin_proto.admin.operations.common.routing import ask_brokers
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.schema.versions import VersionRange

#: Versions that ask for many keys at once, and those that ask for one.
_BATCHED, _SINGLE = VersionRange.parse("4+"), VersionRange.parse("0-3")
#: Version 0 knows groups only, and has no type of the key.
_SINGLE_TYPED = VersionRange.parse("1-3")


class KeyType(IntEnum):
    """What a coordinator is looked for by; the numbers are FindCoordinator's."""

    GROUP = 0
    TRANSACTION = 1


#: An api that all brokers have that could be a coordinator of that type.
_SERVED_WITH = {
    KeyType.GROUP: ("groups", api_keys.DESCRIBE_GROUPS, "DescribeGroups"),
    KeyType.TRANSACTION: ("transactions", api_keys.END_TXN, "EndTxn"),
}


async def find_coordinators(
    caller: Caller, keys: Sequence[str], key_type: KeyType, *, timeout: float
) -> dict[str, int | Failure]:
    """The broker that is the coordinator of each group or transactional id, or why none is."""
    try:
        reply = await caller.call(
            FindCoordinatorRequest(key_type=key_type, coordinator_keys=list(keys)),
            FindCoordinatorResponse,
            timeout=timeout,
            versions=_BATCHED,
        )
    except UnsupportedVersionError:
        found = await asyncio.gather(
            *(_find_one(caller, key, key_type, timeout=timeout) for key in keys)
        )
        return dict(zip(keys, found, strict=True))
    return {
        each.key: _broker_or_failure(each.node_id, each.error_code, each.error_message)
        for each in reply.body.coordinators
    }


async def ask_coordinators(
    caller: Caller,
    keys: Sequence[str],
    key_type: KeyType,
    ask: Callable[[int, list[str], float], Awaitable[Mapping[str, R]]],
    failed: Callable[[str, Failure], R],
    *,
    timeout: float | None,
    error_when_done: str = "",
) -> list[R]:
    """The results of all keys, in order, each from its coordinator; see ``ask_brokers``.

    Raises UnsupportedVersionError where no coordinator is found and no broker could be one: this
    does not pass, as it does in a cluster that is still creating the topic of its coordinators.
    """

    async def find(pending: list[str], seconds: float) -> Mapping[str, int | Failure]:
        deadline = Deadline(seconds)
        coordinators = await find_coordinators(caller, pending, key_type, timeout=seconds)
        if not any(isinstance(each, int) for each in coordinators.values()):
            what, api, name = _SERVED_WITH[key_type]
            if api not in await caller.versions(Target.ANY, timeout=deadline.left):
                raise UnsupportedVersionError(
                    f"this cluster serves no {what}: its brokers do not have {name}; ask one that "
                    f"has {what}"
                )
        return coordinators

    return await ask_brokers(
        caller, keys, find, ask, failed, timeout=timeout, error_when_done=error_when_done
    )


async def _find_one(
    caller: Caller, key: str, key_type: KeyType, *, timeout: float
) -> int | Failure:
    reply = await caller.call(
        FindCoordinatorRequest(key, key_type),
        FindCoordinatorResponse,
        timeout=timeout,
        versions=_SINGLE if key_type is KeyType.GROUP else _SINGLE_TYPED,
    )
    return _broker_or_failure(reply.body.node_id, reply.body.error_code, reply.body.error_message)


def _broker_or_failure(broker: int, code: int, message: str | None) -> int | Failure:
    return failure(code, message) if code else broker

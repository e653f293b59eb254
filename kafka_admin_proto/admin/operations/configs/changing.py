"""Changing configs to the end: what was set before, and until every broker has the change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.operations.common.timeouts import waiting_time
from kafka_admin_proto.admin.operations.common.waiting import Missing, wait_for_results
from kafka_admin_proto.admin.operations.configs.altering import (
    AlterConfigs,
    AlteredConfigs,
    ConfigChange,
)
from kafka_admin_proto.admin.operations.configs.describing import DescribeConfigs
from kafka_admin_proto.admin.operations.configs.entries import ConfigEntry
from kafka_admin_proto.admin.operations.configs.overrides import in_configs
from kafka_admin_proto.admin.operations.configs.resources import ConfigResource, ResourceType
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.near_names import did_you_mean, near_names

#: Where a value comes from that was set for such a resource itself; brokers without a name are the
#: default of all brokers.
_OWN_SOURCE: Mapping[str, str] = {
    "topic": "DYNAMIC_TOPIC_CONFIG",
    "broker": "DYNAMIC_BROKER_CONFIG",
    "broker_logger": "DYNAMIC_BROKER_LOGGER_CONFIG",
    "client_metrics": "DYNAMIC_CLIENT_METRICS_CONFIG",
    "group": "DYNAMIC_GROUP_CONFIG",
}
_DEFAULT_BROKER_SOURCE = "DYNAMIC_DEFAULT_BROKER_CONFIG"


class ChangedConfigs(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one resource, by which ``change``.

    ``not_set`` are the configs to delete that were not set before, as far as the client may know;
    deleting them changed nothing. ``complete`` says whether every live broker has the configs of a
    topic, with what is ``missing`` if not; None where that is not waited for.
    """

    type: ResourceType
    name: str
    change: ConfigChange
    not_set: Sequence[str] = ()
    error: str | None = None
    message: str | None = None
    complete: bool | None = None
    missing: Sequence[Missing] = ()


class ChangeConfigs(DescribeConfigs, AlterConfigs):
    """DescribeConfigs, IncrementalAlterConfigs, and DescribeConfigs of each broker."""

    async def change_configs(
        self,
        changes: Iterable[ConfigChange],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> list[ChangedConfigs]:
        """``alter_configs``, with what was set before, and until every broker has those of topics.

        With a ``timeout`` (seconds) of 0 or less, and with ``validate_only``, nothing is waited
        for. Configs of other resources than topics are not waited for. A change that deletes a
        config that its resource cannot have is not sent: INVALID_CONFIG, where brokers would take
        it for done. Raises as ``alter_configs``.
        """
        wanted = list(changes)
        timeout, deadline = waiting_time(self, timeout)
        there = await _described(self, wanted, deadline.left)
        refused = [_refused(change, there.get(change.resource)) for change in wanted]
        results = await self._change(wanted, refused, there, validate_only, deadline)
        return results if validate_only else await self._wait(results, timeout, deadline)

    async def unset_all_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> list[ChangedConfigs]:
        """Unset the configs that were set for each resource itself, waited for as others changed.

        ``change`` of a result says which they were. Nothing is unset for a resource whose configs
        are not described; its result has the error of that. Raises as ``describe_configs``.
        """
        timeout, deadline = waiting_time(self, timeout)
        described = await self.describe_configs(resources, timeout=deadline.left)
        there = {ConfigResource(each.type, each.name): each.configs for each in described}
        changes = [
            ConfigChange(resource=resource, delete=own_names(resource, entries))
            for resource, entries in there.items()
        ]
        refused = [
            ChangedConfigs(type=each.type, name=each.name, change=change, error=each.error,
                           message=each.message)
            if each.error else None
            for each, change in zip(described, changes, strict=True)
        ]  # fmt: skip
        results = await self._change(changes, refused, there, validate_only, deadline)
        return results if validate_only else await self._wait(results, timeout, deadline)

    async def _change(
        self,
        wanted: Sequence[ConfigChange],
        refused: Sequence[ChangedConfigs | None],
        there: Mapping[ConfigResource, list[ConfigEntry]],
        validate_only: bool,
        deadline: Deadline,
    ) -> list[ChangedConfigs]:
        """The results of all changes, those that are not refused sent to brokers."""
        sent = [change for change, no in zip(wanted, refused, strict=True) if no is None]
        altered = iter(
            await self.alter_configs(sent, validate_only=validate_only, timeout=deadline.left)
        )
        return [
            no or _changed(change, there.get(change.resource), next(altered))
            for change, no in zip(wanted, refused, strict=True)
        ]

    async def _wait(
        self, results: list[ChangedConfigs], timeout: float, deadline: Deadline
    ) -> list[ChangedConfigs]:
        """Wait until every live broker has the configs of topics, for a ``timeout`` above 0."""
        if timeout <= 0:
            return results
        waited = {r.name: r for r in results if r.type == "topic" and r.error is None}
        values = {
            name: {**r.change.set, **dict.fromkeys(r.change.delete)} for name, r in waited.items()
        }
        seen = await wait_for_results(self, waited, in_configs(self, values), deadline)
        return [seen.get(r.name, r) if r.type == "topic" else r for r in results]


async def _described(
    caller: DescribeConfigs, changes: Sequence[ConfigChange], timeout: float
) -> dict[ConfigResource, list[ConfigEntry]]:
    """All configs of the resources with some to delete; nothing where the client may not look."""
    asked = [
        each.resource
        for each in changes
        # Controllers take configs of brokers that do not live and cannot describe theirs.
        if each.delete and not (caller.asks_controllers and each.resource.type == "broker")
    ]
    if not asked:
        return {}
    try:
        described = await caller.describe_configs(asked, timeout=timeout)
    except KafkaAdminProtoError:
        return {}
    return {
        ConfigResource(each.type, each.name): each.configs
        for each in described
        if each.error is None
    }


def _refused(change: ConfigChange, there: Sequence[ConfigEntry] | None) -> ChangedConfigs | None:
    """The result of a change with a config to delete that its resource cannot have, or None.

    Of the defaults of all brokers, and up to 3.9 of client metrics, those alone are described that
    are set: no other name is known to be wrong.
    """
    resource = change.resource
    if there is None or len(own_names(resource, there)) == len(there):
        return None
    names = [each.name for each in there]
    unknown = [name for name in change.delete if name not in names]
    if not unknown:
        return None
    kind = resource.type.replace("_", " ")
    said = f"{kind} {resource.name} has no config {', '.join(unknown)}; nothing was changed"
    said += did_you_mean(near for name in unknown for near in near_names(name, names, most=1))
    return ChangedConfigs(
        type=resource.type, name=resource.name, change=change, error="INVALID_CONFIG", message=said
    )


def _changed(
    change: ConfigChange, there: Sequence[ConfigEntry] | None, altered: AlteredConfigs
) -> ChangedConfigs:
    return ChangedConfigs(
        type=altered.type,
        name=altered.name,
        change=change,
        not_set=_not_set(change, there),
        error=altered.error,
        message=altered.message,
    )


def _not_set(change: ConfigChange, there: Sequence[ConfigEntry] | None) -> Sequence[str]:
    """The configs to delete that are not set; none of them where the client could not look."""
    if there is None:
        return ()
    own = own_names(change.resource, there)
    return [key for key in change.delete if key not in own]


def own_names(resource: ConfigResource, entries: Iterable[ConfigEntry]) -> list[str]:
    """The configs that were set for the resource itself.

    The oldest brokers say no source of a value, and only whether it is the default.
    """
    is_default_broker = resource.type == "broker" and not resource.name
    own = _DEFAULT_BROKER_SOURCE if is_default_broker else _OWN_SOURCE[resource.type]
    return [
        each.name
        for each in entries
        if (not each.is_default if each.source is None else each.source == own)
    ]

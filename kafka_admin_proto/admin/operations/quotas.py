"""Client quotas: describe and alter, by user, client id and ip address.

An entity is a mapping of its parts, ``{"user": "alice", "client-id": "app"}``; a part's name None
is the default entity, which holds for all users (clients, addresses) without a quota of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.failures import answer_of, failure, raise_failure
from kafka_admin_proto.messages import AlterClientQuotasResponse, DescribeClientQuotasResponse
from kafka_admin_proto.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kafka_admin_proto.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)


class QuotaMatch(StrEnum):
    """Which entities a component of a filter finds."""

    #: The one of the component's name.
    EXACT = "EXACT"
    #: The default entity.
    DEFAULT = "DEFAULT"
    #: Each that has a part of the component's type, the default entity too.
    ANY = "ANY"


class QuotaComponent(msgspec.Struct, frozen=True):
    """One component of a filter; ``entity_type`` is "user", "client-id" or "ip".

    ``name`` is for ``EXACT`` only.
    """

    entity_type: str
    match: QuotaMatch = QuotaMatch.ANY
    name: str | None = None


class ClientQuota(msgspec.Struct, frozen=True):
    """The quotas of an entity by their keys, such as "producer_byte_rate"."""

    entity: Mapping[str, str | None]
    quotas: Mapping[str, float]


class QuotaAlteration(msgspec.Struct, frozen=True):
    """Quotas of an entity to set, and with None to remove."""

    entity: Mapping[str, str | None]
    quotas: Mapping[str, float | None]


class AlteredQuota(msgspec.Struct, frozen=True):
    """An entity whose quotas were altered, unless there is an error.

    ``not_set`` are those to remove that it had not, where ``look_up`` asked for that.
    """

    entity: Mapping[str, str | None]
    error: str | None = None
    message: str | None = None
    not_set: Sequence[str] = ()


class QuotaOperations(Caller):
    """Client quotas."""

    async def describe_client_quotas(
        self,
        components: Iterable[QuotaComponent] = (),
        *,
        strict: bool = False,
        timeout: float | None = None,
    ) -> list[ClientQuota]:
        """Quotas of the entities that all components find, sorted; of all without components.

        ``strict`` leaves out entities that have further parts. Raises BrokerError.
        """
        codes = list(QuotaMatch)
        request = DescribeClientQuotasRequest(
            [
                ComponentData(each.entity_type, codes.index(each.match), each.name)
                for each in components
            ],
            strict,
        )
        reply = await self.call(request, DescribeClientQuotasResponse, timeout=timeout)
        body = reply.body
        raise_failure(body.error_code, body.error_message, context="DescribeClientQuotas")
        quotas = [
            ClientQuota(
                {part.entity_type: part.entity_name for part in entry.entity},
                {value.key: value.value for value in sorted(entry.values, key=lambda v: v.key)},
            )
            for entry in body.entries or ()
        ]
        return sorted(quotas, key=lambda quota: _sort_key(quota.entity))

    async def alter_client_quotas(
        self,
        alterations: Iterable[QuotaAlteration],
        *,
        validate_only: bool = False,
        look_up: bool = False,
        timeout: float | None = None,
    ) -> list[AlteredQuota]:
        """Set and remove quotas, with a result for each entity, in order.

        ``look_up`` asks before which of those to remove are set, as far as the client may know.
        """
        wanted = list(alterations)
        deadline = call_deadline(self, timeout)
        not_set = [await _not_set(self, each, deadline.left) if look_up else () for each in wanted]
        request = AlterClientQuotasRequest(
            [
                EntryData(
                    [EntityData(type_, name) for type_, name in each.entity.items()],
                    [
                        OpData(key, 0.0 if value is None else float(value), value is None)
                        for key, value in each.quotas.items()
                    ],
                )
                for each in wanted
            ],
            validate_only,
        )
        reply = await self.call(
            request, AlterClientQuotasResponse, to=Target.CONTROLLER, timeout=deadline.left
        )
        # Brokers answer in an order of their own.
        answers = {
            frozenset((part.entity_type, part.entity_name) for part in entry.entity): entry
            for entry in reply.body.entries
        }
        results = []
        for alteration, idle in zip(wanted, not_set, strict=True):
            entry = answer_of(frozenset(alteration.entity.items()), answers)
            why = failure(entry.error_code, entry.error_message)
            results.append(AlteredQuota(alteration.entity, **why, not_set=idle))
        return results


async def _not_set(
    caller: QuotaOperations, alteration: QuotaAlteration, timeout: float
) -> Sequence[str]:
    removed = [key for key, value in alteration.quotas.items() if value is None]
    if not removed:
        return ()
    components = [
        QuotaComponent(kind, QuotaMatch.DEFAULT if name is None else QuotaMatch.EXACT, name)
        for kind, name in alteration.entity.items()
    ]
    try:
        found = await caller.describe_client_quotas(components, strict=True, timeout=timeout)
    except BrokerError:  # the client may alter quotas and not describe them
        return ()
    there = {key for each in found for key in each.quotas}
    return [key for key in removed if key not in there]


def _sort_key(entity: Mapping[str, str | None]) -> list[tuple[str, bool, str]]:
    """Sorts by type, then the default entity before names."""
    return sorted((type_, name is not None, name or "") for type_, name in entity.items())

"""DescribeClientQuotas: the quotas of users, clients and addresses (KIP-546).

Versions: 1 flexible.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_admin_proto.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from kafka_admin_proto.messages.describe_client_quotas_response import (
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import QuotaEntity
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import LEAST_TABLE, copied_table, hash_order
from kafka_admin_proto.server.quotas.entities import ENTITY_TYPES, IP, entity_order
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE_CONFIGS

_EXACT, _DEFAULT, _SPECIFIED = 0, 1, 2
_NAMES = {
    _EXACT: "MATCH_TYPE_EXACT",
    _DEFAULT: "MATCH_TYPE_DEFAULT",
    _SPECIFIED: "MATCH_TYPE_SPECIFIED",
}


@handler(of_broker=True, needs=Gate(DESCRIBE_CONFIGS, "none"), kept=False)
def handle(state: View, request: DescribeClientQuotasRequest, caller: Caller) -> Answer:
    """List entities with every requested component; with ``strict`` those without others."""
    exact, specified = _checked(request.components)
    wanted = {*exact, *specified}
    entries = []
    for entity in _listed(state, exact, specified):
        names, quotas = dict(entity), state.cluster.quotas[entity]
        if not wanted <= names.keys() or (request.strict and wanted != names.keys()):
            continue
        if all(names[kind] == name for kind, name in exact.items()):
            entries.append(
                EntryData(
                    [EntityData(kind, name) for kind, name in entity],
                    [ValueData(key, quotas[key]) for key in hash_order(quotas, LEAST_TABLE)],
                )
            )
    return Answer(DescribeClientQuotasResponse(entries=entries))


def _listed(
    state: View, exact: Mapping[str, str | None], specified: Collection[str]
) -> list[QuotaEntity]:
    """All entities, or at least those with the component that a broker of 4.4 looks up first.

    They have the order of its maps: that of the whole image, or a copy of one of those by
    component.
    """
    entities = entity_order(state.cluster.quotas, LEAST_TABLE)
    if state.release < (4, 4) or not (exact or specified):
        return entities
    kind = hash_order(exact or specified)[0]
    of_kind = [
        each
        for each in entities
        if kind in dict(each) and (not exact or dict(each)[kind] == exact[kind])
    ]
    of_component = entity_order(of_kind)
    return entity_order(of_component, copied_table(len(of_kind), LEAST_TABLE))


def _checked(components: list[ComponentData]) -> tuple[dict[str, str | None], set[str]]:
    """The types with the name that each is to have, and those that may have any."""
    exact: dict[str, str | None] = {}
    specified: set[str] = set()
    for component in components:
        kind = component.entity_type
        if not kind:
            raise ApiFailure(codes.INVALID_REQUEST, "Invalid empty entity type.")
        if kind in exact or kind in specified:
            text = f"Entity type {kind} cannot appear more than once in the filter."
            raise ApiFailure(codes.INVALID_REQUEST, text)
        if kind not in ENTITY_TYPES:
            raise ApiFailure(codes.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        name = _NAMES.get(component.match_type)
        if name is None:
            raise ApiFailure(codes.INVALID_REQUEST, f"Unknown match type {component.match_type}")
        if component.match_type == _EXACT and component.match is None:
            text = f"Request specified {name}, but set match string to null."
            raise ApiFailure(codes.INVALID_REQUEST, text)
        if component.match_type != _EXACT and component.match is not None:
            text = f"Request specified {name}, but also specified a match string."
            raise ApiFailure(codes.INVALID_REQUEST, text)
        if component.match_type == _SPECIFIED:
            specified.add(kind)
        else:
            exact[kind] = component.match
    kinds = {*exact, *specified}
    if IP in kinds and len(kinds) > 1:
        text = "Invalid entity filter component combination. IP filter component should not be "
        text += "used with user or clientId filter component."
        raise ApiFailure(codes.INVALID_REQUEST, text)
    return exact, specified

"""AlterClientQuotas: quotas of users, clients and addresses set and removed (KIP-546).

Versions: 1 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages import ClientQuotaRecord, client_quota_record
from kafka_admin_proto.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    OpData,
)
from kafka_admin_proto.messages.alter_client_quotas_response import (
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import LEAST_TABLE, hash_order
from kafka_admin_proto.server.quotas.entities import (
    check_quota,
    entity_order,
    entity_text,
    quota_types,
)
from kafka_admin_proto.server.security.authorizer.rules import ALTER_CONFIGS
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message

_Names = dict[str, str | None]
_Entity = tuple[tuple[str, str | None], ...]


@handler(of_broker=False, needs=Gate(ALTER_CONFIGS, "code"), kept=False)
def handle(state: State, request: AlterClientQuotasRequest, caller: Caller) -> Answer:
    """Alter each entity; a repeated entity has an error, and its first change counts."""
    records: list[Message] = []
    failures: dict[_Entity, ApiFailure | None] = {}
    for entry in request.entries:
        names: _Names = {each.entity_type: each.entity_name for each in entry.entity}
        entity = tuple(sorted(names.items(), key=lambda item: item[0]))
        if entity in failures or len({op.key for op in entry.ops}) < len(entry.ops):
            text = f"Ignoring duplicate entity {entity_text(names)}"
            failures[entity] = ApiFailure(codes.INVALID_REQUEST, text)
            continue
        try:
            records += _changed(state, names, entity, entry.ops)
            failures[entity] = None
        except ApiFailure as failure:
            failures[entity] = failure
    rows = []
    for entity in entity_order(failures):
        found = failures[entity]
        refused = (0, None) if found is None else (found.code, found.message)
        rows.append(EntryData(*refused, [EntityData(*each) for each in entity]))
    return Answer(AlterClientQuotasResponse(entries=rows), [] if request.validate_only else records)


def _changed(state: State, names: _Names, entity: _Entity, ops: list[OpData]) -> list[Message]:
    """Records of the values that differ from the current ones.

    They have the order in which a broker puts them into its image, where what is removed is gone
    first; the mistake that counts is the first in the controller's map, which is as small as it
    can be.
    """
    types = quota_types(names)
    now = state.cluster.quotas.get(entity, {})
    given = {op.key: None if op.remove else op.value for op in ops}
    for key in hash_order(given, LEAST_TABLE):
        if (value := given[key]) is not None:
            check_quota(types, key, value, finite=state.release >= (4, 4))
    records: list[Message] = []
    for key in sorted(hash_order(given), key=lambda each: given[each] is not None):
        if (value := given[key]) is not None and now.get(key) != value:
            records.append(_record(entity, key, value))
        elif value is None and key in now:
            records.append(_record(entity, key, remove=True))
    return records


def _record(entity: _Entity, key: str, value: float = 0.0, *, remove: bool = False) -> Message:
    whom = [client_quota_record.EntityData(kind, name) for kind, name in entity]
    return ClientQuotaRecord(whom, key, value, remove)

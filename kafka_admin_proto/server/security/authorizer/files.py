"""ACLs that a cluster starts with: rows as ``kap acls list --output json`` shows them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages.access_control_entry_record import AccessControlEntryRecord
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.records.metadata.names import name_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.bindings import acl_of, check_binding, record_of
from kafka_admin_proto.server.security.authorizer.rules import CLASS_CONFIG, STANDARD_AUTHORIZER

#: Configs of a cluster that has an authorizer.
AUTHORIZED = {CLASS_CONFIG: STANDARD_AUTHORIZER}
#: Codes up to this one have names.
_LAST_CODE = 15


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    """One ACL with the names of Kafka's enums; only kap's output has ``error`` and ``message``."""

    principal: str
    operation: str
    resource_type: str
    name: str
    permission: str = "ALLOW"
    pattern_type: str = "LITERAL"
    host: str = "*"
    error: str | None = None
    message: str | None = None


def read_acls(path: str | os.PathLike[str]) -> list[Mapping[str, Any]]:
    """The rows of a file: a JSON list, or what ``kap acls list --output json`` wrote.

    Raises SettingsError for a file that cannot be read.
    """
    try:
        found = msgspec.json.decode(Path(path).read_bytes())
        rows = found["acls"] if isinstance(found, dict) else found
        return [*msgspec.convert(rows, list[dict[str, Any]])]
    except OSError as error:
        raise SettingsError(f"the ACLs in {path} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, KeyError) as error:
        text = f"{path} has no ACLs: expected a JSON list of them, as kap acls list --output json"
        raise SettingsError(f"{text} writes it ({error})") from None


def acls_of(rows: Iterable[Mapping[str, Any]]) -> list[Acl]:
    """The ACLs of rows. Raises SettingsError, which names the row, for an impossible ACL."""
    found = []
    for number, each in enumerate(rows, 1):
        try:
            row = msgspec.convert(each, _Row)
            creation = AclCreation(
                _code("acl_resource_type", row.resource_type),
                row.name,
                _code("pattern_type", row.pattern_type),
                row.principal,
                row.host,
                _code("acl_operation", row.operation),
                _code("acl_permission_type", row.permission),
            )
            check_binding(creation)
        except (msgspec.ValidationError, ValueError) as error:
            raise SettingsError(f"ACL {number} cannot be: {error}") from None
        except ApiFailure as failure:
            raise SettingsError(f"ACL {number} cannot be: {failure.message}") from None
        found.append(acl_of(creation))
    return found


def records_of(acls: Iterable[Acl], cluster: ClusterState) -> list[AccessControlEntryRecord]:
    """The records of the ACLs that the cluster does not have."""
    known = set(cluster.acls.values())
    return [record_of(each) for each in dict.fromkeys(acls) if each not in known]


def _code(meaning: str, name: str) -> int:
    for code in range(_LAST_CODE + 1):
        if name_of(meaning, code) == name:
            return code
    kind = meaning.removeprefix("acl_").replace("_", " ")
    raise ValueError(f"{name!r} is no {kind}; write it as Kafka's constant, in capital letters")

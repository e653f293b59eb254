"""ACLs that a cluster starts with: rows as ``kap acls list --output json`` shows them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import AccessControlEntryRecord
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.render.meanings import name_of
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.authorizer.bindings import (
    PATTERN_TYPES,
    PERMISSION_TYPES,
    RESOURCE_TYPES,
    acl_of,
    check_binding,
    operations,
    record_of,
)
from kafka_admin_proto.server.security.authorizer.rules import CLASS_CONFIG, STANDARD_AUTHORIZER
from kafka_admin_proto.structs import decodable

#: Configs of a cluster that has an authorizer.
AUTHORIZED = {CLASS_CONFIG: STANDARD_AUTHORIZER}


@decodable
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

    Raises SettingsError for a file that cannot be read or has none.
    """
    try:
        found = msgspec.json.decode(Path(path).read_bytes())
        rows = found["acls"] if isinstance(found, dict) else found
        acls = msgspec.convert(rows, list[dict[str, Any]])
    except OSError as error:
        raise SettingsError(f"the ACLs in {path} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, KeyError) as error:
        text = f"{path} has no ACLs: expected a JSON list of them, as kap acls list --output json"
        raise SettingsError(f"{text} writes it ({error})") from None
    if not acls:
        raise SettingsError(
            f"{path} has no ACLs: its list is empty; to forbid everything, leave it out and set "
            f"the config {CLASS_CONFIG}={STANDARD_AUTHORIZER}"
        )
    return [*acls]


def acls_of(rows: Iterable[Mapping[str, Any]], release: ReleaseNumber) -> list[Acl]:
    """The ACLs of rows. Raises SettingsError, which names the row, for one that the release cannot
    have.
    """
    acls = []
    level = definitions(release).metadata_version
    for number, given in enumerate(rows, 1):
        try:
            row = msgspec.convert(given, _Row)
            creation = AclCreation(
                _code("acl_resource_type", row.resource_type, RESOURCE_TYPES),
                row.name,
                _code("pattern_type", row.pattern_type, PATTERN_TYPES),
                row.principal,
                row.host,
                _code("acl_operation", row.operation, operations(release)),
                _code("acl_permission_type", row.permission, PERMISSION_TYPES),
            )
            check_binding(creation, release, level)
        except msgspec.ValidationError as error:
            fields = ", ".join(_Row.__struct_fields__)
            raise SettingsError(f"ACL {number} cannot be: {error}; it has {fields}") from None
        except ValueError as error:
            raise SettingsError(f"ACL {number} cannot be: {error}") from None
        except ApiFailure as failure:
            raise SettingsError(f"ACL {number} cannot be: {failure.message}") from None
        acls.append(acl_of(creation))
    return acls


def records_of(acls: Iterable[Acl], cluster: ClusterState) -> list[AccessControlEntryRecord]:
    known = set(cluster.acls.values())
    return [record_of(each) for each in dict.fromkeys(acls) if each not in known]


def _code(meaning: str, name: str, codes: Iterable[int]) -> int:
    known = {name_of(meaning, code): code for code in codes}
    if name not in known:
        kind = meaning.removeprefix("acl_").replace("_", " ")
        raise ValueError(f"{name!r} is no {kind}; there are {', '.join(known)}")
    return known[name]

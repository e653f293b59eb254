"""Decisions by the ACLs of the metadata log, as Kafka's StandardAuthorizer makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

import msgspec

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.server.java import trim
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.authorizer.host_ranges import (
    HostRange,
    address_of,
    contains,
    host_range,
    is_range,
)

CLASS_CONFIG = "authorizer.class.name"
SUPER_USERS_CONFIG = "super.users"
ALLOW_CONFIG = "allow.everyone.if.no.acl.found"
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"

# Codes of AclOperation.
ALL = 2
READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = 3, 4, 5, 6, 7, 8
CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 9, 10, 11, 12
CREATE_TOKENS, DESCRIBE_TOKENS = 13, 14
# Codes of ResourceType.
TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER = 2, 3, 4, 5, 6, 7
# Codes of PatternType.
LITERAL, PREFIXED = 3, 4
# Codes of AclPermissionType.
DENY, ALLOW = 2, 3

#: The only name of a resource of type CLUSTER.
CLUSTER_NAME = "kafka-cluster"
#: A name that no topic can have, so that only ACLs of any resource are about it.
_NAME_WITHOUT_ACL = "/"
#: In an ACL, any resource of its type, or any host.
ANYTHING = "*"
ANYBODY = "User:*"

#: Operation → the operations that imply it.
_IMPLIED = {
    DESCRIBE: frozenset({DESCRIBE, READ, WRITE, DELETE, ALTER}),
    DESCRIBE_CONFIGS: frozenset({DESCRIBE_CONFIGS, ALTER_CONFIGS}),
}


#: (principal, host) → the bits of the denied operations, and those of the allowed ones.
_Entries = dict[tuple[str, str], list[int]]


class AuthorizerSettings(msgspec.Struct, frozen=True):
    """The super users, and whether every client may use resources without ACLs."""

    super_users: frozenset[str] = frozenset()
    allow_without_acls: bool = False


def authorizer_settings(configs: Mapping[str, str]) -> AuthorizerSettings | None:
    """The settings in a broker's configs; None if they name no authorizer.

    Raises SettingsError for an authorizer of another class, and for a super user whose type
    is missing.
    """
    name = trim(configs.get(CLASS_CONFIG, ""))
    if not name:
        return None
    if name != STANDARD_AUTHORIZER:
        raise SettingsError(f"{CLASS_CONFIG} can only be {STANDARD_AUTHORIZER}, not {name}")
    users = [each.strip() for each in configs.get(SUPER_USERS_CONFIG, "").split(";")]
    for user in users:
        if user and ":" not in user:
            text = f"{SUPER_USERS_CONFIG} has {user!r}; name principals as TYPE:NAME, User:{user}"
            raise SettingsError(text)
    allow = configs.get(ALLOW_CONFIG, "").strip().lower() == "true"
    return AuthorizerSettings(frozenset(filter(None, users)), allow)


class Authorizer:
    """Decides by a set of ACLs, as StandardAuthorizer does."""

    def __init__(
        self, settings: AuthorizerSettings, acls: Iterable[Acl], release: ReleaseNumber
    ) -> None:
        self._settings = settings
        #: The hosts of ACLs that are ranges, which releases before 4.4 take for names.
        self._ranges: dict[str, HostRange] = {}
        #: The ACLs by resource type, pattern type and name: a question looks at four entries of
        #: each, however many principals have ACLs for the resource.
        self._acls: dict[tuple[int, int, str], _Entries] = {}
        lengths: dict[int, set[int]] = {}
        for acl in acls:
            key = (acl.resource_type, acl.pattern_type, acl.resource_name)
            entry = acl.principal, acl.host
            bits = self._acls.setdefault(key, {}).setdefault(entry, [0, 0])
            bits[acl.permission_type == ALLOW] |= 1 << acl.operation
            if is_range(acl.host) and release.has_host_ranges:
                with suppress(ValueError):  # a log may have what no request can bring
                    self._ranges[acl.host] = host_range(acl.host)
            if acl.pattern_type == PREFIXED:
                lengths.setdefault(acl.resource_type, set()).add(len(acl.resource_name))
        #: Resource type → the lengths of the names in prefixed ACLs, shortest first.
        self._prefixes = {kind: sorted(found) for kind, found in lengths.items()}

    def allows(self, principal: str, host: str, operation: int, kind: int, name: str) -> bool:
        """Whether a principal ("User:alice") from an address may do an operation on a resource.

        An ACL that denies takes precedence over all that allow.
        """
        if principal in self._settings.super_users:
            return True
        has_acls = False
        denied = allowed = 0
        hosts = (host, ANYTHING, *self._ranges_around(host))
        for entries in self._about(kind, name):
            has_acls = True
            for who in (principal, ANYBODY):
                for where in hosts:
                    bits = entries.get((who, where))
                    if bits is not None:
                        denied |= bits[0]
                        allowed |= bits[1]
        wanted = 1 << ALL | 1 << operation
        if denied & wanted:
            return False
        implying = sum(1 << each for each in _IMPLIED.get(operation, ()))
        return bool(allowed & (wanted | implying)) or (
            not has_acls and self._settings.allow_without_acls
        )

    def allows_any(self, principal: str, host: str, operation: int, kind: int) -> bool:
        """Whether there may be a resource of a type on which a principal may do an operation.

        These are the names of ACLs, and a name without one (``authorizeByResourceType`` in Kafka).
        """
        names = {name for each, _, name in self._acls if each == kind}
        return any(
            self.allows(principal, host, operation, kind, name)
            for name in (*names, _NAME_WITHOUT_ACL)
        )

    def _ranges_around(self, host: str) -> list[str]:
        address = address_of(host) if self._ranges else None
        if address is None:
            return []
        return [name for name, each in self._ranges.items() if contains(each, address)]

    def _about(self, kind: int, name: str) -> Iterator[_Entries]:
        """The entries of the ACLs that apply to a resource."""
        keys = [(kind, LITERAL, name)]
        if name != ANYTHING:
            keys.append((kind, LITERAL, ANYTHING))
        for length in self._prefixes.get(kind, ()):
            if length > len(name):
                break
            keys.append((kind, PREFIXED, name[:length]))
        yield from (self._acls[each] for each in keys if each in self._acls)

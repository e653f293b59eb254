"""What the options of ``kap acls`` mean: resources, grants, operations, and what has no effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

import kafka_admin_proto.admin as admin

#: Type and name of a resource.
Resource = tuple[str, str]

#: Option → type of resource, for those that take names.
_NAMED = {
    "topic": "TOPIC",
    "group": "GROUP",
    "transactional_id": "TRANSACTIONAL_ID",
    "delegation_token": "DELEGATION_TOKEN",
    "user_principal": "USER",
}
_CLUSTER = "kafka-cluster"
OPERATIONS = (
    "All", "Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction",
    "DescribeConfigs", "AlterConfigs", "IdempotentWrite", "CreateTokens", "DescribeTokens",
    "TwoPhaseCommit",
)  # fmt: skip
#: What --producer and --consumer stand for: operations by type of resource.
_PRODUCER = {"TOPIC": ("WRITE", "DESCRIBE", "CREATE"), "TRANSACTIONAL_ID": ("WRITE", "DESCRIBE")}
_CONSUMER = {"TOPIC": ("READ", "DESCRIBE"), "GROUP": ("READ",)}
#: The operations that a resource has beside ALL, as Kafka's ``AclEntry.supportedOperations``.
_SUPPORTED = {
    "TOPIC": (
        "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
    ),
    "GROUP": ("READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    "CLUSTER": (
        "CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
        "IDEMPOTENT_WRITE",
    ),
    "TRANSACTIONAL_ID": ("WRITE", "DESCRIBE", "TWO_PHASE_COMMIT"),
    "DELEGATION_TOKEN": ("DESCRIBE",),
    "USER": ("CREATE_TOKENS", "DESCRIBE_TOKENS"),
}  # fmt: skip


def named_resources(options: dict[str, Any]) -> Iterator[Resource]:
    """The resources that the options of a command name."""
    for option, kind in _NAMED.items():
        for name in options[option]:
            yield kind, name
    if options["cluster"]:
        yield "CLUSTER", _CLUSTER


def granted(
    allow_principal: Sequence[str],
    allow_host: Sequence[str],
    deny_principal: Sequence[str],
    deny_host: Sequence[str],
) -> list[tuple[str, str, str]]:
    """Permission, principal and host of each grant. Raises click.UsageError for hosts of none."""
    for hosts, principals, kind in (
        (allow_host, allow_principal, "allow"),
        (deny_host, deny_principal, "deny"),
    ):
        if hosts and not principals:
            raise click.UsageError(f"--{kind}-host goes with --{kind}-principal")
    return [
        (permission, principal, host)
        for permission, principals, hosts in (
            ("ALLOW", allow_principal, allow_host),
            ("DENY", deny_principal, deny_host),
        )
        for principal in principals
        for host in hosts or ("*",)
    ]


def resource_operations(
    resources: Sequence[Resource],
    operations: Sequence[str],
    producer: bool,
    consumer: bool,
    idempotent: bool,
) -> list[tuple[Resource, str]]:
    """Each resource with each operation on it."""
    if idempotent and not producer:
        raise click.UsageError("--idempotent goes with --producer")
    pairs = [(resource, constant_of(each)) for resource in resources for each in operations]
    roles = [("--producer", _PRODUCER, {"TOPIC"})] * producer
    roles += [("--consumer", _CONSUMER, {"TOPIC", "GROUP"})] * consumer
    for role, meant, needed in roles:
        if lacking := needed - {kind for kind, _ in resources}:
            raise click.UsageError(f"{role} needs {' and '.join(map(_option, sorted(lacking)))}")
        pairs += [(each, name) for each in resources for name in meant.get(each[0], ())]
    if idempotent:
        pairs.append((("CLUSTER", _CLUSTER), "IDEMPOTENT_WRITE"))
    if not pairs:
        raise click.UsageError("name what to allow or deny: --operation, --producer or --consumer")
    for kind, _ in sorted({*resources} - {resource for resource, _ in pairs}):
        raise click.UsageError(
            f"{_option(kind)} has no effect with {' and '.join(role for role, *_ in roles)}: name "
            "an --operation on it too"
        )
    return list(dict.fromkeys(pairs))


def _option(kind: str) -> str:
    options = {named: option for option, named in _NAMED.items()}
    return f"--{options.get(kind, 'cluster').replace('_', '-')}"


def constant_of(operation: str) -> str:
    """Kafka's constant for an operation as its script spells it: ClusterAction."""
    return "".join(f"_{c}" if c.isupper() else c for c in operation).strip("_").upper()


def refuse_unsupported(pairs: Sequence[tuple[Resource, str]]) -> None:
    """Raise click.UsageError for an operation that its resource does not have: no broker asks."""
    for (kind, name), operation in pairs:
        if operation not in ("ALL", *_SUPPORTED[kind]):
            spelled = {constant_of(each): each for each in OPERATIONS}
            raise click.UsageError(
                f"{spelled[operation]} has no effect on {_option(kind)} {name}: what is allowed or "
                f"denied there is {', '.join(spelled[each] for each in (*_SUPPORTED[kind], 'ALL'))}"
            )


def literal_stars(acls: Sequence[admin.AclBinding]) -> list[str]:
    """A sentence for each * that is only a sign of a name: alone and literal it stands for all."""
    said = []
    for acl in acls:
        resource = f"{_option(acl.resource_type)} {acl.name}"
        if "*" in acl.name and acl.pattern_type is admin.PatternType.PREFIXED:
            said.append(
                f"{resource} is about names that begin with the sign *: for all names, give * "
                "without --resource-pattern-type prefixed"
            )
        elif "*" in acl.name and acl.name != "*":
            said.append(
                f"{resource} is about that one name, as * stands for all names only alone: "
                "--resource-pattern-type prefixed takes the beginning of names"
            )
        for text, whole in ((acl.principal.partition(":")[2], acl.principal), (acl.host, acl.host)):
            if "*" in text and text != "*":
                said.append(f"{whole} is one name with the sign *, which stands for all only alone")
    return list(dict.fromkeys(said))

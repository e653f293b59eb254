"""``kap acls``: create, delete and list access control lists, with the flags of Kafka's script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, Function, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES

if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.acls import AclBinding, AclFilter

#: What the commands use of the client.
_ACLS = ("acls:AclOperations",)

acls = lazy_group("acls", "Create, delete and list access control lists.")

#: Option → type of resource, for those that take names.
_NAMED = {
    "topic": "TOPIC",
    "group": "GROUP",
    "transactional_id": "TRANSACTIONAL_ID",
    "delegation_token": "DELEGATION_TOKEN",
    "user_principal": "USER",
}
#: The name of the one resource that is a cluster.
_CLUSTER = "kafka-cluster"
_OPERATIONS = (
    "All", "Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction",
    "DescribeConfigs", "AlterConfigs", "IdempotentWrite", "CreateTokens", "DescribeTokens",
    "TwoPhaseCommit",
)  # fmt: skip
#: What --producer and --consumer stand for: operations by type of resource.
_PRODUCER = {
    "TOPIC": ("WRITE", "DESCRIBE", "CREATE"),
    "TRANSACTIONAL_ID": ("WRITE", "DESCRIBE"),
}
_CONSUMER = {"TOPIC": ("READ", "DESCRIBE"), "GROUP": ("READ",)}

_Resource = tuple[str, str]


def _resources(function: Function) -> Function:
    """The options that name resources."""
    for option in reversed(
        (
            click.option("--topic", multiple=True, shell_complete=completion.topics,
                         help="A topic, or * for all; repeatable."),
            click.option("--group", multiple=True, shell_complete=completion.groups,
                         help="A group, or * for all; repeatable."),
            click.option("--cluster", is_flag=True, help="The cluster."),
            click.option("--transactional-id", multiple=True, help="A transactional id, or *."),
            click.option("--delegation-token", multiple=True, help="A delegation token, or *."),
            click.option("--user-principal", multiple=True, help="A user whose tokens are meant."),
        )
    ):  # fmt: skip
        function = option(function)
    return function


def _operation_option(function: Function) -> Function:
    return click.option(
        "--operation",
        multiple=True,
        type=click.Choice(_OPERATIONS, case_sensitive=False),
        help="An operation; repeatable.",
    )(function)


@acls.command("create", cls=ClusterCommand, items="acls", operations=_ACLS)
@click.option("--allow-principal", multiple=True, metavar="User:NAME", help="Whom to allow it.")
@click.option("--deny-principal", multiple=True, metavar="User:NAME", help="Whom to deny it.")
@click.option("--allow-host", multiple=True, help="From where to allow it; * by default.")
@click.option("--deny-host", multiple=True, help="From where to deny it; * by default.")
@_operation_option
@_resources
@click.option(
    "--resource-pattern-type",
    type=click.Choice(["literal", "prefixed"], case_sensitive=False),
    default="literal",
    show_default=True,
    help="Whether names are whole names or their beginnings.",
)
@click.option("--producer", is_flag=True, help="What a producer to the topics needs.")
@click.option("--consumer", is_flag=True, help="What a consumer of the topics in the groups needs.")
@click.option("--idempotent", is_flag=True, help="With --producer: IdempotentWrite as well.")
@click.option("--dry-run", is_flag=True, help="Say what would be created.")
def create(
    live: Live,
    allow_principal: tuple[str, ...],
    deny_principal: tuple[str, ...],
    allow_host: tuple[str, ...],
    deny_host: tuple[str, ...],
    operation: tuple[str, ...],
    resource_pattern_type: str,
    producer: bool,
    consumer: bool,
    idempotent: bool,
    dry_run: bool,
    **named: Any,
) -> Answer:
    """Create ACLs: each principal, host, operation and resource together make one.

    \b
    Examples:
      kap acls create --allow-principal User:bob --operation Read --topic orders
      kap acls create --allow-principal User:app --producer --topic orders-
          --resource-pattern-type prefixed
      kap acls create --deny-principal User:eve --operation All --cluster
    """
    resources = list(_named(named))
    if not resources:
        raise click.UsageError("name a resource: --topic, --group, --cluster, …")
    if not (allow_principal or deny_principal):
        raise click.UsageError("name a principal: --allow-principal User:NAME, or --deny-principal")
    pairs = _pairs(resources, operation, producer, consumer, idempotent)

    from kafka_admin_proto.admin.operations.acls import (
        AclBinding,
        AclOperation,
        AclPermission,
        PatternType,
        ResourceType,
    )

    wanted = [
        AclBinding(
            resource_type=ResourceType(kind),
            name=name,
            pattern_type=PatternType.LITERAL
            if kind == "CLUSTER"
            else PatternType(resource_pattern_type.upper()),
            principal=principal,
            host=host,
            operation=AclOperation(each),
            permission=AclPermission(permission),
        )
        for permission, principals, hosts in (
            ("ALLOW", allow_principal, allow_host),
            ("DENY", deny_principal, deny_host),
        )
        for principal in principals
        for host in hosts or ("*",)
        for (kind, name), each in pairs
    ]
    if dry_run:
        return _answer([_flat(each) for each in wanted], dry_run=True)
    results = live.ask(lambda client: client.create_acls(wanted))
    return _answer([_flat(each.acl, each.error, each.message) for each in results], dry_run=False)


def _filter_options(function: Function) -> Function:
    """The options that choose ACLs."""
    for option in reversed(
        (
            click.option("--principal", metavar="User:NAME", help="Those of this principal."),
            click.option("--host", help="Those for this host."),
            _operation_option,
            click.option("--permission", type=click.Choice(["allow", "deny"]), help="One of both."),
            _resources,
            click.option(
                "--resource-pattern-type",
                type=click.Choice(["any", "match", "literal", "prefixed"], case_sensitive=False),
                default="any",
                show_default=True,
                help="match: all that apply to a resource of that name.",
            ),
        )
    ):
        function = option(function)
    return function


@acls.command("list", cls=ClusterCommand, items="acls", operations=_ACLS)
@_filter_options
def list_acls(live: Live, **choice: Any) -> Answer:
    """List ACLs, all or those that the options choose.

    \b
    Examples:
      kap acls list
      kap acls list --principal User:bob
      kap acls list --topic orders --resource-pattern-type match
    """
    return _answer(_found(live, _filters(**choice)), dry_run=None)


@acls.command("delete", cls=ClusterCommand, items="acls", operations=_ACLS)
@_filter_options
@click.option("--dry-run", is_flag=True, help="Say what would be deleted.")
@YES
def delete(live: Live, dry_run: bool, yes: bool, **choice: Any) -> Answer:
    """Delete the ACLs that the options choose.

    \b
    Examples:
      kap acls delete --principal User:bob --topic orders --operation Read
      kap acls delete --principal User:eve --yes
    """
    filters = _filters(**choice)
    if len(filters) == 1 and filters[0] == type(filters[0])():
        raise click.UsageError("that would be all ACLs: say which, as with --principal or --topic")
    found = _found(live, filters)
    if dry_run or not found:
        return _answer(found, dry_run=dry_run)
    confirm(
        f"Delete {len(found)} ACL{'s' * (len(found) != 1)}?",
        yes=yes,
        names=[_sentence(row) for row in found],
    )
    results = live.ask(lambda client: client.delete_acls(filters))
    rows = [_flat(each.acl, each.error, each.message) for r in results for each in r.acls]
    whole = [failures.entry(each.error, each.message) for each in results if each.error]
    answer = _answer(rows, dry_run=False, more=whole)
    answer.document["maybe_repeated"] = any(each.maybe_repeated for each in results)
    if answer.document["maybe_repeated"]:
        note = "the answer to an earlier attempt was lost: what that one deleted is not listed"
        answer.notes = [*answer.notes, note]
    return answer


def _named(options: dict[str, Any]) -> Iterator[_Resource]:
    for option, kind in _NAMED.items():
        for name in options[option]:
            yield kind, name
    if options["cluster"]:
        yield "CLUSTER", _CLUSTER


def _pairs(
    resources: Sequence[_Resource],
    operations: Sequence[str],
    producer: bool,
    consumer: bool,
    idempotent: bool,
) -> list[tuple[_Resource, str]]:
    """Each resource with each operation on it."""
    pairs = [(resource, _constant(each)) for resource in resources for each in operations]
    for wanted, meant in ((producer, _PRODUCER), (consumer, _CONSUMER)):
        if wanted:
            pairs += [(each, name) for each in resources for name in meant.get(each[0], ())]
    if producer and idempotent:
        pairs.append((("CLUSTER", _CLUSTER), "IDEMPOTENT_WRITE"))
    if not pairs:
        raise click.UsageError("name what to allow or deny: --operation, --producer or --consumer")
    return list(dict.fromkeys(pairs))


def _constant(operation: str) -> str:
    """Kafka's constant for an operation as its script spells it: ClusterAction."""
    return "".join(f"_{c}" if c.isupper() else c for c in operation).strip("_").upper()


def _filters(
    *,
    principal: str | None,
    host: str | None,
    operation: tuple[str, ...],
    permission: str | None,
    resource_pattern_type: str,
    **named: Any,
) -> list[AclFilter]:
    from kafka_admin_proto.admin.operations.acls import (
        AclFilter,
        AclOperation,
        AclPermission,
        PatternType,
        ResourceType,
    )

    resources: list[tuple[str, str | None]] = list(_named(named)) or [("ANY", None)]
    return [
        AclFilter(
            resource_type=ResourceType(kind),
            name=name,
            principal=principal,
            host=host,
            operation=AclOperation(each),
            permission=AclPermission(permission.upper() if permission else "ANY"),
            pattern_type=PatternType(resource_pattern_type.upper()),
        )
        for kind, name in resources
        for each in (map(_constant, operation) if operation else ("ANY",))
    ]


def _found(live: Live, filters: Sequence[AclFilter]) -> list[Row]:
    async def ask(client: Any) -> list[AclBinding]:
        return [each for one in filters for each in await client.describe_acls(one)]

    return [_flat(each) for each in dict.fromkeys(live.ask(ask))]


def _flat(acl: AclBinding, error: str | None = None, message: str | None = None) -> Row:
    found = msgspec.to_builtins(acl)
    names = (
        "principal", "permission", "operation", "resource_type", "name", "pattern_type", "host",
    )  # fmt: skip
    return {**{name: found[name] for name in names}, "error": error, "message": message}


def _sentence(row: Row) -> str:
    return (
        f"{row['permission']} {row['principal']} from {row['host']} {row['operation']} on "
        f"{row['resource_type']} {row['name']} ({row['pattern_type']})"
    )


def _answer(rows: list[Row], *, dry_run: bool | None, more: Sequence[Row] = ()) -> Answer:
    errors = [failures.entry(row["error"], row["message"], {"acl": _sentence(row)})
              for row in rows if row["error"]]  # fmt: skip
    return Answer(
        document={"acls": rows} if dry_run is None else {"acls": rows, "dry_run": dry_run},
        tables=[Table(rows=rows, hidden=("error", "message"))],
        errors=[*more, *errors],
        notes=[] if rows else ["no ACL is like that"],
    )

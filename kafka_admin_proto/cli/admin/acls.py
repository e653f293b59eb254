"""``kap acls``: create, delete and list access control lists, with the flags of Kafka's script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.acl_arguments import (
    OPERATIONS,
    constant_of,
    granted,
    literal_stars,
    named_resources,
    refuse_unsupported,
    resource_operations,
)
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES, together
from kafka_admin_proto.cli.admin.common.parameters import Principal
from kafka_admin_proto.counts import counted

#: What the commands use of the client.
_ACLS = ("acls:AclOperations",)

acls = lazy_group("acls", "Create, delete and list access control lists.")

_NONE = "there are no ACLs"
_NO_MATCH = "no ACL matches what was asked for: kap acls list without options lists all"


_resources = together(
    click.option("--topic", multiple=True, shell_complete=completion.topics,
                 help="A topic, or * for all; repeatable."),
    click.option("--group", multiple=True, shell_complete=completion.groups,
                 help="A group, or * for all; repeatable."),
    click.option("--cluster", is_flag=True, help="The cluster."),
    click.option("--transactional-id", multiple=True, help="A transactional id, or *."),
    click.option("--delegation-token", multiple=True, help="A delegation token, or *."),
    click.option("--user-principal", multiple=True, help="A user whose tokens are meant."),
)  # fmt: skip


_operation_option = click.option(
    "--operation",
    multiple=True,
    type=click.Choice(OPERATIONS, case_sensitive=False),
    help="An operation; repeatable.",
)

#: The options of Kafka's script that say whom something is allowed or denied, and for what.
_grants = together(
    click.option("--allow-principal", type=Principal(), multiple=True,
                 metavar="User:NAME", help="Whom it is allowed."),
    click.option("--deny-principal", type=Principal(), multiple=True,
                 metavar="User:NAME", help="Whom it is denied."),
    click.option("--allow-host", multiple=True,
                 help="With --allow-principal: from where; * by default."),
    click.option("--deny-host", multiple=True,
                 help="With --deny-principal: from where; * by default."),
    click.option("--producer", is_flag=True, help="What a producer to the topics needs."),
    click.option("--consumer", is_flag=True,
                 help="What a consumer of the topics in the groups needs."),
    click.option("--idempotent", is_flag=True,
                 help="With --producer: IdempotentWrite as well."),
)  # fmt: skip


@acls.command("create", cls=ClusterCommand, items="acls", operations=_ACLS)
@_grants
@_operation_option
@_resources
@click.option(
    "--resource-pattern-type",
    type=click.Choice(["literal", "prefixed"], case_sensitive=False),
    default="literal",
    show_default=True,
    help="Whether names are whole names or their beginnings.",
)
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
    resources = list(named_resources(named))
    if not resources:
        raise click.UsageError("name a resource: --topic, --group, --cluster, …")
    if not (allow_principal or deny_principal):
        raise click.UsageError("name a principal: --allow-principal User:NAME, or --deny-principal")
    pairs = resource_operations(resources, operation, producer, consumer, idempotent)
    refuse_unsupported(pairs)

    wanted = [
        admin.AclBinding(
            resource_type=admin.ResourceType(kind),
            name=name,
            pattern_type=admin.PatternType.LITERAL
            if kind == "CLUSTER"
            else admin.PatternType(resource_pattern_type.upper()),
            principal=principal,
            host=host,
            operation=admin.AclOperation(each),
            permission=admin.AclPermission(permission),
        )
        for permission, principal, host in granted(
            allow_principal, allow_host, deny_principal, deny_host
        )
        for (kind, name), each in pairs
    ]
    notes = literal_stars(wanted)
    if dry_run:
        return _answer([_flat(each) for each in wanted], dry_run=True, notes=notes)
    results = live.ask(lambda client: client.create_acls(wanted))
    rows = [_flat(each.acl, each.error, each.message) for each in results]
    return _answer(rows, dry_run=False, notes=notes)


_filter_options = together(
    _grants,
    click.option(
        "--principal",
        type=Principal(),
        multiple=True,
        metavar="User:NAME",
        help="Those of this principal; repeatable.",
    ),
    click.option("--host", help="Those for this host."),
    _operation_option,
    click.option("--permission", type=click.Choice(["allow", "deny"]), help="One of both."),
    _resources,
    click.option(
        "--resource-pattern-type",
        type=click.Choice(["any", "match", "literal", "prefixed"], case_sensitive=False),
        help="literal by default where a resource is named, as with kafka-acls.sh. match: "
        "all that apply to a resource of that name.",
    ),
)


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
    filters = _filters(**choice)
    return _answer(_found(live, filters), dry_run=None, everything=filters == [admin.AclFilter()])


@acls.command("delete", cls=ClusterCommand, items="acls", operations=_ACLS)
@_filter_options
@click.option("--dry-run", is_flag=True, help="Say what would be deleted.")
@YES
def delete(live: Live, dry_run: bool, yes: bool, **choice: Any) -> Answer:
    """Delete the ACLs that the options choose.

    \b
    Examples:
      kap acls delete --principal User:bob --topic orders --operation Read
      kap acls delete --allow-principal User:app --producer --topic orders --yes
      kap acls delete --principal User:eve --yes
    """
    filters = _filters(**choice)
    if any(map(_chooses_nobody, filters)):
        raise click.UsageError(
            "that would be all ACLs: say which, with --principal, a --host or a resource as --topic"
        )
    to_delete = _found(live, filters)
    if dry_run or not to_delete:
        return _answer(to_delete, dry_run=dry_run)
    confirm(
        f"Delete {counted(len(to_delete), 'ACLs')}?",
        yes=yes,
        names=[_sentence(row) for row in to_delete],
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


def _chooses_nobody(filter: admin.AclFilter) -> bool:
    """Whether neither who nor what is chosen: "all that allow" are as good as all."""
    return filter.name is None and filter.principal is None and filter.host in (None, "*")


def _filters(
    *,
    principal: tuple[str, ...],
    host: str | None,
    operation: tuple[str, ...],
    permission: str | None,
    resource_pattern_type: str | None,
    allow_principal: tuple[str, ...],
    deny_principal: tuple[str, ...],
    allow_host: tuple[str, ...],
    deny_host: tuple[str, ...],
    producer: bool,
    consumer: bool,
    idempotent: bool,
    **named: Any,
) -> list[admin.AclFilter]:
    grants: list[tuple[str, str | None, str | None]] = []
    grants += granted(allow_principal, allow_host, deny_principal, deny_host)
    if grants and (principal or host or permission):
        raise click.UsageError(
            "--allow-principal and --deny-principal say all that --principal, --host and "
            "--permission do: leave these out"
        )
    given = list(named_resources(named))
    pattern = (resource_pattern_type or ("literal" if given else "any")).upper()
    if pattern == "MATCH" and not given:
        raise click.UsageError(
            "--resource-pattern-type match is about a resource: say which, as with --topic"
        )
    plain = [((permission or "any").upper(), each, host) for each in principal or (None,)]
    resources: Sequence[tuple[str, str | None]] = given or [("ANY", None)]
    pairs: list[tuple[tuple[str, str | None], str]] = []
    if producer or consumer or idempotent:
        pairs += resource_operations(given, operation, producer, consumer, idempotent)
    else:
        pairs += product(resources, map(constant_of, operation or ("Any",)))
    return [
        admin.AclFilter(
            resource_type=admin.ResourceType(kind),
            name=name,
            principal=whom,
            host=where,
            operation=admin.AclOperation(each),
            permission=admin.AclPermission(what),
            pattern_type=admin.PatternType(
                "LITERAL" if kind == "CLUSTER" and pattern == "PREFIXED" else pattern
            ),
        )
        for (kind, name), each in pairs
        for what, whom, where in grants or plain
    ]


def _found(live: Live, filters: Sequence[admin.AclFilter]) -> list[Row]:
    bindings = [
        each
        for one in filters
        for each in live.ask(lambda client, one=one: client.describe_acls(one))  # type: ignore[misc]
    ]
    return [_flat(each) for each in dict.fromkeys(bindings)]


def _flat(acl: admin.AclBinding, error: str | None = None, message: str | None = None) -> Row:
    fields = msgspec.to_builtins(acl)
    names = (
        "principal", "permission", "operation", "resource_type", "name", "pattern_type", "host",
    )  # fmt: skip
    return {**{name: fields[name] for name in names}, "error": error, "message": message}


def _sentence(row: Row) -> str:
    return (
        f"{row['permission']} {row['principal']} from {row['host']} {row['operation']} on "
        f"{row['resource_type']} {row['name']} ({row['pattern_type']})"
    )


def _answer(
    rows: list[Row],
    *,
    dry_run: bool | None,
    more: Sequence[Row] = (),
    everything: bool = False,
    notes: Sequence[str] = (),
) -> Answer:
    errors = [failures.entry(row["error"], row["message"], {"acl": _sentence(row)})
              for row in rows if row["error"]]  # fmt: skip
    return Answer(
        document={"acls": rows} if dry_run is None else {"acls": rows, "dry_run": dry_run},
        tables=[Table(rows=rows, hidden=("error", "message"))],
        errors=[*more, *errors],
        notes=[*notes] if rows else [_NONE if everything else _NO_MATCH],
    )

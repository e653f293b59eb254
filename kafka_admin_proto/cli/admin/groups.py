"""``kap groups``: list, describe and delete groups of any type, and remove their members."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import NONE_SEEN, Answer, Row, Table, listed, picked
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, Option, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES, listed_option
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError

_OPERATIONS = ("groups:GroupOperations",)

groups = lazy_group("groups", "List, describe and delete groups; remove members.")

_NO_MATCH = "no group is as the options say: kap groups list without options lists all"


def _group_option(help: str) -> Option:
    return click.option("--group", "-g", multiple=True, shell_complete=completion.groups, help=help)


@groups.command("list", cls=ClusterCommand, items="groups", operations=_OPERATIONS)
@listed_option("--state", "STATE,STATE", "Stable, Empty, Dead …; repeatable.")
@listed_option("--type", "TYPE,TYPE", "classic, consumer, share or streams; repeatable.")
def list_groups(live: Live, state: tuple[str, ...], type: tuple[str, ...]) -> Answer:
    """List groups, all or those in these states and of these types.

    \b
    Examples:
      kap groups list
      kap groups list --state Empty --output tsv
    """
    document = live.row(lambda client: client.list_groups(states=state, types=type))
    rows, failed = document["groups"], document["failed"]
    return Answer(
        document={"groups": rows},
        tables=[Table(rows=rows)],
        errors=failures.entries("broker", failed, "broker"),
        notes=[]
        if rows or failed
        else [_NO_MATCH if state or type else NONE_SEEN.format("groups")],
    )


@groups.command(
    "describe", cls=ClusterCommand, items="groups", operations=("groups.lag:LagOperations",)
)
@click.argument("ids", nargs=-1, metavar="[GROUP]...", shell_complete=completion.groups)
@_group_option("A group; repeatable.")
@click.option("--all-groups", is_flag=True, help="All groups.")
@click.option("--members", is_flag=True, help="A row for each member.")
@click.option("--offsets", is_flag=True, help="A row for each partition: default.")
@click.option("--state", is_flag=True, help="A row for each group.")
def describe(
    live: Live,
    ids: tuple[str, ...],
    group: tuple[str, ...],
    all_groups: bool,
    members: bool,
    offsets: bool,
    state: bool,
) -> Answer:
    """Describe groups: state, members with what they read, committed offsets and lag.

    A partition that a member reads is there without a committed offset, too: its lag is unknown.
    JSON has all of it; --members, --offsets and --state choose what tables and TSV show.

    \b
    Examples:
      kap groups describe billing
      kap groups describe billing --members
      kap groups describe --all-groups --output json
    """
    given = [*ids, *group]
    if all_groups == bool(given):
        raise click.UsageError("name the groups to describe, or give --all-groups")
    if members + offsets + state > 1:
        raise click.UsageError("choose one of --members, --offsets and --state")
    shown = "members" if members else "state" if state else "offsets"

    failed: Sequence[admin.BrokerFailure] = ()
    if all_groups:
        # A broker that does not answer leaves the groups of the others half the time.
        everything = live.ask(lambda client: client.list_groups(timeout=client.default_timeout / 2))
        given, failed = [each.group_id for each in everything.groups], everything.failed
    lags = live.ask(lambda client: client.describe_group_lags(given))
    items: list[Row] = [
        {
            **msgspec.to_builtins(each.group),
            "offsets": msgspec.to_builtins(each.offsets),
            "error": each.error,
            "message": each.message,
        }
        for each in lags
    ]
    errors = failures.entries("group", items, "group_id")
    if any(error["error"] == "GROUP_ID_NOT_FOUND" for error in errors):
        with contextlib.suppress(KafkaAdminProtoError):  # as when the time is over
            listing = live.ask(lambda client: client.list_groups())
            failures.near_misses(errors, "group", [each.group_id for each in listing.groups])
    errors += failures.entries("broker", msgspec.to_builtins(failed), "broker")
    rows = {"members": _member_rows, "state": _state_rows, "offsets": _offset_rows}[shown]
    fine = [item for item in items if not item["error"]]
    for item in fine:
        errors += failures.partition_entries(item["offsets"], group=item["group_id"])
    notes = [note for each in lags if not each.error
             for note in _notes(each.group, bool(each.offsets), shown)]  # fmt: skip
    return Answer(
        document={"groups": items},
        tables=[Table(rows=rows(fine), absent="-")],
        errors=errors,
        notes=notes if items or errors else [NONE_SEEN.format("groups")],
    )


@groups.command("delete", cls=ClusterCommand, items="groups", operations=_OPERATIONS)
@click.argument("ids", nargs=-1, metavar="[GROUP]...", shell_complete=completion.groups)
@_group_option("A group; repeatable.")
@YES
def delete(live: Live, ids: tuple[str, ...], group: tuple[str, ...], yes: bool) -> Answer:
    """Delete groups without members, and their committed offsets.

    \b
    Example:
      kap groups delete billing
    """
    given = list(dict.fromkeys([*ids, *group]))
    if not given:
        raise click.UsageError("name the groups to delete")
    confirm(
        f"Delete {counted(len(given), 'groups')} and all committed offsets?", yes=yes, names=given
    )
    items = live.rows(lambda client: client.delete_groups(given))
    fine = [item["group_id"] for item in items if not item["error"]]
    return listed(
        "groups",
        items,
        failures.entries("group", items, "group_id"),
        [f"deleted: {', '.join(fine)}"] if fine else [],
    )


@groups.command("remove-members", cls=ClusterCommand, items="members", operations=_OPERATIONS)
@click.argument("group", metavar="GROUP", shell_complete=completion.groups)
@click.option("--member", multiple=True, help="A member by its id; repeatable.")
@click.option("--instance", multiple=True, help="A static member by its instance id; repeatable.")
@click.option("--all-members", is_flag=True, help="All members.")
@click.option("--reason", help="What the broker's log is to say.")
@YES
def remove_members(
    live: Live,
    group: str,
    member: tuple[str, ...],
    instance: tuple[str, ...],
    all_members: bool,
    reason: str | None,
    yes: bool,
) -> Answer:
    """Remove members from a group: the others take over what they read.

    \b
    Example:
      kap groups remove-members billing --instance host-7
    """
    if all_members == bool(member or instance):
        raise click.UsageError(
            "name the members with --member or --instance, or all: --all-members"
        )
    whom = "all members" if all_members else ", ".join([*member, *instance])
    confirm(f"Remove {whom} from {group}?", yes=yes)

    members = [
        *(admin.MemberToRemove(member_id=each) for each in member),
        *(admin.MemberToRemove(instance_id=each) for each in instance),
    ]
    items = live.rows(
        lambda client: client.remove_group_members(group, members or None, reason=reason)
    )
    return Answer(
        document={"group_id": group, "members": items},
        tables=[Table(rows=items, hidden=("error", "message"))],
        errors=[
            *failures.entries("member", [each for each in items if each["member_id"]], "member_id"),
            *failures.entries(
                "instance", [each for each in items if not each["member_id"]], "instance_id"
            ),
        ],
        notes=[f"removed {sum(not item['error'] for item in items)} of {len(items)}"],
    )


def _notes(group: admin.GroupDescription, committed: bool, shown: str) -> Iterator[str]:
    """Sentences about what the table of a group cannot show."""
    from kafka_admin_proto.admin.operations.groups.lag import idle_members

    if shown == "state":
        return
    if not group.members:
        more = "" if committed or shown == "members" else " and no committed offsets"
        yield f"group {group.group_id} has no members{more}"
    elif (idle := len(idle_members(group))) and shown != "members":
        some = counted(idle, "members")
        yield f"group {group.group_id} has {some} without partitions: --members lists all"


def _offset_rows(items: Sequence[Row]) -> list[Row]:
    names = ("topic", "partition", "offset", "end_offset", "lag")
    return [
        {"group": item["group_id"], **picked(each, *names), "member": each["member_id"]}
        for item in items
        for each in item["offsets"]
    ]


def _member_rows(items: Sequence[Row]) -> list[Row]:
    return [
        {
            "group": item["group_id"],
            "member": each["member_id"],
            "instance": each["instance_id"],
            "client": each["client_id"],
            "host": each["host"],
            "epoch": each["epoch"],
            "assignment": {a["topic"]: a["partitions"] for a in each["assignment"] or ()},
        }
        for item in items
        for each in item["members"]
    ]


def _state_rows(items: Sequence[Row]) -> list[Row]:
    names = ("type", "state", "protocol", "coordinator", "epoch")
    return [
        {"group": item["group_id"], **picked(item, *names), "members": len(item["members"])}
        for item in items
    ]

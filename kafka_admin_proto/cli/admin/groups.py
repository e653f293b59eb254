"""``kap groups``: list, describe and delete groups of any type, and remove their members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, Option, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES

_OPERATIONS = ("groups:GroupOperations", "partitions.records:RecordOperations")

groups = lazy_group("groups", "List, describe and delete groups; remove members.")

#: The message for a group that brokers before 4.0 describe as dead, without an error.
NO_SUCH_GROUP = "There is no group of that name."

_TYPES = click.Choice(["classic", "consumer", "share", "streams"], case_sensitive=False)


def _group_option(help: str) -> Option:
    return click.option("--group", "-g", multiple=True, shell_complete=completion.groups, help=help)


@groups.command("list", cls=ClusterCommand, items="groups", operations=_OPERATIONS)
@click.option("--state", multiple=True, help="Stable, Empty, Dead …; repeatable.")
@click.option("--type", "types", type=_TYPES, multiple=True, help="Repeatable.")
def list_groups(live: Live, state: tuple[str, ...], types: tuple[str, ...]) -> Answer:
    """List groups, all or those in these states and of these types.

    \b
    Examples:
      kap groups list
      kap groups list --state Empty --output tsv
    """
    found = live.ask(lambda client: client.list_groups(states=state, types=types))
    document: Row = msgspec.to_builtins(found)
    return Answer(
        document={"groups": document["groups"]},
        tables=[Table(rows=document["groups"])],
        errors=failures.entries("broker", document["failed"], "broker"),
        notes=[] if document["groups"] else ["no groups"],
    )


@groups.command("describe", cls=ClusterCommand, items="groups", operations=_OPERATIONS)
@click.argument("ids", nargs=-1, metavar="[GROUP]...", shell_complete=completion.groups)
@_group_option("A group; repeatable.")
@click.option("--all-groups", is_flag=True, help="All groups.")
@click.option("--members", "shown", flag_value="members", help="A row for each member.")
@click.option("--offsets", "shown", flag_value="offsets", help="A row for each partition: default.")
@click.option("--state", "shown", flag_value="state", help="A row for each group.")
def describe(
    live: Live, ids: tuple[str, ...], group: tuple[str, ...], all_groups: bool, shown: str | None
) -> Answer:
    """Describe groups: state, members with what they read, committed offsets and lag.

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

    async def ask(client: Any) -> tuple[Any, Any, Any, Any]:
        wanted, failed = given, ()
        if all_groups:
            listing = await client.list_groups()
            wanted, failed = [each.group_id for each in listing.groups], listing.failed
        described = await client.describe_groups(wanted)
        known = [each.group_id for each in described if each.error is None]
        offsets = await client.list_group_offsets(dict.fromkeys(known)) if known else []
        partitions = {(o.topic, o.partition) for each in offsets for o in each.offsets}
        ends = await client.list_offsets(dict.fromkeys(sorted(partitions), "latest"))
        return described, offsets, ends if partitions else [], failed

    described, offsets, ends, failed = live.ask(ask)
    items = _with_offsets(described, offsets, ends)
    for item in items:
        if item["state"] == "Dead" and item["error"] is None:
            item["error"], item["message"] = "GROUP_ID_NOT_FOUND", NO_SUCH_GROUP
    errors = failures.entries("group", items, "group_id")
    if any(error["error"] == "GROUP_ID_NOT_FOUND" for error in errors):
        listing = live.ask(lambda client: client.list_groups())
        failures.near_misses(errors, "group", [each.group_id for each in listing.groups])
    errors += failures.entries("broker", msgspec.to_builtins(failed), "broker")
    errors += _end_errors(items, ends)
    rows = {"members": _member_rows, "state": _state_rows}.get(shown or "", _offset_rows)
    fine = [item for item in items if not item["error"]]
    return Answer(
        document={"groups": items},
        tables=[Table(rows=rows(fine))],
        errors=errors,
        notes=[] if rows(fine) or errors else ["nothing to show: no members, no offsets"],
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
        f"Delete {len(given)} group{'s' * (len(given) != 1)} and all committed offsets?",
        yes=yes,
        names=given,
    )
    items: list[Row] = msgspec.to_builtins(live.ask(lambda client: client.delete_groups(given)))
    fine = [item["group_id"] for item in items if not item["error"]]
    return Answer(
        document={"groups": items},
        tables=[Table(rows=items, hidden=("error", "message"))],
        errors=failures.entries("group", items, "group_id"),
        notes=[f"deleted: {', '.join(fine)}"] if fine else [],
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

    def ask(client: Any) -> Any:
        from kafka_admin_proto.admin.operations.groups.model import MemberToRemove

        members = [
            *(MemberToRemove(member_id=each) for each in member),
            *(MemberToRemove(instance_id=each) for each in instance),
        ]
        return client.remove_group_members(group, None if all_members else members, reason=reason)

    items: list[Row] = msgspec.to_builtins(live.ask(ask))
    return Answer(
        document={"group_id": group, "members": items},
        tables=[Table(rows=items, hidden=("error", "message"))],
        errors=failures.entries("member", items, "member_id"),
        notes=[f"removed {sum(not item['error'] for item in items)} of {len(items)}"],
    )


def _with_offsets(described: Any, offsets: Any, ends: Any) -> list[Row]:
    """The descriptions, each with the offsets of its group and how far they are from the end."""
    end_of = {(each.topic, each.partition): each.offset for each in ends if not each.error}
    of_group = {each.group_id: msgspec.to_builtins(each) for each in offsets}
    items: list[Row] = msgspec.to_builtins(described)
    for item in items:
        found = of_group.get(item["group_id"], {"offsets": [], "error": None, "message": None})
        readers = {
            (each["topic"], partition): member
            for member in item["members"]
            for each in member["assignment"] or ()
            for partition in each["partitions"]
        }
        for each in found["offsets"]:
            key = (each["topic"], each["partition"])
            end = end_of.get(key)
            each["end_offset"] = end
            known = end is not None and each["offset"] is not None
            each["lag"] = end - each["offset"] if known else None
            member = readers.get(key)
            each["member_id"] = None if member is None else member["member_id"]
        item["offsets"] = found["offsets"]
        if item["error"] is None and found["error"] is not None:
            item["error"], item["message"] = found["error"], found["message"]
    return items


def _end_errors(items: Sequence[Row], ends: Any) -> list[Row]:
    """An entry for each partition whose lag is unknown because the end of its log is."""
    failed = {(each.topic, each.partition): each for each in ends if each.error}
    return [
        failures.entry(
            end.error,
            end.message,
            {"group": item["group_id"], "topic": end.topic, "partition": end.partition},
        )
        for item in items
        for each in item["offsets"]
        if (end := failed.get((each["topic"], each["partition"]))) is not None
    ]


def _offset_rows(items: Sequence[Row]) -> list[Row]:
    return [
        {
            "group": item["group_id"],
            "topic": each["topic"],
            "partition": each["partition"],
            "offset": each["offset"],
            "end_offset": each["end_offset"],
            "lag": each["lag"],
            "member": each["member_id"],
        }
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
    return [
        {
            "group": item["group_id"],
            "type": item["type"],
            "state": item["state"],
            "protocol": item["protocol"],
            "coordinator": item["coordinator"],
            "epoch": item["epoch"],
            "members": len(item["members"]),
        }
        for item in items
    ]

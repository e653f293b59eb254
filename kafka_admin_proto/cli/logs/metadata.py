"""``kap metadata``: the state of a cluster from its metadata log, and what changed in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.captures.inputs import check_readable
from kafka_admin_proto.cli.output import compact_json, print_table, printable
from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.records.metadata.cluster_state import Change, Items, diff
from kafka_admin_proto.records.metadata.log import LogProblem, Replayed, replay
from kafka_admin_proto.records.metadata.quorum_leader import QUORUM_STATE

#: Kind → what its table is headed, and the fields in it; the others are in JSON alone.
_TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "features": ("feature", ("featureLevel", "release")),
    "voters": ("voter", ("endpoints", "voterDirectoryId", "kRaftVersions")),
    "controllers": ("controller", ("endPoints", "incarnationId")),
    "brokers": (
        "broker",
        ("fenced", "inControlledShutdown", "brokerEpoch", "rack", "endPoints", "logDirs"),
    ),
    "topics": ("topic", ("topicId", "partitions")),
    "partitions": (
        "partition",
        (
            "leader", "replicas", "isr", "addingReplicas", "removingReplicas",
            "eligibleLeaderReplicas", "lastKnownElr", "leaderEpoch", "partitionEpoch",
        ),
    ),
    "acls": (
        "acl",
        (
            "principal", "host", "permissionType", "operation", "resourceType", "patternType",
            "resourceName",
        ),
    ),
    "scram_users": ("SCRAM user", ("iterations",)),
    "delegation_tokens": (
        "delegation token",
        ("owner", "issueTimestamp", "expirationTimestamp", "maxTimestamp", "renewers"),
    ),
    "producer_ids": ("producer ids", ("nextProducerId",)),
    "zk_migration": ("ZooKeeper migration", ("zkMigrationState",)),
}  # fmt: skip
#: Kinds whose fields differ from item to item: a row for each.
_LISTS = {"configs": ("resource", "config", "value"), "quotas": ("entity", "quota", "value")}


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--at", type=click.IntRange(0), help="After the record at this offset, not the last.")
@click.option(
    "--diff",
    "between",
    nargs=2,
    type=click.IntRange(0),
    metavar="A B",
    help="What differs after the record at offset B from after that at A.",
)
@click.option("--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--show-secrets", is_flag=True, help="Do not mask configs that hold passwords.")
def metadata(
    folder: str,
    at: int | None,
    between: tuple[int, int] | None,
    output: str,
    show_secrets: bool,
) -> None:
    """Replay a KRaft metadata log into the state of its cluster.

    DIR is a folder __cluster_metadata-0, or a broker's or controller's log.dirs folder that has
    one. The newest snapshot at or below the offset is read, then the segments. Records of a
    transaction count when it has ended. The last records may not be committed yet. The active
    controller is who leads the last epoch, by the log's LEADER_CHANGE records or, without --at, a
    file quorum-state in the folder.

    \b
    Examples:
      kap metadata /var/kafka
      kap metadata /var/kafka/__cluster_metadata-0 --at 4711 --output json
      kap metadata /var/kafka --diff 4000 4711

    \b
    Exit codes: 0 fine, 1 something did not decode or is missing, 2 usage.
    """
    if between is not None and at is not None:
        raise click.UsageError("--diff and --at exclude each other")
    check_readable([folder], folders=True)
    try:
        if between is None:
            found = [replay(folder, at)]
        else:
            found = [replay(folder, offset) for offset in between]
    except MetadataLogError as error:
        raise click.UsageError(printable(str(error))) from None
    problems = list(dict.fromkeys(problem for each in found for problem in each.problems))
    if between is None:
        show = _show_json if output == "json" else _show_tables
        show(found[0], problems, not show_secrets)
    else:
        changes = diff(found[0].state, found[1].state, mask=not show_secrets)
        show_changes = _show_changes_json if output == "json" else _show_changes
        show_changes(between, changes, problems)
    for problem in problems:
        click.echo(printable(str(problem)), err=True)
    sys.exit(1 if problems else 0)


def _show_json(found: Replayed, problems: list[LogProblem], mask: bool) -> None:
    _echo_json(
        {
            "offset": found.state.offset,
            "epoch": found.state.epoch,
            "metadataVersion": found.state.metadata_version,
            "snapshot": found.snapshot or None,
            "activeController": msgspec.to_builtins(found.leader),
            "unfinishedTransactionSince": found.unfinished_since,
            "state": found.state.items(mask=mask),
            "problems": msgspec.to_builtins(problems),
        }
    )


def _show_changes_json(
    between: tuple[int, int], changes: list[Change], problems: list[LogProblem]
) -> None:
    _echo_json(
        {
            "from": between[0],
            "to": between[1],
            "changes": msgspec.to_builtins(changes),
            "problems": msgspec.to_builtins(problems),
        }
    )


def _echo_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _show_tables(found: Replayed, problems: list[LogProblem], mask: bool) -> None:
    state = found.state
    start = f"snapshot {found.snapshot}" if found.snapshot else "the log's start"
    version = state.metadata_version or "not set"
    click.echo(
        f"offset {state.offset}, epoch {state.epoch}, metadata.version {version}, from {start}"
    )
    click.echo(_active_controller(found))
    if found.unfinished_since is not None:
        click.echo(
            f"the transaction begun at offset {found.unfinished_since} has not ended by then: "
            "its records do not count"
        )
    items = state.items(mask=mask)
    for kind, named in items.items():
        if not named:
            continue
        if kind in _LISTS:
            columns: tuple[str, ...] = _LISTS[kind]
            rows = _list_rows(items, kind)
        else:
            heading, fields = _TABLES[kind]
            columns = (heading, *fields)
            rows = [[name, *(_cell(shown.get(field)) for field in fields)]
                    for name, shown in named.items()]  # fmt: skip
        click.echo()
        print_table(columns, [[printable(cell) for cell in row] for row in rows])


def _active_controller(found: Replayed) -> str:
    leader = found.leader
    if leader is None:
        return (
            f"active controller not known: no LEADER_CHANGE of epoch {found.state.epoch} in the "
            f"log, nor a file {QUORUM_STATE} that names one"
        )
    source = f"{leader.source}{'' if leader.offset is None else f' at offset {leader.offset}'}"
    who = "none elected" if leader.id is None else leader.id
    return f"active controller {who} in epoch {leader.epoch} ({source})"


def _list_rows(items: Items, kind: str) -> list[list[str]]:
    return [
        [name, field, _cell(value)]
        for name, fields in items[kind].items()
        for field, value in fields.items()
    ]


def _show_changes(
    between: tuple[int, int], changes: list[Change], problems: list[LogProblem]
) -> None:
    if not changes:
        click.echo(f"nothing differs between offsets {between[0]} and {between[1]}")
        return
    columns = ("change", "kind", "name", "field", "before", "after")
    rows = []
    for change in changes:
        texts = (_cell(value) for value in (change.before, change.after))
        cells = (change.change, change.kind.replace("_", " "), change.name, change.field, *texts)
        rows.append([printable(cell) for cell in cells])
    print_table(columns, rows)


def _cell(value: Any) -> str:
    """A JSON value as a cell: lists with commas, endpoints as URLs."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return (" " if any(isinstance(each, dict) for each in value) else ",").join(
            _cell(each) for each in value
        )
    if not isinstance(value, dict):
        return value if isinstance(value, str) else compact_json(value)
    if "port" in value:
        protocol = value.get("securityProtocol")
        protocol = f"({protocol})" if protocol not in (None, value["name"]) else ""
        return f"{value['name']}://{value['host']}:{value['port']}{protocol}"
    return _pairs(value.items())


def _pairs(fields: Iterable[tuple[str, Any]]) -> str:
    return " ".join(f"{name}={_cell(value)}" for name, value in fields if value not in (None, []))

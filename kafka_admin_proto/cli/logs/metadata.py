"""``kap metadata``: the state of a cluster from its metadata log, and what changed in it."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common.settings import is_said, shared_options
from kafka_admin_proto.cli.captures.readable import check_readable
from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.logs.cells import state_cell
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.output import print_table, printable, printable_json
from kafka_admin_proto.cli.without_effect import refuse
from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.records.metadata.batch_replay import LogProblem
from kafka_admin_proto.records.metadata.cluster_state import Change, Items, diff
from kafka_admin_proto.records.metadata.log import Replayed, replay
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

#: Options of commands for a cluster that --follow has too.
_CLUSTER_OPTIONS = ("bootstrap_controller", "command_config", "trace")


@click.command(
    cls=GivenOnceCommand,
    params=[each for each in shared_options("table") if each.name in _CLUSTER_OPTIONS],
)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False))
@click.option("--at", type=WholeNumber(0), help="After the record at this offset, not the last.")
@click.option(
    "--diff",
    "between",
    nargs=2,
    type=WholeNumber(0),
    metavar="A B",
    help="What differs after the record at offset B from after that at A.",
)
@click.option(
    "--follow", "-f", "follows", is_flag=True,
    help="In place of DIR: what the quorum commits, as it comes, until Ctrl-C.",
)  # fmt: skip
@click.option(
    "--from", "begin", type=WholeNumber(0), metavar="OFFSET",
    help="With --follow: from the record at this offset on; what comes from now on by default.",
)  # fmt: skip
@click.option(
    "--until", type=WholeNumber(0), metavar="OFFSET",
    help="With --follow: end behind the record at this offset.",
)  # fmt: skip
@click.option(
    "--output", "-o", type=click.Choice(["table", "json", "jsonl"]), default="table",
    show_default=True,
    help="json for a state, jsonl for the records of --follow.",
)  # fmt: skip
@click.option("--show-secrets", is_flag=True, help="Do not mask configs that hold passwords.")
def metadata(
    folder: str | None,
    at: int | None,
    between: tuple[int, int] | None,
    follows: bool,
    begin: int | None,
    until: int | None,
    output: str,
    show_secrets: bool,
    **cluster: Any,
) -> None:
    """Replay a KRaft metadata log into the state of its cluster, or follow it as it grows.

    DIR is a folder __cluster_metadata-0, or a broker's or controller's log.dirs folder that has
    one. The newest snapshot at or below the offset is read, then the segments. Records of a
    transaction count when it has ended. The last records may not be committed yet. The active
    controller is who leads the last epoch, by the log's LEADER_CHANGE records or, without --at, a
    file quorum-state in the folder.

    --follow asks the controllers of Kafka 3.7 or newer, as an observer that the quorum does not
    see. It shows committed records alone: what each batch of them changes, or with --output jsonl
    the records. Elections and lost controllers are waited for. With an authorizer it needs
    ClusterAction on the cluster.

    \b
    Examples:
      kap metadata /var/kafka
      kap metadata /var/kafka/__cluster_metadata-0 --at 4711 --output json
      kap metadata /var/kafka --diff 4000 4711
      kap metadata --follow --bootstrap-controller localhost:9093
      kap metadata --follow --bootstrap-controller localhost:9093 --from 0 --output jsonl

    \b
    Exit codes: 0 fine, 1 something did not decode or is missing, 2 usage.
    """
    if follows:
        _follow(folder, begin, until, output, not show_secrets, cluster)
        return
    refuse("a folder: it goes with --follow", "begin", "until")
    context = click.get_current_context()
    for name in _CLUSTER_OPTIONS:
        if is_said(context, name):  # the environment may name a cluster for other commands
            refuse("a folder: it goes with --follow", name)
    if folder is None:
        raise click.UsageError("Missing argument 'DIR', or --follow")
    if output == "jsonl":
        raise click.UsageError("--output jsonl is for --follow; a state is one document: json")
    if between is not None and at is not None:
        raise click.UsageError("--diff and --at exclude each other")
    check_readable([folder])
    try:
        if between is None:
            states = [replay(folder, at)]
        else:
            states = [replay(folder, offset) for offset in between]
    except MetadataLogError as error:
        raise click.UsageError(printable(str(error))) from None
    problems = list(dict.fromkeys(problem for each in states for problem in each.problems))
    if between is None:
        show = _show_json if output == "json" else _show_tables
        show(states[0], problems, not show_secrets)
    else:
        changes = diff(states[0].state, states[1].state, mask=not show_secrets)
        show_changes = _show_changes_json if output == "json" else _show_changes
        show_changes(between, changes, problems)
    for problem in problems:
        click.echo(printable(str(problem)), err=True)
    sys.exit(1 if problems else 0)


def _follow(
    folder: str | None,
    begin: int | None,
    until: int | None,
    output: str,
    mask: bool,
    cluster: dict[str, Any],
) -> None:
    from kafka_admin_proto.cli.logs.following import follow  # which loads the client

    refuse("--follow", "at", "between")
    if folder is not None:
        raise click.UsageError("--follow asks a quorum: it goes without DIR")
    if output == "json":
        raise click.UsageError(
            "--output json is whole at its end, and --follow has none: take jsonl"
        )
    if begin is not None and until is not None and until < begin:
        raise click.UsageError(f"--until {until} is before --from {begin}")
    sys.exit(follow(cluster, begin, until, as_records=output == "jsonl", mask=mask))


def _show_json(replayed: Replayed, problems: list[LogProblem], mask: bool) -> None:
    _echo_json(
        {
            "offset": replayed.state.offset,
            "epoch": replayed.state.epoch,
            "metadataVersion": replayed.state.metadata_version,
            "snapshot": replayed.snapshot or None,
            "activeController": msgspec.to_builtins(replayed.leader),
            "unfinishedTransactionSince": replayed.unfinished_since,
            "state": replayed.state.items(mask=mask),
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
    click.echo(printable_json(json.dumps(value, ensure_ascii=False, indent=2)))


def _show_tables(replayed: Replayed, problems: list[LogProblem], mask: bool) -> None:
    state = replayed.state
    start = f"snapshot {replayed.snapshot}" if replayed.snapshot else "the log's start"
    version = state.metadata_version or "not set"
    click.echo(
        f"offset {state.offset}, epoch {state.epoch}, metadata.version {version}, from {start}"
    )
    click.echo(_active_controller(replayed))
    if replayed.unfinished_since is not None:
        click.echo(
            f"the transaction begun at offset {replayed.unfinished_since} has not ended by then: "
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
            rows = [[name, *(state_cell(shown.get(field)) for field in fields)]
                    for name, shown in named.items()]  # fmt: skip
        click.echo()
        print_table(columns, [[printable(cell) for cell in row] for row in rows])


def _active_controller(replayed: Replayed) -> str:
    leader = replayed.leader
    if leader is None:
        return (
            f"active controller not known: no LEADER_CHANGE of epoch {replayed.state.epoch} in the "
            f"log, nor a file {QUORUM_STATE} that names one"
        )
    source = f"{leader.source}{'' if leader.offset is None else f' at offset {leader.offset}'}"
    who = "none elected" if leader.id is None else leader.id
    return f"active controller {who} in epoch {leader.epoch} ({source})"


def _list_rows(items: Items, kind: str) -> list[list[str]]:
    return [
        [name, field, state_cell(value)]
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
        texts = (state_cell(value) for value in (change.before, change.after))
        cells = (change.change, change.kind.replace("_", " "), change.name, change.field, *texts)
        rows.append([printable(cell) for cell in cells])
    print_table(columns, rows)

"""``kap decode --upgrade``: which clients a release of Kafka would break."""

from __future__ import annotations

from typing import Any

import click

from kafka_admin_proto.capture.upgrade import UpgradeCheck, unread_pieces, upgrade_verdict
from kafka_admin_proto.cli.captures.filters import FilteredFrames
from kafka_admin_proto.cli.output import (
    print_table,
    printable,
    utc_text,
    write_json_array,
    write_json_lines,
    write_tsv,
)
from kafka_admin_proto.errors import UnknownReleaseError
from kafka_admin_proto.protocol.releases import release

#: Key of a row → what its column is called, in the words of `kap report`.
_COLUMNS = {
    "status": "status", "traffic": "traffic", "client_id": "client id", "address": "address",
    "software": "software", "principal": "principal", "api": "api", "versions": "versions",
    "least": "needs at least", "removed_in": "removed in", "requests": "requests",
    "first_ts": "first", "last_ts": "last",
}  # fmt: skip
_WRITERS = {"json": write_json_array, "jsonl": write_json_lines, "tsv": write_tsv}


class KafkaRelease(click.ParamType[str]):
    """A release whose versions are known; the value is its minor version, "4.0"."""

    name = "release"

    def convert(
        self, value: str, parameter: click.Parameter | None, context: click.Context | None
    ) -> str:
        try:
            return release(value).name
        except UnknownReleaseError as error:
            self.fail(str(error), parameter, context)


def show_upgrade(frames: FilteredFrames, target: str, output: str) -> None:
    """Write a row for each client and api in question, and one for each client that is fine.

    Leaves with 1 where a client has to change, or something that may be a request was not read.
    """
    check = UpgradeCheck(target)
    for _, frame in frames:
        check.add(frame)
    timespec = "seconds" if output == "table" else "auto"
    rows = [
        row | {name: utc_text(row[name], timespec) for name in ("first_ts", "last_ts")}
        for row in check.rows()
    ]
    headline, is_ready = upgrade_verdict(
        *check.to_change(), has_requests=check.has_requests, whole=not check.unread
    )
    if output == "table":
        # A column that is empty in every row is left out; without rows that is every column.
        shown = [name for name in _COLUMNS if any(_cell(row[name]) for row in rows)]
        cells = [[_cell(row[name]) for name in shown] for row in rows]
        print_table([_COLUMNS[name] for name in shown], cells, whole=("api",))
        click.echo(f"Upgrade to {target}: {headline}")
    else:
        _WRITERS[output](rows)
    if check.unread:
        click.echo(f"{unread_pieces(check.unread, check.unread_connections)}.", err=True)
    frames.finish(failed=not is_ready)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else printable(str(value))

"""``kap simulate``: KIP-516's scenarios and random runs, event by event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.output import print_table, write_json_lines, written_to
from kafka_admin_proto.counts import counted

if TYPE_CHECKING:
    from kafka_admin_proto.simulation.world.trace import Trace

#: Those of ``simulation.scenarios``, which --help need not load.
SCENARIO_NAMES = ("stale-read", "stale-state", "delete", "bump", "election", "random")
#: Those of ``simulation.rules``.
RULES_NAMES = ("text", "shipped")
#: Rows of a table that are laid out together.
_PAGE = 1000


@click.command(cls=GivenOnceCommand)
@click.argument("scenario", type=click.Choice(SCENARIO_NAMES))
@click.option("--seed", type=int, default=0, show_default=True,
              help="The same seed gives the same run, byte for byte.")  # fmt: skip
@click.option("--steps", type=WholeNumber(1, 100_000), default=100, show_default=True,
              help="At most so many steps of the scenario, or of a random run.")  # fmt: skip
@click.option(
    "--rules",
    type=click.Choice(RULES_NAMES),
    help="Controller and brokers by KIP-516's text (the default), or as Kafka shipped them.",
)
@click.option("--output", "-o", type=click.Choice(["table", "jsonl"]),
              help="How to write the events; a table if no file is asked for.")  # fmt: skip
@click.option("--pcap", type=click.Path(dir_okay=False, allow_dash=True),
              help="Write a capture for kap decode and Wireshark; -: standard output.")  # fmt: skip
@click.option("--html", type=click.Path(dir_okay=False, allow_dash=True),
              help="Write one page with a sequence diagram; - is standard output.")  # fmt: skip
def simulate(
    scenario: str,
    seed: int,
    steps: int,
    rules: str | None,
    output: str | None,
    pcap: str | None,
    html: str | None,
) -> None:
    """Run a SCENARIO of KIP-516 in a simulated cluster, and show what happens.

    Controller, brokers, clients and voters talk in real frames, in virtual time. stale-read,
    stale-state and delete are the proposal's own; bump is the change of the inter-broker protocol,
    election the quorum's first elections, and random does whatever the seed says.

    \b
    Examples:
      kap simulate stale-read
      kap simulate random --seed 7 --steps 200 --output jsonl
      kap simulate delete --rules shipped
      kap simulate election --html election.html
      kap simulate election --pcap election.pcap
      kap decode election.pcap --dialect kip-516

    \b
    Exit codes: 0 fine, 2 usage.
    """
    if "-" in (pcap, html) and (pcap == html or output is not None):
        raise click.UsageError("only one output can be standard output")
    from kafka_admin_proto.simulation.rules import RULES_BY_NAME
    from kafka_admin_proto.simulation.scenarios import SCENARIOS, WITHOUT_RULES

    command = f"kap simulate {scenario} --seed {seed} --steps {steps}"
    if scenario not in WITHOUT_RULES:
        rules = rules or RULES_NAMES[0]
        command += f" --rules {rules}"
        trace = SCENARIOS[scenario](seed, steps, RULES_BY_NAME[rules]).trace
    elif rules is None:
        trace = SCENARIOS[scenario](seed, steps).trace
    else:
        raise click.UsageError(
            f"--rules has no effect on {scenario}: voters elect by KIP-595, which both columns "
            "of rules leave as it is; leave --rules out"
        )
    if pcap is not None:
        _write_pcap(trace, pcap)
        click.echo(f"{command}: kap decode --dialect {trace.dialect} reads the capture", err=True)
    if html is not None:
        _write_page(trace, html, f"KIP-516: {scenario}", command)
    if output == "jsonl":
        from kafka_admin_proto.simulation.output.rows import json_rows

        write_json_lines(json_rows(trace))
    elif output == "table" or (pcap is None and html is None):
        _print_table(trace)


def _print_table(trace: Trace) -> None:
    from kafka_admin_proto.simulation.output.rows import COLUMNS, table_rows

    rows = list(table_rows(trace))
    header = True
    for start in range(0, len(rows), _PAGE):
        page = rows[start : start + _PAGE]
        header = not print_table(
            COLUMNS, page, header=header, cut=("message",), whole=("node", "peer")
        )
    events = trace.events
    lasted = events[-1].at_ms if events else 0
    sent, lost = (sum(each.kind == kind for each in events) for kind in ("send", "lose"))
    click.echo(
        f"{counted(len(events), 'events')} in {lasted} ms: {counted(sent, 'frames')} sent, "
        f"{lost} lost",
        err=True,
    )


def _write_pcap(trace: Trace, path: str) -> None:
    from kafka_admin_proto.simulation.output.pcap import write_pcap

    with written_to("--pcap"), click.open_file(path, "wb") as file:
        for part in write_pcap(trace):
            file.write(part)


def _write_page(trace: Trace, path: str, title: str, command: str) -> None:
    from kafka_admin_proto.simulation.output.page import html_page

    with written_to("--html"), click.open_file(path, "w", encoding="utf-8") as file:
        for part in html_page(trace, title, [command]):
            file.write(part)

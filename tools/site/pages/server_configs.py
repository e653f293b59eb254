"""The page of the configs that ``kap serve`` knows, and of its differences from Kafka."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from kafka_admin_proto.server.configs.definitions import (
    ConfigDefinition,
    Definitions,
    Validator,
    definitions,
)
from kafka_admin_proto.server.releases import ReleaseNumber
from tools.site.markdown import cell, code, field_table, table

PATH = "reference/server-configs.md"
#: The newer release first: the page shows its values, and where the older one has others.
NEWER, OLDER = ReleaseNumber(4, 4), ReleaseNumber(3, 9)
_TESTS = Path(__file__).parents[3] / "tests" / "server"
#: What the comparison with real clusters and the one with clients' tools leave out on purpose.
DIFFERENCES = (
    _TESTS / "differential" / "differences.json",
    _TESTS / "clients" / "differences.json",
)
_INTRODUCTION = f"""\
[`kap serve`](../server.md) and `Cluster` know the configs below, which are set, altered and
described by Kafka's rules. Names, types, defaults and checks are those of Kafka's own classes in
{NEWER}; what differs in {OLDER}, which `--release {OLDER}` plays, is noted. [A cluster for
tests](../server.md) and [Records](../server-records.md) say which of them change what it does, and
which are refused where they are given."""
_ON_PURPOSE = """\
These differences from real clusters are on purpose. The tests that compare the two allow them and
no others. A difference is a pattern of lines in the comparison, or a command of Kafka's own tools.
"""


class _Difference(msgspec.Struct, frozen=True):
    """A pattern of lines of the comparison, or a command of a tool, and why it may differ."""

    why: str
    line: str = ""
    command: str = ""


def text() -> str:
    """The page in Markdown."""
    kinds = {
        "Topics": [found.topic for found in _both()],
        "Brokers": [(*found.broker, *found.broker_quotas) for found in _both()],
        "Groups": [found.group for found in _both()],
        "Client metrics": [found.client_metrics for found in _both()],
    }
    lines = ["# Configs and differences of `kap serve`", "", _INTRODUCTION, ""]
    for title, (newer, older) in kinds.items():
        lines += [
            f"## {title}",
            "",
            *_configs(title, newer, {each.name: each for each in older}),
            "",
        ]
    lines += ["## Differences", ""]
    lines += [_ON_PURPOSE, ""]
    found = chain.from_iterable(
        msgspec.json.decode(file.read_bytes(), type=list[_Difference]) for file in DIFFERENCES
    )
    rows = [[code(each.line or each.command), cell(each.why)] for each in found]
    lines += [*table(["What differs", "Why"], rows), ""]
    return "\n".join(lines)


def _both() -> tuple[Definitions, Definitions]:
    return definitions(NEWER), definitions(OLDER)


def _configs(
    title: str, newer: Sequence[ConfigDefinition], older: dict[str, ConfigDefinition]
) -> list[str]:
    rows = []
    for each in sorted(newer, key=lambda config: config.name):
        before = older.get(each.name)
        notes = []
        if before is None:
            notes.append(f"new since {OLDER}")
        elif before.default != each.default:
            notes.append(f"{OLDER}: {shown(before.default)}")
        if each.update is not None:
            notes.append(f"changes while running, {each.update}")
        rows.append([
            # A heading, so that the search finds each name by itself.
            f'<h4 id="{title.split()[0].lower()}-{each.name}">{code(each.name)}</h4>',
            code(each.type.lower()), shown(each.default),
            allowed(each.validator), "; ".join(notes),
        ])  # fmt: skip
    gone = sorted(set(older) - {each.name for each in newer})
    lines = field_table(["Config", "Type", "Default", "Values", "Notes"], rows)
    if gone:
        lines += ["", f"Only in {OLDER}: {', '.join(map(code, gone))}."]
    return lines


def shown(default: str | None) -> str:
    return "" if default is None else code(default) if default else "empty"


def allowed(validator: Validator | None) -> str:
    """The rule that values are checked by, in a few words."""
    if validator is None:
        return ""
    if validator.values:
        return ", ".join(map(code, validator.values))
    low, high = validator.min, validator.max
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None or high is not None:
        return f"at least {low}" if high is None else f"at most {high}"
    return cell(validator.text)

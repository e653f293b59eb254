"""``kap topics apply``: topics as a file says, by creating and altering what differs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kafka_admin_proto.admin.config_values import same_value
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table, yaml
from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.topics_alter import (
    checked_items,
    planned_items,
    step_rows,
)

if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.topics.descriptions import TopicDescription


class WantedTopic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A topic of the file. What is not said stays as it is; a config that is null is unset."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: dict[int, list[int]] | None = None
    configs: dict[str, str | int | float | bool | None] = {}

    def values(self) -> dict[str, str | None]:
        """The configs as Kafka has them: text."""
        return {name: _text(value) for name, value in self.configs.items()}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    topics: list[WantedTopic]


_OPERATIONS = (
    "topics.alteration:AlterOperations",
    "topics.creation:CreateTopics",
    "topics.descriptions:DescribeTopics",
)


@click.command("apply", cls=ClusterCommand, items="topics", operations=_OPERATIONS)
@click.option(
    "--file",
    "-f",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="YAML (or JSON) with a list of topics; - is standard input.",
)
@click.option(
    "--dry-run",
    "--validate-only",
    "dry_run",
    is_flag=True,
    help="Say what would change, let the cluster check it, and change nothing.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask before topics are altered.")
def apply(live: Live, file: str, dry_run: bool, yes: bool) -> Answer:
    """Create the topics of a file that are missing, and alter those that differ from it.

    \b
    Nothing is deleted, and what the file does not name stays as it is:
      topics:
        - name: orders
          partitions: 6
          replication_factor: 3
          configs: {retention.ms: 86400000, cleanup.policy: null}
        - name: audit
          assignment: {0: [1, 2], 1: [2, 3]}

    \b
    Examples:
      kap topics apply -f topics.yaml --dry-run
      kap topics apply -f topics.yaml --yes
    """  # fmt: skip
    wanted = _read(file)
    found = live.ask(
        lambda client: client.describe_topics([each.name for each in wanted], configs=True)
    )
    there = {each.name: each for each in found if each.error is None}
    missing = [each for each in found if each.error == "UNKNOWN_TOPIC_OR_PARTITION"]
    unknown = {each.name for each in missing}
    refused = [each for each in found if each.error is not None and each.name not in unknown]
    created = [each for each in wanted if each.name in unknown]

    async def plan(client: Any) -> Any:
        from kafka_admin_proto.admin.alter import TopicAlteration

        changes = {each.name: _difference(each, there[each.name])
                   for each in wanted if each.name in there}  # fmt: skip
        return await client.plan_alter_topics(
            [TopicAlteration(name=name, **each) for name, each in changes.items() if each]
        )

    altered = live.ask(plan)
    steps = sum(len(each.steps) for each in altered.topics)
    if steps and not dry_run:
        from kafka_admin_proto.admin.alter import render_plan

        if not yes:
            click.echo(render_plan(altered), err=True)
        new = _count(len(created), "topic")
        confirm(f"Do these {_count(steps, 'step')}, and create {new}?", yes=yes)
    items = _create(live, created, dry_run)
    if dry_run or not steps:
        items += [{**each, "action": "alter"} for each in checked_items(live, altered)]
    else:
        results = live.ask(lambda client: client.run_alter_plan(altered, timeout=live.timeout))
        items += [{**each, "action": "alter"} for each in planned_items(results)]
    items += [{"name": each.name, "action": "none", "error": each.error, "message": each.message}
              for each in refused]  # fmt: skip
    named = {item["name"] for item in items}
    items += [{"name": name, "action": "none", "error": None, "message": None}
              for name in there if name not in named]  # fmt: skip
    order = {each.name: place for place, each in enumerate(wanted)}
    items = [
        {"name": item["name"], "action": item["action"], "steps": [], **item}
        for item in sorted(items, key=lambda item: order[item["name"]])
    ]
    errors = [*failures.entries("topic", items), *failures.incomplete("topic", items)]
    return Answer(
        document={"topics": items, "dry_run": dry_run},
        tables=[Table(rows=_rows(items))],
        errors=errors,
        notes=_notes(items, dry_run),
    )


def _create(live: Live, topics: list[WantedTopic], dry_run: bool) -> list[Row]:
    if not topics:
        return []

    def ask(client: Any) -> Any:
        from kafka_admin_proto.admin.operations.topics.creation import NewTopic

        made = [
            NewTopic(
                name=each.name,
                partitions=-1 if each.assignment else each.partitions or -1,
                replication_factor=-1 if each.assignment else each.replication_factor or -1,
                assignment=each.assignment,
                configs={k: v for k, v in each.values().items() if v is not None},
            )
            for each in topics
        ]
        return client.create_topics(made, timeout=live.timeout, validate_only=dry_run)

    results: list[Row] = msgspec.to_builtins(live.ask(ask))
    return [{**each, "action": "create"} for each in results]


def _difference(wanted: WantedTopic, found: TopicDescription) -> dict[str, Any]:
    """What differs, as the arguments of an alteration."""
    changes: dict[str, Any] = {}
    now = {each.partition: each.replicas for each in found.partitions}
    if wanted.assignment is not None:
        if wanted.assignment != now:
            changes["assignment"] = wanted.assignment
    else:
        if wanted.partitions is not None and wanted.partitions != len(now):
            changes["partitions"] = wanted.partitions
        factor = wanted.replication_factor
        if factor is not None and any(len(each) != factor for each in now.values()):
            changes["replication_factor"] = factor
    own = found.configs or {}
    sets = {
        k: v for k, v in wanted.values().items() if v is not None and not same_value(own.get(k), v)
    }
    deletes = [k for k, v in wanted.values().items() if v is None and k in own]
    if sets:
        changes["configs"] = sets
    if deletes:
        changes["delete_configs"] = deletes
    return changes


def _rows(items: list[Row]) -> list[Row]:
    rows = []
    for item in items:
        steps = step_rows([item]) if item["action"] == "alter" else []
        for step in steps or [{"step": None, "what": None}]:
            if item["action"] == "create":
                count, factor = item.get("partitions"), item.get("replication_factor")
                step["what"] = {"partitions": count, "replication_factor": factor}
            rows.append({
                "topic": item["name"], "action": item["action"],
                "step": step["step"], "what": step["what"],
            })  # fmt: skip
    return rows


def _notes(items: list[Row], dry_run: bool) -> list[str]:
    fine = [item for item in items if not item["error"]]
    counts = [
        _count(sum(item["action"] == action for item in fine), "topic") + f" {said}"
        for action, said in (
            ("create", "to create" if dry_run else "created"),
            ("alter", "to alter" if dry_run else "altered"),
            ("none", "as the file says"),
        )
        if any(item["action"] == action for item in fine)
    ]
    return [", ".join(counts)] if counts else []


def _read(file: str) -> list[WantedTopic]:
    """The topics of a file. Raises click.UsageError."""
    library = yaml()
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise click.UsageError(f"{file}: {reason}") from None
    try:
        data = library.safe_load(text)
        if isinstance(data, list):
            data = {"topics": data}
        found = msgspec.convert(data, _File, strict=True).topics
    except (library.YAMLError, msgspec.ValidationError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise click.UsageError(
            f"{file}: {said}; expected topics: [{{name, partitions, replication_factor, "
            "assignment, configs}]"
        ) from None
    for each in found:
        if fault := _fault(each):
            raise click.UsageError(f"{file}: topic {each.name}: {fault}")
    names = [each.name for each in found]
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise click.UsageError(f"{file}: topic {twice[0]} is there twice")
    return found


def _fault(topic: WantedTopic) -> str:
    """Why no topic is like that; empty where one may be. -1 stands for what is not said."""
    for name in ("partitions", "replication_factor"):
        number = getattr(topic, name)
        if number is not None and number < 1 and number != -1:
            return f"{name} is {number}; it is 1 or more"
    if topic.assignment is not None and not (topic.assignment and all(topic.assignment.values())):
        return "the assignment names no brokers; name some for each partition, or leave it out"
    return ""


def _text(value: str | float | bool | None) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"

"""``kap topics apply``: topics as a file says, by creating and altering what differs."""

from __future__ import annotations

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table, strict_loader, yaml
from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.files import read_text
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import dry_run_option
from kafka_admin_proto.cli.admin.topics_alter import planned_items, step_rows
from kafka_admin_proto.counts import counted
from kafka_admin_proto.structs import decodable


class WantedTopic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A topic of the file. What is not said stays as it is; a config that is null is unset."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: dict[int, list[int]] | None = None
    configs: dict[str, str | int | float | bool | None] = {}


@decodable
class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    topics: list[WantedTopic]


_OPERATIONS = ("topics.applying:ApplyTopics",)


@click.command("apply", cls=ClusterCommand, items="topics", operations=_OPERATIONS, waits=True)
@click.option(
    "--file",
    "-f",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="YAML (or JSON) with a list of topics; - is standard input.",
)
@dry_run_option("Say what would change, let the cluster check it, and change nothing.")
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
    wanted = [_new_topic(each) for each in _read(file)]
    plan = live.ask(lambda client: client.plan_apply_topics(wanted))
    steps = sum(len(each.steps) for each in plan.alter.topics)
    if steps and not dry_run:
        if not yes:
            click.echo(admin.render_plan(plan.alter), err=True)
        new = counted(len(plan.create), "topics")
        confirm(f"Do these {counted(steps, 'steps')}, and create {new}?", yes=yes)
    applied = live.ask(
        lambda client: client.run_apply_plan(plan, timeout=live.timeout, validate_only=dry_run)
    )
    items = planned_items([_item(each) for each in applied])
    errors = [*failures.entries("topic", items), *failures.incomplete("topic", items)]
    return Answer(
        document={"topics": items, "dry_run": dry_run},
        tables=[Table(rows=_rows(items))],
        errors=errors,
        notes=_notes(items, dry_run),
    )


def _item(topic: admin.AppliedTopic) -> Row:
    """A topic with the particulars of its creation or alteration beside its name."""
    row: Row = {"error": topic.error, "message": topic.message}
    if topic.action != "none":
        row = msgspec.to_builtins(topic.result)
    return {"name": topic.name, "action": topic.action, "steps": [], **row}


def _new_topic(topic: WantedTopic) -> admin.NewTopic:
    return admin.NewTopic(
        name=topic.name,
        partitions=-1 if topic.assignment else topic.partitions or -1,
        replication_factor=-1 if topic.assignment else topic.replication_factor or -1,
        assignment=topic.assignment,
        configs={name: _text(value) for name, value in topic.configs.items()},
    )


def _rows(items: list[Row]) -> list[Row]:
    rows = []
    for item in items:
        steps = step_rows([item]) if item["action"] == "alter" else []
        for step in steps or ([] if item["error"] else [{"step": None, "what": None}]):
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
        counted(sum(item["action"] == action for item in fine), "topics") + f" {said}"
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
    text = read_text(file)
    try:
        data = library.load(text, strict_loader(library))
        if isinstance(data, list):
            data = {"topics": data}
        topics = msgspec.convert(data, _File, strict=True).topics
    except (library.YAMLError, msgspec.ValidationError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise click.UsageError(
            f"{file}: {said}; expected topics: [{{name, partitions, replication_factor, "
            "assignment, configs}]"
        ) from None
    for each in topics:
        if fault := _fault(each):
            raise click.UsageError(f"{file}: topic {each.name}: {fault}")
    names = [each.name for each in topics]
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise click.UsageError(f"{file}: topic {twice[0]} is there twice")
    return topics


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

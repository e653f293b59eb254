"""``kap topics alter``: planned onto requests that brokers have, shown, then run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import (
    DELETE_CONFIG,
    TOPICS,
    YES,
    config_option,
    dry_run_option,
    replica_assignment_option,
    topic_option,
)
from kafka_admin_proto.cli.admin.common.parameters import configs_of
from kafka_admin_proto.cli.admin.topic_rows import matched_topics, near_topics
from kafka_admin_proto.cli.admin.topics import all_names
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.counts import counted
from kafka_admin_proto.wire.secrets import MASK, is_secret_name

if TYPE_CHECKING:
    from kafka_admin_proto.admin.alter.planning import DraftReading

_UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"
_OPERATIONS = ("topics.alteration:AlterOperations", "topics.descriptions:DescribeTopics")


@click.command("alter", cls=ClusterCommand, items="topics", operations=_OPERATIONS, waits=True)
@TOPICS
@topic_option("A topic to alter; repeatable.")
@click.option("--partitions", type=WholeNumber(1), help="How many it is to have: more only.")
@click.option(
    "--replication-factor", type=WholeNumber(1), help="How many replicas each partition is to have."
)
@replica_assignment_option("Brokers of each partition; the two above are then ignored.")
@config_option("A config to set; repeatable.")
@DELETE_CONFIG
@click.option("--if-exists", is_flag=True, help="A topic that does not exist is no failure.")
@click.option(
    "--reading",
    type=click.Choice(["first", "second"]),
    help="Which draft's rules: first (the default) takes changes together, second takes one change "
    "at once, and increases only. A --dialect has its own.",
)
@dry_run_option("Show the plan, let the cluster check it, and change nothing.")
@YES
def alter(
    live: Live,
    names: tuple[str, ...],
    topic: tuple[str, ...],
    partitions: int | None,
    replication_factor: int | None,
    replica_assignment: dict[int, list[int]] | None,
    config: tuple[tuple[str, str], ...],
    delete_config: tuple[str, ...],
    if_exists: bool,
    reading: DraftReading | None,
    dry_run: bool,
    yes: bool,
) -> Answer:
    """Alter topics: partitions, replication factor, assignment, configs.

    A TOPIC with a sign that no name has, as in 'test-.*', is a regular expression for the whole
    name; internal topics are never meant by one. With commas between them it is several.
    The plan is shown, and run after a yes. Then the command waits until every broker has it.

    \b
    Examples:
      kap topics alter orders --partitions 12
      kap topics alter orders --replication-factor 3 --dry-run
      kap topics alter orders --config retention.ms=86400000 --delete-config cleanup.policy
    """
    given = all_names(names, topic, "alter")
    configs = configs_of(config)
    if not (partitions or replication_factor or replica_assignment or configs or delete_config):
        raise click.UsageError(
            "say what to alter: --partitions, --replication-factor, --replica-assignment, "
            "--config or --delete-config"
        )

    wanted, absent = matched_topics(live, given)
    alterations = [
        admin.TopicAlteration(
            name=name,
            partitions=partitions,
            replication_factor=replication_factor,
            assignment=replica_assignment,
            configs=configs,
            delete_configs=list(delete_config),
        )
        for name in wanted
    ]
    plan = live.ask(lambda client: client.plan_alter_topics(alterations, reading=reading))
    if if_exists:
        there = [each for each in plan.topics if each.error != _UNKNOWN]
        plan, absent = msgspec.structs.replace(plan, topics=there), []
    return _run_plan(live, plan, absent, dry_run=dry_run, yes=yes)


def _run_plan(
    live: Live, plan: admin.AlterPlan, absent: Sequence[Row], *, dry_run: bool, yes: bool
) -> Answer:
    """Show a plan and, after a yes, run it; ``absent`` are errors of topics that there are not."""
    steps = sum(len(each.steps) for each in plan.topics)
    notes = [note for topic in plan.topics for note in topic.notes]
    if dry_run and live.settings.dialect != "kafka":
        notes.append(f"{live.settings.dialect} validates nothing: the cluster checked none of it")
    if dry_run or not steps:
        checked = live.ask(lambda client: client.check_alter_plan(plan))
        items = planned_items(checked.topics)
        errors = [*failures.entries("topic", items), *absent]
        near_topics(errors, live)
        return Answer(
            document={"topics": items, "dry_run": dry_run},
            tables=[Table(rows=step_rows(items))],
            errors=errors,
            notes=notes + ([] if steps or errors else ["nothing to change"]),
        )

    if not yes:
        click.echo(admin.render_plan(plan), err=True)
    confirm("Do this?", yes=yes)
    results = live.ask(lambda client: client.run_alter_plan(plan, timeout=live.timeout))
    done = planned_items(results)
    errors = [*failures.entries("topic", done), *failures.incomplete("topic", done), *absent]
    near_topics(errors, live)
    fine = sum(not item["error"] for item in done)
    return Answer(
        document={"topics": done, "dry_run": False},
        tables=[Table(rows=step_rows(done))],
        errors=errors,
        notes=[*notes, f"altered {fine} of {counted(len(done), 'topics')}"],
    )


def planned_items(topics: Any) -> list[Row]:
    """Topics with their steps as the document has them: values that may be secrets are masked."""
    items: list[Row] = msgspec.to_builtins(topics)
    for step in (step for item in items for step in item["steps"]):
        if is_secret_name(step.get("name")):
            for key in ("value", "current"):
                if step.get(key) is not None:
                    step[key] = MASK
        if "configs" in step:
            step["configs"] = {
                key: MASK if is_secret_name(key) else value
                for key, value in step["configs"].items()
            }
    return items


def step_rows(items: list[Row]) -> list[Row]:
    """A row for each step of each topic without an error.

    A step of several partitions may be half done: the message of the error says how many were.
    """
    return [
        {
            "topic": item["name"],
            "step": step["step"],
            "what": {name: value for name, value in step.items() if name != "step"},
        }
        for item in items
        if not item["error"]
        for step in item["steps"]
    ]

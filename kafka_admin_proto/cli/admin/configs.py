"""``kap configs``: get, set and unset configs of topics, brokers, groups and the like."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import (
    DELETE_CONFIG,
    config_option,
    dry_run_option,
    together,
    topic_option,
)
from kafka_admin_proto.cli.admin.common.parameters import (
    ENTITY_TYPES,
    AddedConfigs,
    KeyValue,
    configs_of,
)
from kafka_admin_proto.cli.admin.topic_rows import near_topics
from kafka_admin_proto.wire.secrets import MASK, is_secret_name

if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.configs.resources import ResourceType

_OPERATIONS = ("configs.changing:ChangeConfigs", "topics.descriptions:DescribeTopics")

configs = lazy_group("configs", "Get, set and unset configs.")

_NO_CONFIG = "there is no such config: --all without --key lists those that there are"
#: The types of resources that have an option of their name.
_RESOURCES: tuple[ResourceType, ...] = (
    "topic", "broker", "broker_logger", "client_metrics", "group",
)  # fmt: skip


_resources = together(
    topic_option("A topic; repeatable."),
    click.option("--broker", multiple=True, shell_complete=completion.brokers,
                 help="A broker by its id; repeatable."),
    click.option("--broker-defaults", is_flag=True, help="What holds for all brokers."),
    click.option("--broker-logger", multiple=True, shell_complete=completion.brokers,
                 help="Levels of the loggers of a broker."),
    click.option("--client-metrics", multiple=True, help="A subscription (KIP-714)."),
    click.option("--group", "-g", multiple=True, shell_complete=completion.groups,
                 help="A group; repeatable."),
    click.option("--entity-type", type=click.Choice(list(ENTITY_TYPES)),
                 help="The same as Kafka's script has it."),
    click.option("--entity-name", help="With --entity-type."),
    click.option("--entity-default", is_flag=True, help="With --entity-type brokers."),
)  # fmt: skip


@configs.command("get", cls=ClusterCommand, items="resources", operations=_OPERATIONS)
@_resources
@click.option("--all-topics", is_flag=True, help="Those of all topics.")
@click.option("--key", multiple=True, shell_complete=completion.configs,
              help="This config alone; repeatable.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Those too that nobody has set.")
@click.option("--synonyms", is_flag=True, help="Where else the value may come from.")
@click.option("--documentation", is_flag=True, help="What the config is for.")
def get(
    live: Live,
    all_topics: bool,
    key: tuple[str, ...],
    everything: bool,
    synonyms: bool,
    documentation: bool,
    **named: Any,
) -> Answer:
    """Get configs that are set; with --all those too that are at their default.

    --entity-type without a name means all of that type.

    \b
    Examples:
      kap configs get --topic orders
      kap configs get --all-topics
      kap configs get --broker 1 --all --key log.retention.hours
      kap configs get --broker-defaults
    """
    kinds: list[ResourceType] = ["topic"] if all_topics else []
    if named["entity_type"] and not (named["entity_name"] or named["entity_default"]):
        kinds.append(ENTITY_TYPES[named.pop("entity_type")])
    resources = [each for kind in kinds for each in _all_of(live, kind)]
    resources += _named({"entity_type": None, **named}, needed=not kinds)
    items = live.rows(
        lambda client: client.describe_configs(
            resources, keys=key or None, synonyms=synonyms, documentation=documentation
        )
    )
    for item in items:
        if not (everything or key):
            item["configs"] = [each for each in item["configs"] if not each["is_default"]]
    rows = [
        {
            **_flat(item),
            "config": each["name"],
            "value": MASK if each["sensitive"] else each["value"],
            "source": each["source"],
            "read_only": each["read_only"],
            "type": each["type"],
            "documentation": each["documentation"],
        }
        for item in items
        for each in item["configs"]
    ]
    errors = _errors(items, live)
    missing = dict.fromkeys(key) if any(map(_has_all_configs, items)) else {}
    for row in rows:
        missing.pop(row["config"], None)
    errors += [failures.entry("INVALID_CONFIG", _NO_CONFIG, {"config": name}) for name in missing]
    note = "" if rows else "nothing is set; --all has the defaults too"
    return Answer(
        document={"resources": items},
        tables=[Table(rows=rows, hidden=("type",) if documentation else ("type", "documentation"))],
        errors=errors,
        notes=[note] if note and not errors else [],
    )


@configs.command("set", cls=ClusterCommand, items="resources", operations=_OPERATIONS, waits=True)
@_resources
@click.argument(
    "pairs", nargs=-1, type=KeyValue(), metavar="[NAME=VALUE]...",
    shell_complete=completion.configs,
)  # fmt: skip
@config_option("A config to set; repeatable.")
@click.option(
    "--add-config",
    type=AddedConfigs(),
    multiple=True,
    metavar="K=V,K=[V,V]",
    shell_complete=completion.configs,
    help="Configs to set, as kafka-configs.sh takes them.",
)
@click.option(
    "--config-file",
    "--add-config-file",
    "config_file",
    type=click.Path(dir_okay=False),
    help="A file of NAME=VALUE lines: for passwords, which command lines show.",
)
@config_option("Add to a config that is a list; repeatable.", "--append")
@config_option("Take from a config that is a list; repeatable.", "--subtract")
@dry_run_option("Let the cluster check it, and change nothing.")
def set_configs(
    live: Live,
    pairs: tuple[tuple[str, str], ...],
    config: tuple[tuple[str, str], ...],
    add_config: tuple[tuple[tuple[str, str], ...], ...],
    config_file: str | None,
    append: tuple[tuple[str, str], ...],
    subtract: tuple[tuple[str, str], ...],
    dry_run: bool,
    **named: Any,
) -> Answer:
    """Set configs. What is not named stays as it is. Those of topics are waited for.

    \b
    Examples:
      kap configs set --topic orders retention.ms=86400000
      kap configs set --broker 1 --config-file keystore.properties
      kap configs set --topic orders --append cleanup.policy=compact
    """
    wanted = configs_of([*pairs, *config, *chain(*add_config)])
    if config_file is not None:
        from kafka_admin_proto.admin.settings.properties import read_properties

        wanted |= read_properties(config_file)
    more, less = configs_of(append), configs_of(subtract)
    if not (wanted or more or less):
        raise click.UsageError("name what to set: NAME=VALUE, --config-file, --append, --subtract")
    changes = [
        admin.ConfigChange(resource=each, set=wanted, append=more, subtract=less)
        for each in _named(named)
    ]
    items = live.rows(
        lambda client: client.change_configs(changes, validate_only=dry_run, timeout=live.timeout)
    )
    return _changed(live, items, dry_run, "set")


@configs.command("unset", cls=ClusterCommand, items="resources", operations=_OPERATIONS, waits=True)
@_resources
@click.argument("keys", nargs=-1, metavar="[NAME]...", shell_complete=completion.configs)
@DELETE_CONFIG
@click.option("--all", "everything", is_flag=True, help="All that are set for the resource itself.")
@dry_run_option("Let the cluster check it, and change nothing.")
def unset(
    live: Live,
    keys: tuple[str, ...],
    delete_config: tuple[str, ...],
    everything: bool,
    dry_run: bool,
    **named: Any,
) -> Answer:
    """Unset configs: each is at its default again.

    \b
    Examples:
      kap configs unset --topic orders retention.ms
      kap configs unset --topic orders --all --dry-run
    """
    wanted = list(dict.fromkeys([*keys, *delete_config]))
    if bool(wanted) == everything:
        raise click.UsageError(
            "name what to unset: kap configs unset --topic TOPIC NAME, or --all without names"
        )
    resources = _named(named)
    changes = [admin.ConfigChange(resource=each, delete=wanted) for each in resources]
    items = live.rows(
        lambda client: (
            client.unset_all_configs(resources, validate_only=dry_run, timeout=live.timeout)
            if everything
            else client.change_configs(changes, validate_only=dry_run, timeout=live.timeout)
        )
    )
    return _changed(live, items, dry_run, "unset")


def _all_of(live: Live, kind: ResourceType) -> list[admin.ConfigResource]:
    """All resources of a type, as kafka-configs.sh has them; of groups those with configs."""
    if kind == "topic":
        names = [each.name for each in live.ask(lambda client: client.list_topics())]
    elif kind in ("broker", "broker_logger"):
        names = [str(each) for each in live.ask(lambda client: client.brokers())]
        names += [""] * (kind == "broker")
    else:
        return list(live.ask(lambda client: client.list_config_resources([kind])))
    return [admin.ConfigResource(type=kind, name=name) for name in names]


def _named(options: dict[str, Any], *, needed: bool = True) -> list[admin.ConfigResource]:
    """The resources that options name. Raises click.UsageError for none where one is needed."""
    named = [(kind, name) for kind in _RESOURCES for name in options[kind]]
    kind = options["entity_type"]
    if options["entity_default"] and kind != "brokers":
        raise click.UsageError("--entity-default goes with --entity-type brokers")
    if (kind is None) != (options["entity_name"] is None and not options["entity_default"]):
        raise click.UsageError("--entity-type and --entity-name go together")
    if options["entity_name"] is not None:
        named.append((ENTITY_TYPES[kind], options["entity_name"]))
    if options["broker_defaults"] or options["entity_default"]:
        named.append(("broker", ""))
    if needed and not named:
        raise click.UsageError(
            "whose configs? Name --topic, --broker, --broker-defaults, --group, …"
        )
    return [admin.ConfigResource(type=kind, name=name) for kind, name in dict.fromkeys(named)]


def _changed(live: Live, items: Sequence[Row], dry_run: bool, done: str) -> Answer:
    """What became of each resource, with its change: ``done`` is "set" or "unset"."""
    for item in items:
        item["change"] = _shown(item["change"])
    rows = [
        {
            **_flat(item),
            "change": "not set" if name in item["not_set"] else how,
            "config": name,
            "value": values.get(name) if isinstance(values, dict) else None,
        }
        for item in items
        if not item["error"]
        for how, values in item["change"].items()
        for name in values
    ]
    errors = _errors(items, live)
    fine = [item for item in items if not item["error"]]
    idle = [item for item in fine if item["not_set"]]
    count = sum(len(item["not_set"]) < sum(map(len, item["change"].values())) for item in fine)
    notes = [f"{'would be ' if dry_run else ''}{done} for {count} of {len(items)}"]
    return Answer(
        document={"resources": items, "dry_run": dry_run},
        tables=[Table(rows=rows)],
        errors=errors,
        notes=[
            *(notes if count or not idle else []),
            *(f"{_text(item)}: {name} was not set" for item in idle for name in item["not_set"]),
            *(f"{_text(item)}: nothing was set" for item in fine if not item["change"]),
        ],
    )


def _shown(change: Row) -> Row:
    """What a change does, by "set", "delete", "append" and "subtract", with secrets masked."""
    return {
        how: {name: MASK if is_secret_name(name) else value for name, value in each.items()}
        if isinstance(each, dict)
        else each
        for how, each in change.items()
        if each and how != "resource"
    }


def _has_all_configs(item: Row) -> bool:
    """Whether it was answered with all configs, and not those alone that are set.

    Those are answered of the brokers' defaults, and up to 3.9 of client metrics.
    """
    only_set = item["type"] == "client_metrics" or (item["type"] == "broker" and not item["name"])
    return not item["error"] and not only_set


def _flat(item: Row) -> Row:
    return {"resource_type": item["type"], "resource": item["name"]}


def _text(item: Row) -> str:
    return f"{item['type'].replace('_', ' ')} {item['name'] or 'defaults'}"


def _errors(items: Sequence[Row], live: Live) -> list[Row]:
    errors = [
        failures.entry(item["error"], item["message"], {item["type"]: item["name"]})
        for item in items
        if item["error"]
    ]
    for item in items:
        errors += failures.incomplete(item["type"], [item])
    near_topics(errors, live)
    return errors

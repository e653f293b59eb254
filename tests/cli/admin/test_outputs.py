"""Each command says the same in each of its forms, and one JSON object whatever happens."""

from __future__ import annotations

import json
import re
from typing import Any

import click
import pytest
import yaml

from kafka_admin_proto import admin
from kafka_admin_proto.cli.admin.common.answer import TIMES, _cell
from kafka_admin_proto.cli.admin.common.usage import FLAGS
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.cli.admin.commands import cluster_commands
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import topic_of
from tests.helpers.kap import ended

#: Commands that change nothing, or the same again; their forms can be compared.
COMMANDS = [
    "topics list",
    "topics list --topic 'or.*'",
    "topics describe",
    "topics describe orders --lag",
    "topics describe ordres payments",
    "topics create a b orders --partitions 2 --config retention.ms=5 --dry-run",
    "topics delete orders nothere --dry-run",
    "topics alter orders nothere --partitions 5 --config retention.ms=9 --dry-run",
    "topics alter orders --replication-factor 3 --dry-run",
    "topics alter payments --partitions 1 --dry-run",
    "topics apply -f tests/cli/admin/topics.yaml --dry-run",
    "partitions list",
    "partitions generate --topic orders --broker-list 1,2,3",
    "partitions reassign --reassignment-json-file tests/cli/admin/move.json --dry-run",
    "partitions verify --reassignment-json-file tests/cli/admin/stay.json",
    "partitions cancel --reassignment-json-file tests/cli/admin/move.json",
    "leaders elect --topic payments --topic nothere --timeout 0",
    "configs get --topic orders --topic nothere",
    "configs get --topic orders --all --synonyms",
    "configs get --broker 1",
    "configs get --entity-type brokers --entity-default",
    "configs get --entity-type topics --entity-name orders",
    "configs set --topic orders retention.ms=7 --dry-run",
    "configs set --topic orders no.such=7",
    "configs unset --topic nothere retention.ms --dry-run",
    "cluster describe",
    "cluster versions --broker-list 1",
    "cluster features",
    "quorum describe",
    "logdirs --topic orders",
    "acls list",
    "acls create --allow-principal User:a --operation Read --topic t --dry-run",
    "acls delete --principal User:bob --dry-run",
    "users list",
    "users list nobody",
    "users quotas",
    "users quotas --user bob --set producer_byte_rate=10 --dry-run",
    "groups list",
    "groups describe billing",
    "groups describe biling",
    "groups describe billing --state",
    "offsets get orders --time earliest",
    "offsets get nothere",
    "offsets reset --group billing --topic orders --to-earliest --dry-run",
    "request Metadata --version 12 --set topics[0].name=orders",
    "topics describe -b localhost:1",
    "ping -b localhost:1",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_all_forms_say_the_same(command: str, run: Run) -> None:
    results = {form: run(f"{command} --output {form}") for form in FORMS}
    assert len({result.exit_code for result in results.values()}) == 1
    whole = json.loads(results["json"].stdout)
    assert results["json"].exit_code == (1 if whole["errors"] else 0)
    for error in whole["errors"]:
        assert error["error"]
        assert "message" in error
    assert _without_times(yaml.safe_load(results["yaml"].stdout)) == _without_times(whole)
    lines = [json.loads(line) for line in results["jsonl"].stdout.splitlines()]
    items = [each for each in whole.values() if isinstance(each, list)]
    if not command.startswith("request"):
        assert any(_without_times(lines[: len(each)]) == _without_times(each) for each in items)
    _check_within(results["table"].stdout, whole, command)
    rows = [line.split("\t") for line in results["tsv"].stdout.splitlines()]
    widths = {len(row) for row in rows}
    assert len(widths) <= 1, "the columns of TSV are stable"
    for error in whole["errors"]:
        assert error["error"] in results["tsv"].stderr or error["message"] in results["tsv"].stderr
    assert results["json"].stderr == ""


FORMS = ("json", "jsonl", "yaml", "tsv", "table")


def _check_within(table: str, whole: Any, command: str) -> None:
    """Nothing in the table but words of headings that JSON lacks, and times of another run."""
    known = json.dumps(whole).casefold()
    words = set(re.findall(r"[\w.:/-]{3,}", known))
    numbers = set(re.findall(r"\d+", known))
    heads = set(re.findall(r"\w+", _HEADS))
    for word in re.findall(r"[\w.:/-]+", re.sub(_TIME, "", table).casefold()):
        parts = re.findall(r"\w+", word)
        assert (
            word in words or set(parts) <= numbers | words | heads | {"yes", "no"}
            or all(part in known for part in parts)
        ), (command, word)  # fmt: skip


_TIME = r"\b20\d\d-\d\d-\d\dT[\d:.]+Z"
#: Words that tables have around what JSON has.
_HEADS = """topic topics partition partitions replicas isr leader epoch lag configs id internal role
voter cluster controller high watermark resource type read only value source config change broker
host port rack ms field group members member end offset new mechanism iterations user quota what
step action proposed
wanted elected current"""


def _without_times(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, dict):
        varying = {"ms", "broker", *TIMES}
        return {k: _without_times(v) for k, v in value.items() if k not in varying}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


def test_milliseconds_of_a_result_are_a_time_or_a_duration() -> None:
    """Each that is a time is one in tables; JSON and TSV have the number."""
    results = [getattr(admin, name) for name in dir(admin)]
    found = {
        field
        for result in results
        for field in getattr(result, "__struct_fields__", ())
        if field.endswith("_ms")
    }
    assert found == TIMES | {"timeout_ms"}


def test_times_are_times_in_tables_alone(run: Run) -> None:
    for form in ("table", "json", "tsv"):
        output = run(f"quorum describe --output {form}").stdout
        assert bool(re.search(_TIME, output)) is (form == "table")
        assert bool(re.search(r"\b\d{13}\b", output)) is (form != "table")
    assert _cell("timestamp_ms", None) == _cell("timestamp_ms", -1) == ""
    assert _cell("timeout_ms", 60_000) == "60000"


def test_an_error_has_kafkas_name_and_its_item(run: Run) -> None:
    result = run("topics create orders new --output json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    (error,) = found["errors"]
    assert error["topic"] == "orders"
    assert error["error"] == "TOPIC_ALREADY_EXISTS"
    assert error["message"] == "Topic 'orders' already exists."
    assert [each["error"] for each in found["topics"]] == ["TOPIC_ALREADY_EXISTS", None]
    assert run("topics create orders --if-not-exists").exit_code == 0


@pytest.mark.parametrize("form", ["json", "yaml", "jsonl"])
def test_no_connection_is_one_object(form: str, run: Run) -> None:
    found = yaml.safe_load(ended(run(f"topics list -b localhost:1 --output {form}"), 1).stdout)
    error = found if form == "jsonl" else found["errors"][0]
    assert error["error"] == "ConnectionFailedError"
    assert "localhost:1" in error["message"]
    assert form == "jsonl" or found["topics"] == []


def test_the_end_of_the_time_has_its_own_name(run: Run, cluster: SyncCluster) -> None:
    cluster.faults.add(api="DescribeConfigs", drop="request")
    result = ended(run("configs get --topic orders --timeout 0.5 --output json"), 1)
    (error,) = json.loads(result.stdout)["errors"]
    assert error["error"] == "RequestTimedOutError"
    assert "not done within 0.5 s" in error["message"]


def test_json_that_is_too_deep_is_refused(run: Run) -> None:
    assert run("request Metadata --json -", data="[" * 100_000).exit_code == 2


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("topics list --no-such-option --output json", "UsageError"),
        ("topics create --output=json", "UsageError"),
        ("topics alter -o json", "UsageError"),
        ("topics list --no-such-option -ojson", "UsageError"),
        ("request Metadata --json /nowhere", "UsageError"),
        ("offsets delete-records --offset-json-file /nowhere -o json", "UsageError"),
        ("topics delete orders --output json", "UsageError"),
        ("topics delete orders --no-such-option -yojson", "UsageError"),
        ("topics nothere --output json", "UsageError"),
        ("nothere -b localhost:1 -o json", "UsageError"),
        ("topics --output json list", "UsageError"),
        ("--output json topics list", "UsageError"),
        ("configs get --broker one -o json", "InstructionError"),
        ("topics describe --topic-id nonsense -o json", "InstructionError"),
        ("topics describe 'a.*' --topic-id AAAAAAAAAAAAAAAAAAAAAQ -o json", "UsageError"),
        ("topics list --command-config /nowhere -o json", "ConfigurationError"),
        ("request Metadata --version many", "UsageError"),  # no terminal to ask on
    ],
)
def test_usage_errors_are_one_object_too(command: str, name: str, run: Run) -> None:
    result = ended(run(command), 2)
    found = json.loads(result.stdout)
    assert [each["error"] for each in found["errors"]] == [name]
    assert found["errors"][0]["message"] in result.stderr


def test_a_group_without_a_command_is_one_object(run: Run) -> None:
    (error,) = json.loads(ended(run("topics", env={"KAP_OUTPUT": "json"}), 2).stdout)["errors"]
    assert error["message"] == "name a command: kap topics --help lists them"


def test_options_of_one_letter_without_a_value() -> None:
    """Where the arguments do not parse, these may stand in front of -o in one argument."""
    flags = {"-h"}
    for command in cluster_commands().values():
        for option in command.params:
            if isinstance(option, click.Option) and option.is_flag:
                flags |= {each for each in option.opts if len(each) == 2}
    assert {f"-{letter}" for letter in FLAGS} == flags


def test_the_environment_chooses_the_output(run: Run) -> None:
    assert json.loads(run("topics list", env={"KAP_OUTPUT": "json"}).stdout)["topics"]
    assert run("topics list -o tsv", env={"KAP_OUTPUT": "json"}).stdout.count("\t") == 9


def test_without_a_cluster_it_says_what_to_give(run: Run) -> None:
    result = ended(run("topics list", env={"KAP_BOOTSTRAP_SERVER": ""}), 2)
    assert "--bootstrap-server HOST:PORT or set KAP_BOOTSTRAP_SERVER" in result.stderr
    both = run("topics list --bootstrap-controller localhost:1 -b localhost:1")
    assert (both.exit_code, "exclude each other" in both.stderr) == (2, True)


def test_near_misses(run: Run) -> None:
    assert "did you mean orders?" in run("topics describe ordres").stderr
    assert "did you mean orders?" in run("configs get --topic ordres").stderr
    assert "did you mean billing?" in run("groups describe biling").stderr
    assert "did you mean orders?" in run("offsets get oders").stderr


def test_describe_takes_a_name_or_an_id(run: Run, cluster: SyncCluster) -> None:
    """t270: and it shows the topic's id."""
    named = run("topics describe orders")
    wanted = topic_id_to_text(topic_of(cluster, "orders").id)
    assert f"topic orders, id {wanted}" in named.stdout
    assert run(f"topics describe --topic-id {wanted}").stdout == named.stdout


def test_trace_is_on_stderr_and_masks(run: Run) -> None:
    result = ended(run("users set bob --trace --output json", env={"KAP_NEW_PASSWORD": "hunter2"}))
    json.loads(result.stdout)
    assert "AlterUserScramCredentials v0" in result.stderr
    assert '"saltedPassword":"********"' in result.stderr
    assert "hunter2" not in result.output

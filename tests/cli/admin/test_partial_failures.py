"""What fails beside what succeeds is an error with its exit code, and dry runs foresee it."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.settings import Settings
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import (
    COMMITTED,
    filled_cluster,
    join,
    replicas_of,
    requests_of,
    topic_of,
)
from tests.helpers.kap import ended

REFUSED = "TOPIC_AUTHORIZATION_FAILED"


def answer_of(run: Run, command: str, code: int, data: str | None = None) -> Any:
    result = run(f"{command} --output json", data)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_ping_says_which_broker_does_not_answer(run: Run, cluster: SyncCluster) -> None:
    cluster.kill_broker(3)
    found = answer_of(run, "ping --timeout 1", 1)
    assert [each["ms"] is None for each in found["brokers"]] == [False, False, True]
    assert [each["broker"] for each in found["errors"]] == [3]


def test_groups_of_a_broker_that_does_not_answer_are_missed(run: Run, cluster: SyncCluster) -> None:
    cluster.kill_broker(3)
    for form in ("json", "jsonl"):
        result = ended(run(f"groups describe --all-groups --timeout 2 --output {form}"), 1)
        assert '"broker":3,' in result.stdout.replace(" ", "")
        assert "billing" in result.stdout
    assert run("groups delete billing --yes").exit_code == 0
    assert "no groups" not in run("groups list --timeout 1").stderr


def test_a_broker_that_is_silent_leaves_time_for_the_groups_of_the_others(
    run: Run, cluster: SyncCluster
) -> None:
    cluster.faults.add(api="ListGroups", node=2, drop="request")
    found = answer_of(run, "groups describe --all-groups --timeout 3", 1)
    assert [each["lag"] for each in found["groups"][0]["offsets"]] == [60, 0]
    assert [(each["broker"], each["error"]) for each in found["errors"]] == [
        (2, "RequestTimedOutError"),
    ]
    assert "ListGroups was not done within 1.5 s" in found["errors"][0]["message"]


def test_json_lines_have_the_errors_that_no_item_has(run: Run) -> None:
    result = run("offsets get orders nothere --output jsonl")
    assert "nothere" in result.stdout
    result = ended(run("topics describe 'ord.*' nothere --output jsonl"), 1)
    assert '"topic":"nothere"' in result.stdout


def test_a_log_dir_that_is_refused_is_an_error(run: Run, tmp_path: Path) -> None:
    row = {"topic": "orders", "partition": 0, "replicas": [1, 2], "log_dirs": ["/nothere", "any"]}
    file = tmp_path / "move.json"
    file.write_text(json.dumps({"version": 1, "partitions": [row]}))
    found = answer_of(run, f"partitions reassign --reassignment-json-file {file}", 1)
    (error,) = found["errors"]
    assert (error["error"], error["broker"], error["log_dir"]) == (
        "LOG_DIR_NOT_FOUND", 1, "/nothere",
    )  # fmt: skip


def test_throttles_that_stay_are_an_error(run: Run, cluster: SyncCluster) -> None:
    cluster.faults.add(api="IncrementalAlterConfigs", topic="orders", error=REFUSED)
    file = "--reassignment-json-file tests/cli/admin/stay.json"
    for command in ("verify", "cancel"):
        found = answer_of(run, f"partitions {command} {file}", 1)
        assert not found["throttles_removed"]
        assert [each["error"] for each in found["errors"]] == ["NotComplete"]


def test_a_time_that_could_not_be_looked_up_is_not_the_end_of_the_log(
    run: Run, cluster: SyncCluster
) -> None:
    cluster.faults.add(api="ListOffsets", topic="orders", error=REFUSED)
    where = "--group billing --partition orders:0 --to-datetime 2026-01-01T00:00:00 --yes"
    found = answer_of(run, f"offsets reset {where}", 1)
    assert [each["error"] for each in found["errors"]] == [REFUSED]
    assert cluster.group("billing").committed == COMMITTED


def test_a_lag_that_is_not_known_is_an_error(run: Run, cluster: SyncCluster) -> None:
    cluster.faults.add(api="ListOffsets", topic="orders", partition=1, error=REFUSED)
    found = answer_of(run, "groups describe billing", 1)
    assert [each["lag"] for each in found["groups"][0]["offsets"]] == [60, None]
    (error,) = found["errors"]
    assert (error["group"], error["topic"], error["partition"], error["error"]) == (
        "billing", "orders", 1, REFUSED,
    )  # fmt: skip


def test_log_dirs_of_an_unknown_topic(run: Run) -> None:
    found = answer_of(run, "logdirs --topic nothere", 1)
    assert found["errors"][0]["topic"] == "nothere"


@pytest.mark.parametrize(
    "command",
    [
        "topics alter orders --config no.such=1",
        "topics alter orders --config no.such=1 --partitions 5",
        "topics apply -f -",
    ],
)
def test_a_dry_run_has_the_errors_that_the_controller_would_answer(
    command: str, run: Run, cluster: SyncCluster
) -> None:
    data = "topics: [{name: orders, configs: {no.such: 1}}]"
    found = answer_of(run, f"{command} --dry-run", 1, data)
    assert [each["error"] for each in found["errors"]] == ["INVALID_CONFIG"]
    assert found["topics"][0]["steps"]
    assert all(each.validate_only for each in requests_of(cluster, "IncrementalAlterConfigs"))
    assert all(each.validate_only for each in requests_of(cluster, "CreatePartitions"))


@pytest.mark.parametrize(
    "command",
    [
        "request Metadata --json nothere.json",
        "offsets delete-records --offset-json-file nothere.json --yes",
    ],
)
def test_a_file_that_is_not_there_is_usage(command: str, run: Run) -> None:
    result = run(f"{command} --output json")
    assert (result.exit_code, "nothere.json" in result.stderr) == (2, True)
    assert json.loads(result.stdout)["errors"][0]["error"] == "UsageError"


@pytest.mark.parametrize(
    "topic",
    [
        "name: a, partitions: 0",
        "name: a, partitions: -7",
        "name: a, replication_factor: 0",
        "name: a, assignment: {}",
        "name: a, assignment: {0: []}",
    ],
)
def test_a_file_asks_for_one_partition_or_more(topic: str, run: Run, cluster: SyncCluster) -> None:
    ended(run("topics apply -f - --yes", data=f"topics: [{{{topic}}}]"), 2)
    assert "a" not in cluster.state.topic_names


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("topics create a --timeout inf", 0),
        ("topics create a --timeout nan", 2),
        ("topics alter orders --partitions 99999999999 --dry-run", 1),
        ("users quotas --user alice --set producer_byte_rate=nan", 2),
        ("users quotas --user alice --set producer_byte_rate=inf", 2),
    ],
)
def test_numbers_beyond_all_sense(command: str, code: int, run: Run) -> None:
    assert run(command).exit_code == code


def test_a_dry_run_knows_that_a_group_with_members_takes_no_offsets(
    run: Run, cluster: SyncCluster
) -> None:
    join(cluster, "billing", [0])
    where = "--group billing --topic orders --to-earliest --dry-run"
    found = answer_of(run, f"offsets reset {where}", 1)
    assert [each["error"] for each in found["errors"]] == ["UNKNOWN_MEMBER_ID"] * 3
    assert all("1 member" in each["message"] for each in found["errors"])


@pytest.mark.parametrize(
    "command",
    [
        "offsets reset --group nothere --all-topics --to-earliest --yes",
        "offsets delete --group nothere --topic orders --yes",
    ],
)
def test_offsets_of_a_group_that_is_not_there(command: str, run: Run) -> None:
    found = answer_of(run, command, 1)
    assert [each["error"] for each in found["errors"]] == ["GROUP_ID_NOT_FOUND"]


def test_a_partition_that_is_not_there_is_not_verified(run: Run) -> None:
    row = {"topic": "nothere", "partition": 0, "replicas": [1]}
    data = json.dumps({"version": 1, "partitions": [row]})
    found = answer_of(run, "partitions verify --reassignment-json-file -", 1, data)
    assert [each["topic"] for each in found["errors"]] == ["nothere"]


def test_replicas_that_stopped_elsewhere_are_no_success(run: Run) -> None:
    file = "--reassignment-json-file tests/cli/admin/move.json"
    found = answer_of(run, f"partitions verify {file}", 1)
    (error,) = found["errors"]
    assert (error["error"], error["partition"]) == ("NotComplete", 0)
    assert error["message"] == "nothing moves, and its replicas are 1,2, not 2,3"
    assert found["partitions"][0]["state"] == "other_replicas"


def test_the_names_of_the_drafts_errors_are_shown(run: Run) -> None:
    result = run("topics alter orders --partitions 2 --reading second --dry-run")
    assert (result.exit_code, "DecreasePartitionsNotAllowed: " in result.stderr) == (1, True)


@pytest.mark.parametrize("release", ["3.9", "4.4"])
def test_a_dead_group_of_an_older_broker_is_not_there(run: Run, release: str) -> None:
    """Brokers before 4.0 describe a group that does not exist as dead, without an error."""
    with filled_cluster(release=release) as older:
        servers = f"-b {older.bootstrap_servers}"
        found = answer_of(run, f"groups describe biling {servers}", 1)
    (error,) = found["errors"]
    assert (error["error"], error["hint"]) == ("GROUP_ID_NOT_FOUND", "did you mean billing?")


@pytest.mark.parametrize(
    "command",
    ["topics delete orders", "topics alter orders --partitions 9", "topics apply -f -"],
)
def test_validate_only_is_a_dry_run(command: str, run: Run, cluster: SyncCluster) -> None:
    data = "topics: [{name: orders, partitions: 9}]"
    assert answer_of(run, f"{command} --validate-only", 0, data)["dry_run"] is True
    assert len(replicas_of(cluster, "orders")) == 3


def test_what_a_command_asks_first_leaves_less_time_for_the_rest() -> None:
    """--timeout is for the whole command; an answer to a question takes none of it."""
    settings = Settings(bootstrap_server="127.0.0.1:1", timeout=5)

    async def wait(client: object) -> float:
        await asyncio.sleep(0.2)
        return live.timeout

    with Live(settings, None, "table", ()) as live:
        assert live.timeout == 5
        within = live.ask(wait)
        assert 4 < within <= 4.8
        time.sleep(0.2)
        assert 4 < live.timeout <= 4.8
        assert live.timeout == pytest.approx(within, abs=0.1)
    assert Live(Settings(timeout=0), None, "table", ()).timeout == 0


@pytest.mark.parametrize(("given", "whole"), [(5, 5), (None, 30), (0, 30)])
def test_each_question_has_the_time_that_is_left(given: float | None, whole: float) -> None:
    """One of a stream's has all of it, for nobody knows how many there will be."""
    settings = Settings(bootstrap_server="127.0.0.1:1", timeout=given)

    async def wait(client: AdminClient) -> float:
        await asyncio.sleep(0.2)
        return client.default_timeout

    with Live(settings, None, "table", ()) as live:
        assert live.ask_one_of_many(wait) == whole
        assert live.ask(wait) == whole
        left = whole - 0.2 if given != 0 else whole
        assert left - 0.5 < live.ask(wait) <= left
        assert live.ask_one_of_many(wait) == whole


@pytest.mark.parametrize("command", ["offsets reset --to-earliest --yes", "offsets delete --yes"])
def test_a_command_of_several_questions_ends_in_time(
    command: str, run: Run, cluster: SyncCluster
) -> None:
    cluster.faults.add(api="OffsetFetch", delay_ms=200)
    for api in ("OffsetCommit", "OffsetDelete"):
        cluster.faults.add(api=api, drop="request")
    where = "--group billing --topic orders"
    assert "was not done within 0." in ended(run(f"{command} {where} --timeout 1"), 1).stderr
    cluster.faults.clear()
    assert run(f"{command} {where} --timeout 9").exit_code == 0


def test_a_hint_that_comes_too_late_costs_no_answer(run: Run, cluster: SyncCluster) -> None:
    late = cluster.faults.add(api="ListGroups", drop="request")
    result = run("groups describe nothere --timeout 1")
    assert late.fired
    assert "GROUP_ID_NOT_FOUND" in result.stderr


def test_what_the_command_line_names_goes_before_the_environment(run: Run) -> None:
    """KAP_BOOTSTRAP_SERVER is set: it does not stand in the way of a controller that is named."""
    found = answer_of(run, "cluster describe --bootstrap-controller 127.0.0.1:1", 1)
    assert found["errors"][0]["address"] == "127.0.0.1:1"
    both = "cluster describe --bootstrap-controller 127.0.0.1:1 -b 127.0.0.1:1"
    assert answer_of(run, both, 2)["errors"][0]["error"] == "UsageError"


def test_a_quota_is_set_or_removed(run: Run) -> None:
    change = "--set producer_byte_rate=1 --unset producer_byte_rate"
    assert run(f"users quotas --user alice {change}").exit_code == 2


def test_a_topic_is_deleted_by_name_or_by_id(run: Run, cluster: SyncCluster) -> None:
    by_both = f"orders --topic-id {topic_id_to_text(topic_of(cluster, 'orders').id)}"
    assert "several instructions" in ended(run(f"topics delete {by_both} --yes"), 2).stderr
    assert "orders" in cluster.state.topic_names


@pytest.mark.parametrize(
    ("command", "about"),
    [
        ("produce nothere -l tests/cli/admin/stay.json", {"topic": "nothere"}),
        ("partitions generate --topic nothere --broker-list 1", {"topic": "nothere"}),
        (
            "partitions reassign --reassignment-json-file {file}",
            {"topic": "orders", "partition": 9},
        ),
    ],
)
def test_an_error_of_the_whole_command_names_what_it_is_about(
    command: str, about: dict[str, object], run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "move.json"
    row = {"topic": "orders", "partition": 9, "replicas": [1]}
    file.write_text(json.dumps({"version": 1, "partitions": [row]}))
    (error,) = answer_of(run, command.format(file=file), 1)["errors"]
    assert {key: error[key] for key in about} == about
    assert "operation" not in error


def test_a_broker_that_is_not_live_is_no_error_of_usage(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "move.json"
    row = {"topic": "orders", "partition": 0, "replicas": [1, 9]}
    file.write_text(json.dumps({"version": 1, "partitions": [row]}))
    for command in (
        f"partitions reassign --reassignment-json-file {file}",
        f"partitions reassign --reassignment-json-file {file} --dry-run",
        "partitions generate --topic orders --broker-list 1,9",
    ):
        (error,) = answer_of(run, command, 1)["errors"]
        assert error["error"] == "NoSuchBrokerError"
        assert "broker 9 is not among the live ones" in error["message"]


def test_a_cancellation_of_what_does_not_move_says_so(run: Run) -> None:
    result = run("partitions cancel --reassignment-json-file tests/cli/admin/move.json")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "cancelled 0 of 2 partitions",
        "no reassignment is going on of orders:0, orders:1",
    ]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("topics create ''", 'topic "": INVALID_TOPIC_EXCEPTION: '),
        ("configs set --broker-defaults broker.id=5", 'broker "": INVALID_REQUEST: '),
        ("users quotas --ip 10.0.0.1 --set producer_byte_rate=5", "entity ip=10.0.0.1: INVALID_"),
    ],
)
def test_what_has_no_name_is_seen_in_a_sentence(command: str, said: str, run: Run) -> None:
    result = run(command)
    assert result.exit_code == 1
    assert f"kap: {said}" in result.stderr


def test_records_of_a_compacted_topic_are_not_deleted_and_why(run: Run) -> None:
    run("configs set --topic orders cleanup.policy=compact")
    (error,) = answer_of(run, "offsets delete-records orders:0:5 --yes", 1)["errors"]
    assert error["error"] == "POLICY_VIOLATION"
    assert "cleanup.policy" in error["hint"]


def test_an_empty_list_may_be_of_what_the_client_may_not_see() -> None:
    with SyncCluster(1) as cluster:
        for words in ("topics list", "topics describe", "groups list", "transactions list"):
            command = [*words.split(), "-b", cluster.bootstrap_servers]
            result = CliRunner().invoke(kap, command)
            assert result.exit_code == 0
            assert result.stderr == f"no {words.split()[0]}, or none that the client may see\n"

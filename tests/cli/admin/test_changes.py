"""What commands change, asked of the broker afterwards; what they refuse."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_admin_proto.admin.session.effects import EFFECTS, Effect, effect_of
from kafka_admin_proto.cli.admin.common.answer import cell
from kafka_admin_proto.cli.admin.request.fields import request_json, set_at
from kafka_admin_proto.cli.shell.session import is_secret_line
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import configs_of, replicas_of, requests_of
from tests.helpers.kap import ended

KAP = [sys.executable, "-c", "from kafka_admin_proto.cli import main; main()"]


def test_a_file_of_topics_is_applied_once(run: Run, cluster: SyncCluster) -> None:
    first = json.loads(run("topics apply -f tests/cli/admin/topics.yaml --yes -o json").stdout)
    assert [each["action"] for each in first["topics"]] == ["alter", "create", "none"]
    assert len(replicas_of(cluster, "orders")) == 5
    assert configs_of(cluster, "orders") == {"retention.ms": "9"}
    assert configs_of(cluster, "fresh") == {"retention.ms": "5"}
    again = json.loads(run("topics apply -f tests/cli/admin/topics.yaml -o json").stdout)
    assert [each["action"] for each in again["topics"]] == ["none"] * 3


#: A few lines that stand for 9**20 values.
_NESTED_ALIASES = "a0: &a0 [x]\n" + "\n".join(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]" for number in range(1, 21)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("topics: [{name: a, partition: 3}]", "unknown field `partition`"),
        ("topics: [{name: a, partitions: many}]", "Expected `int | null`"),
        ("topics: [{name: a}, {name: a}]", "topic a is there twice"),
        ("topics:\n- {name: a, configs: {b: 1, b: 2}}", "'b' is there twice"),
        ("topics:\n- name: a\n  name: b", "'name' is there twice"),
        ('{"topics": [], "topics": []}', "'topics' is there twice"),
        ("topics: [{name: a, partitions: 1.5}]", "Expected `int | null`"),
        ("topics: [", "expected"),
        (_NESTED_ALIASES, "unknown field `a0`"),
        ("- {name: a, configs: {b: 2026-02-30}}", "a value is no timestamp of YAML; quote a text"),
        (f"- {{name: a, partitions: {'9' * 5000}}}", "is no int of YAML"),
        ("- {name: !!int ''}", "is no int of YAML"),
        ("- {name: !!bool x}", "is no bool of YAML"),
        ("- {name: !!timestamp x}", "is no timestamp of YAML"),
        ("!!python/object/apply:os.system [ls]", "could not determine a constructor"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, said: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text(text)
    assert said in ended(run(f"topics apply -f {file}"), 2).stderr


def test_whole_numbers_that_became_floats_are_taken(
    run: Run, cluster: SyncCluster, tmp_path: Path
) -> None:
    file = tmp_path / "topics.yaml"
    given = "{retention.ms: 8.64e+07, min.cleanable.dirty.ratio: 0.5, <<: {segment.ms: 1.0}}"
    file.write_text(f"- {{name: fresh, partitions: 2.0, configs: {given}}}\n")
    assert run(f"topics apply -f {file}").exit_code == 0
    assert len(replicas_of(cluster, "fresh")) == 2
    assert configs_of(cluster, "fresh") == {
        "retention.ms": "86400000", "min.cleanable.dirty.ratio": "0.5", "segment.ms": "1",
    }  # fmt: skip


def test_numbers_mean_what_they_look_like(run: Run, cluster: SyncCluster, tmp_path: Path) -> None:
    """Go writes 1000000 as 1e+06; YAML 1.1 has 8 for 010, and 90 for 1:30."""
    file = tmp_path / "topics.yaml"
    texts = {"a": "1e+06", "b": "1E3", "c": "'1e3'", "d": "010", "e": "1:30", "f": "1:30.0",
             "g": "0.5", "h": "0", "i": "-1", "j": "0x10", "k": "0_17"}  # fmt: skip
    given = ", ".join(f"{name}: {text}" for name, text in texts.items())
    file.write_text(f"- {{name: fresh, partitions: 1e+00, configs: {{{given}}}}}\n")
    assert "INVALID_CONFIG" in run(f"topics apply -f {file}").stderr
    ((topic,),) = (request.topics for request in requests_of(cluster, "CreateTopics"))
    assert {config.name: config.value for config in topic.configs} == {
        "a": "1000000", "b": "1000", "c": "1e3", "d": "010", "e": "1:30", "f": "1:30.0",
        "g": "0.5", "h": "0", "i": "-1", "j": "16", "k": "0_17",
    }  # fmt: skip


def test_partial_success_changes_what_it_can(run: Run, cluster: SyncCluster) -> None:
    assert run("topics delete orders nothere --yes").exit_code == 1
    assert "orders" not in cluster.state.topic_names
    assert run("topics delete nothere --if-exists --yes").exit_code == 0
    assert run("topics delete --topic 'pay.*' --yes").exit_code == 0
    assert list(cluster.state.topic_names) == ["__consumer_offsets"]


def test_dry_runs_change_nothing(run: Run, cluster: SyncCluster) -> None:
    for command in (
        "topics create a --dry-run",
        "topics create a --validate-only",
        "topics delete orders --dry-run",
        "topics alter orders --partitions 9 --dry-run",
        "topics apply -f tests/cli/admin/topics.yaml --dry-run",
        "partitions reassign --reassignment-json-file tests/cli/admin/move.json --dry-run",
        "configs set --topic orders retention.ms=1 --dry-run",
        "acls create --allow-principal User:a --operation Read --topic t --dry-run",
        "acls delete --principal User:bob --dry-run",
        "offsets reset --group billing --all-topics --to-latest --dry-run",
    ):
        assert run(command).exit_code == 0, command
    assert sorted(cluster.state.topic_names) == ["__consumer_offsets", "orders", "payments"]
    assert replicas_of(cluster, "orders") == [[1, 2], [2, 3], [3, 1]]
    assert configs_of(cluster, "orders") == {"retention.ms": "1000"}
    assert len(cluster.state.cluster.acls) == 1
    assert cluster.group("billing").committed == {("orders", 0): 40, ("orders", 1): 100}


@pytest.mark.parametrize(
    "command",
    [
        "topics delete orders",
        "topics alter orders --partitions 9",
        "acls delete --principal User:bob",
        "users delete alice",
        "groups delete billing",
        "offsets reset --group billing --topic orders --to-earliest",
        "offsets delete --group billing --topic orders",
        "offsets delete-records orders:0:4",
        "leaders elect --all-topics --election-type unclean",
        "request DeleteTopics --version 5 --set topicNames[0]=orders",
    ],
)
def test_what_destroys_is_refused_without_a_terminal(
    command: str, run: Run, cluster: SyncCluster
) -> None:
    assert "--yes" in ended(run(command), 2).stderr
    changing = ("Delete", "Alter", "Commit", "Elect", "CreatePartitions")
    assert not [each.api for each in cluster.requests if any(word in each.api for word in changing)]


def test_a_move_has_a_way_back_and_goes_on_without_a_terminal(run: Run) -> None:
    result = run("partitions reassign --reassignment-json-file tests/cli/admin/move.json -o json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["rollback"]


def test_offsets_of_a_group_stay_in_the_range_of_the_log(run: Run, cluster: SyncCluster) -> None:
    run("offsets reset --group billing --all-topics --shift-by -1000 --yes")
    assert cluster.group("billing").committed == {("orders", 0): 0, ("orders", 1): 0}
    run("offsets reset --group billing --topic orders --to-offset 500 --yes")
    assert set(cluster.group("billing").committed.values()) == {100}


@pytest.mark.parametrize(
    "name", ["listener.name.a.ssl.keystore.password", "listener.name.a.plain.sasl.jaas.config"]
)
def test_no_password_on_the_command_line(name: str, run: Run, tmp_path: Path) -> None:
    result = run(f"configs set --broker 1 {name}=hunter2")
    assert (result.exit_code, "hunter2" in result.output) == (2, False)
    file = tmp_path / "secret.properties"
    file.write_text(f"{name}=hunter2\n")
    result = run(f"configs set --broker 1 --config-file {file} --output json")
    assert (result.exit_code, "hunter2" in result.output) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        ("SaslAuthenticate --set authBytes=aHVudGVyMg==", True),
        ("RenewDelegationToken --set hmac=aHVudGVyMg==", True),
        ("AlterUserScramCredentials --set upsertions[0].saltedPassword=aHVudGVyMg==", True),
        ("AlterUserScramCredentials --set 'upsertions=[{\"salt\": \"hunter2\"}]'", True),
        ("AlterConfigs --set resources[0].configs[0].value=hunter2"
         " --set resources[0].configs[0].name=ssl.key.password", True),
        ("AlterConfigs --set"
         " 'resources.0.configs=[{\"name\":\"a.password\",\"value\":\"hunter2\"}]'", True),
        ("AlterConfigs --set resources[0].configs[0].name=ssl.key.password", False),
        ("IncrementalAlterConfigs --set resources[0].configs[0].value=hunter2"
         " --set resources[0].configs[1].name=ssl.key.password", False),
        ("AlterUserScramCredentials --set deletions[0].name=hunter2", False),
        ("Metadata --set topics[0].name=hunter2", False),
    ],
)  # fmt: skip
def test_credentials_are_not_for_set(arguments: str, refused: bool, run: Run) -> None:
    api, *sets = shlex.split(arguments)
    pairs = [each for each in sets if each != "--set"]
    if not refused:
        assert request_json(f"{api}Request", None, pairs)
        return
    result = run(f"request {arguments} --yes")
    assert (result.exit_code, "JSON on standard input" in result.stderr) == (2, True)
    assert "hunter2" not in result.output


def test_a_value_beside_a_secret_name_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    configs = [{"name": "ssl.key.password"}, {"name": "retention.ms", "value": "hunter2"}]
    file.write_text(json.dumps({"resources": [{"configs": configs}]}))
    assert request_json("AlterConfigsRequest", str(file), [])
    fine = request_json("AlterConfigsRequest", str(file), ["resources[0].configs[1].value=5"])
    assert fine["resources"][0]["configs"][1]["value"] == 5
    with pytest.raises(click.UsageError, match="may be a credential"):
        request_json("AlterConfigsRequest", str(file), ["resources[0].configs[0].value=5"])


def test_every_request_reads_or_changes_or_destroys() -> None:
    """A new api is put into the list, or this fails; what is not listed asks."""
    requests = {
        name
        for dialect in ("kafka", "kip-4a", "kip-4b")
        for name in catalog().names(dialect)
        if catalog().entry(name, dialect).type == "request"
    }
    listed = [api for apis in EFFECTS.values() for api in apis]
    assert sorted(listed) == sorted(name.removesuffix("Request") for name in requests)
    for name in requests:
        effect = effect_of(name)
        if re.search(r"Delete|Remove|Unregister|Expire", name):
            assert effect is Effect.DESTROYS, name
        if re.search(r"Create|Alter|Update|Write|Add|Commit|Heartbeat|Register|Join|Leave", name):
            assert effect is not Effect.READS, name
        if re.search(r"(?<!Unregister)(?<!Share)(Describe|List[A-Z]|^Read|^Find|^Fetch)", name):
            assert effect is Effect.READS, name
    assert effect_of("BrandNewRequest") is Effect.DESTROYS


def test_ctrl_c_ends_a_command_with_one_object(cluster: SyncCluster) -> None:
    cluster.faults.add(api="Metadata", drop="request")
    arguments = ["topics", "list", "-b", cluster.bootstrap_servers, "--output", "json"]
    with subprocess.Popen([*KAP, *arguments], stdout=-1, stderr=-1, text=True) as process:
        cluster.wait_for(lambda: cluster.requests.of("Metadata"), 60)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert [each["error"] for each in json.loads(stdout)["errors"]] == ["Interrupted"]


def test_lines_of_standard_input_are_commands_of_the_shell(run: Run) -> None:
    result = run(
        "shell --output tsv", data="topics list # all\n\nkap groups list\nquit\nnonsense\n"
    )
    assert result.exit_code == 0
    assert "payments\t1" in result.stdout
    assert "billing" in result.stdout
    assert run("shell", data="topics describe nothere\n").exit_code == 1


def test_options_of_the_shell_and_of_its_lines(run: Run) -> None:
    result = run("shell --output json", data="topics list --no-such-option\n")
    assert (result.exit_code, json.loads(result.stdout)["errors"][0]["error"]) == (2, "UsageError")
    assert "Metadata v" in run("shell", data="topics list --trace\n").stderr
    result = run("shell", data="request Metadata --json /nowhere\ntopics list\n")
    assert (result.exit_code, "payments" in result.stdout) == (2, True)


def test_a_request_leaves_the_lines_behind_it_to_the_shell(run: Run) -> None:
    result = run(
        "shell", data="request Metadata\n" + "# a comment\n" * 2000 + "topics list -o tsv\n"
    )
    assert (result.exit_code, "payments\t1" in result.stdout) == (0, True)


def test_a_command_may_wait_for_ever(run: Run) -> None:
    assert run("topics create fresh --timeout inf").exit_code == 0


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("configs set --broker 1 ssl.key.password=x", True),
        ("request AlterConfigs --set a[0].name=ssl.key.password --set a[0].value=x", True),
        ("kap request SaslAuthenticate --set authBytes=x", True),
        ("request Metadata --set topics=null", False),
        ("request AlterConfigs --json '{\"password\": 1}'", True),
        ("users set alice --password-file x", False),
        ("topics create a --config retention.ms=5", False),
    ],
)
def test_history_leaves_out_credentials(line: str, secret: bool) -> None:
    assert is_secret_line(line) is secret


steps = st.lists(st.sampled_from(["a", "b", 0]), min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_what_is_set_stands_at_its_path(path: list[str | int]) -> None:
    found = set_at({} if isinstance(path[0], str) else [], path, "new", "path")
    for step in path:
        found = found[step]
    assert found == "new"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(values)
def test_a_cell_is_safe_on_a_terminal(value: object) -> None:
    assert cell(value).isprintable()


@pytest.mark.parametrize(
    ("options", "filters"),
    [
        ("--allow-principal User:bob --operation Read --topic orders",
         [(2, "orders", "User:bob", "*", 3, 3)]),
        ("--deny-principal User:bob --deny-host 10.0.0.1 --topic orders",
         [(2, "orders", "User:bob", "10.0.0.1", 1, 2)]),
        ("--allow-principal User:bob --consumer --topic orders --group g",
         [(2, "orders", "User:bob", "*", 3, 3), (2, "orders", "User:bob", "*", 8, 3),
          (3, "g", "User:bob", "*", 3, 3)]),
        ("--principal User:bob --permission allow", [(1, None, "User:bob", None, 1, 3)]),
        ("--principal User:a --principal User:b",
         [(1, None, "User:a", None, 1, 1), (1, None, "User:b", None, 1, 1)]),
    ],
)  # fmt: skip
def test_acls_are_chosen_as_they_are_created(
    options: str, filters: list[tuple[object, ...]], run: Run, cluster: SyncCluster
) -> None:
    assert run(f"acls list {options}").exit_code == 0
    assert [
        (each.resource_type_filter, each.resource_name_filter, each.principal_filter,
         each.host_filter, each.operation, each.permission_type)
        for each in requests_of(cluster, "DescribeAcls")
    ] == filters  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--allow-host 10.0.0.1 --topic orders", "--allow-host goes with --allow-principal"),
        ("--idempotent --operation Read --topic orders", "--idempotent goes with --producer"),
        ("--producer --transactional-id t", "--producer needs --topic"),
        ("--consumer --cluster", "--consumer needs --group and --topic"),
        ("--consumer --topic a", "--consumer needs --group"),
        ("--principal bob --topic a", "expected a type and a name, as in User:bob, not 'bob'"),
        ("--allow-principal bob --topic a", "as in User:bob, not 'bob'"),
        ("--deny-principal User: --topic a", "as in User:bob, not 'User:'"),
        ("--producer --topic a --group b", "--group has no effect with --producer: name an --ope"),
        ("--allow-principal User:a --principal User:a --topic o", "leave these out"),
    ],
)
def test_flags_of_acls_without_effect_are_refused(options: str, said: str, run: Run) -> None:
    for verb in ("list", "delete"):
        assert said in ended(run(f"acls {verb} {options}"), 2).stderr

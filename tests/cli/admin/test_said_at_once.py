"""What has no effect, or is already as asked, is said where it was asked for."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.cli.admin.commands import all_commands, cluster_commands
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import topic_of
from tests.helpers.kap import ended, run_kap

COMMANDS = cluster_commands()
#: Commands that make no sense at the prompt, and a word of the reason.
NOT_AT_THE_PROMPT = {"serve": "terminal of its own", "shell": "already", "completion": "system's"}


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    """The addresses of a reference cluster that never has transactions."""
    # The topic of their coordinators would need more nodes, and an api is missing.
    configs, versions = {"transaction.state.log.replication.factor": 3}, {"EndTxn": "none"}
    with SyncCluster(1, topics={"orders": 1}, configs=configs, api_versions=versions) as found:
        yield found.bootstrap_servers


@pytest.mark.parametrize("path", [path for path in COMMANDS if " " not in path] + ["topics list"])
@pytest.mark.parametrize("seconds", ["-1", "-0.5", "-inf"])
def test_a_negative_timeout_is_refused(path: str, seconds: str) -> None:
    assert (
        "Invalid value for '--timeout': expected a number of seconds, 0 or more"
        in ended(run_kap(path, f"--timeout={seconds}"), 2).stderr
    )


def test_a_timeout_of_zero_is_for_commands_that_wait(run: Run) -> None:
    assert run("topics create fresh --timeout 0").exit_code == 0
    refused = ended(run("topics list --timeout 0"), 2)
    assert "--timeout 0 is for commands that wait until every broker has a change" in refused.stderr
    assert run("topics list", env={"KAP_TIMEOUT": "0"}).exit_code == 0, "as the help says"


def test_no_error_calls_a_number_a_range() -> None:
    for path, command in all_commands():
        for option in command.params:
            assert "range" not in option.type.name, (path, option)


def test_a_number_out_of_its_bounds_is_a_sentence() -> None:
    for words, said in (
        ("serve --brokers x", "expected a whole number, 0 to 1000, not 'x'"),
        ("topics create a --partitions 0", "expected a whole number, 1 or more, not '0'"),
        ("serve --propagation-delay x", "expected a number of seconds, 0 or more, not 'x'"),
    ):
        assert said in ended(run_kap(words), 2).stderr


def test_a_config_that_was_not_set_is_said(run: Run, cluster: SyncCluster) -> None:
    both = run("configs unset --topic orders retention.ms cleanup.policy")
    assert "unset for 1 of 1" in both.stderr
    assert "topic orders: cleanup.policy was not set" in both.stderr
    again = ended(run("configs unset --topic orders retention.ms"))
    assert again.stderr == "topic orders: retention.ms was not set\n"
    neither = run("configs unset --topic orders retention.ms cleanup.policy")
    assert neither.stderr == (
        "topic orders: retention.ms was not set\ntopic orders: cleanup.policy was not set\n"
    )


def test_an_offset_that_was_not_committed_is_said(run: Run, cluster: SyncCluster) -> None:
    words = "offsets delete --group billing --topic payments --partition orders:2 --yes"
    nothing = ended(run(words))
    assert nothing.stderr == (
        "deleted 0 of 1\ngroup billing had committed no offset of payments, orders:2\n"
    )
    assert cluster.group("billing").committed == {("orders", 0): 40, ("orders", 1): 100}
    some = run("offsets delete --group billing --topic orders --partition orders:2 --yes")
    assert some.stderr == "deleted 2 of 3\ngroup billing had committed no offset of orders:2\n"


def test_what_was_done_to_quotas_is_said(servers: str) -> None:
    def said(words: str) -> str:
        base = ["users", "quotas", "-b", servers, "--user", "alice"]
        return run_kap(*base, *words.split()).stderr

    assert said("--unset producer_byte_rate") == "producer_byte_rate was not set\n"
    assert said("--set producer_byte_rate=9 --dry-run") == "would be set: producer_byte_rate\n"
    assert said("--set producer_byte_rate=9") == "set: producer_byte_rate\n"
    words = "--unset producer_byte_rate --set consumer_byte_rate=7 --unset request_percentage"
    assert said(words) == (
        "set: consumer_byte_rate; unset: producer_byte_rate\nrequest_percentage was not set\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("groups list --state empty",
         "no group is as the options say: kap groups list without options lists all\n"),
        ("groups list --type share",
         "no group is as the options say: kap groups list without options lists all\n"),
        ("users quotas --user nobody",
         "no quotas are as the options say: kap users quotas without options lists all\n"),
        ("configs get --topic orders --key retention.ms", ""),
        ("groups list", "no groups, or none that the client may see\n"),
    ],
)  # fmt: skip
def test_what_the_options_leave_out_is_not_called_missing(
    words: str, said: str, servers: str
) -> None:
    result = run_kap(words, "-b", servers)
    assert (result.exit_code, result.stderr) == (0, said)


def test_a_slip_in_the_name_of_a_quota_to_remove_is_an_error(servers: str) -> None:
    words = "users quotas --user bob --unset prodcer_byte_rate --set consumer_byte_rate=5 -b"
    result = ended(run_kap(words, servers), 1)
    note, error = result.stderr.splitlines()
    assert note == "set: consumer_byte_rate"
    said = "quota prodcer_byte_rate: INVALID_CONFIG: there is no such quota: they are produ"
    assert said in error
    assert "prodcer_byte_rate" not in result.stdout


@pytest.mark.parametrize("output", ["table", "tsv", "json"])
def test_a_config_to_get_that_there_is_not_is_an_error(servers: str, output: str) -> None:
    words = ["configs", "get", "--topic", "orders", "--key", "retentionms", "--key", "retention.ms"]
    result = run_kap(*words, "-o", output, "-b", servers)
    said = result.stdout if output == "json" else result.stderr
    assert result.exit_code == 1
    assert "there is no such config: --all without --key lists those that there are" in said
    assert "retention.ms" in result.stdout
    words = ["configs", "get", "--broker-defaults", "--key", "log.retention.hours"]
    assert run_kap(*words, "-b", servers).exit_code == 0, "it is not set"


def test_the_default_entity_and_one_of_its_name_are_told_apart(servers: str) -> None:
    def quotas(words: str) -> str:
        base = ["users", "quotas", "-b", servers, "-o", "tsv"]
        return run_kap(*base, *shlex.split(words)).stdout

    for number, name in enumerate(("", "<default>", '"<default>"', "plain"), 1):
        quotas(f"--user '{name}' --set request_percentage={number}")
    rows = sorted(line.split("\t") for line in quotas("").splitlines())
    found = {row[0]: row[-1] for row in rows if row[-2] == "request_percentage"}
    assert found == {
        "<default>": "1.0", '"<default>"': "2.0", r'"\\"<default>\\""': "3.0", "plain": "4.0",
    }  # fmt: skip


def test_a_state_that_no_group_can_have_is_refused(servers: str) -> None:
    assert (
        "no group has the state 'Emtpy'; there are Stable, Empty, Dead, "
        in ended(run_kap("groups list --state Emtpy -b", servers), 2).stderr
    )


def test_a_name_is_no_hint_for_itself(run: Run, cluster: SyncCluster) -> None:
    """A broker may refuse a topic that others list, as behind a proxy."""
    error = "UNKNOWN_TOPIC_OR_PARTITION"
    cluster.faults.add(api="DescribeConfigs", topic="orders", error=error)
    result = run("configs get --topic orders")
    assert "UNKNOWN_TOPIC_OR_PARTITION" in result.stderr
    assert "did you mean" not in result.stderr
    assert "did you mean orders?" in run("configs get --topic order").stderr


def test_a_cluster_without_coordinators_is_said_at_once(servers: str) -> None:
    began = time.monotonic()
    result = ended(run_kap("transactions describe payments -b", servers), 1)
    assert "this cluster serves no transactions" in result.stderr
    assert time.monotonic() - began < 10, "the usual timeout is 30 s"


@pytest.mark.parametrize(
    "words", ["topics list", "topics describe", "topics delete --yes", "offsets get"]
)
def test_a_pattern_that_finds_nothing_is_called_one(run: Run, words: str) -> None:
    result = run(f"{words} 'nothere*' --topic 'order.*'")
    assert (
        "no topic matches 'nothere*', which is a regular expression for a whole name: "
        "'orders.*' finds all that begin with orders"
    ) in result.stderr
    assert "'order.*'" not in result.stderr.replace("'orders.*'", "")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("orders --partitions 0,9", 1, "topic orders partition 9: UNKNOWN_TOPIC_OR_PARTITION"),
        ("'order.*' --partitions 0,9", 0, "no topic has a partition 9"),
        ("--partitions 8,9", 0, "no topic has a partition 8 or 9"),
        ("--partitions 0", 0, ""),
    ],
)
def test_partitions_that_are_not_there_are_said(
    servers: str, words: str, code: int, said: str
) -> None:
    given = ["offsets", "get", *shlex.split(words), "-b", servers, "--exclude-internal-topics"]
    result = run_kap(*given)
    assert result.exit_code == code, result.output
    assert said in result.stderr
    assert bool(result.stderr) == bool(said)
    assert ("orders  0 " in result.stdout) == ("0" in words)


def test_a_plain_name_that_a_list_lacks_is_said(run: Run) -> None:
    result = run("topics list nothere orders")
    assert (result.exit_code, result.stderr) == (0, "there is no topic nothere\n")


@pytest.mark.parametrize(
    "words", ["topics list", "topics describe", "topics delete", "offsets get"]
)
def test_help_says_what_a_pattern_is(words: str) -> None:
    text = " ".join(run_kap(words, "--help").stdout.split())
    assert "is a regular expression for the whole name" in text


@pytest.mark.parametrize("words", ["topics describe", "topics delete --yes"])
def test_an_id_in_place_of_a_name_is_recognized(run: Run, cluster: SyncCluster, words: str) -> None:
    topic_id = topic_of(cluster, "orders").id
    for id_ in (topic_id, topic_id_to_text(topic_id)):
        result = ended(run(f"{words} {id_}"), 1)
        assert f"{id_} looks like a topic id: kap topics describe --topic-id finds" in result.stderr


@pytest.mark.parametrize("name", NOT_AT_THE_PROMPT)
def test_what_makes_no_sense_in_a_shell_is_refused_there(servers: str, name: str) -> None:
    lines = f"{name} bash\nkap {name} --help\n"
    result = ended(run_kap("shell -b", servers, data=lines), 2)
    assert f"kap: {name}" in result.stderr
    assert NOT_AT_THE_PROMPT[name] in result.stderr
    assert f"Usage: kap {name}" in result.stdout, "its help is there"


def test_an_address_is_said_once() -> None:
    for address in ("127.0.0.1:1", "127.0.0.1:1,127.0.0.1:2"):
        assert ended(run_kap("topics list -b", address), 1).stderr.count("127.0.0.1:1") == 1


def test_acls_that_nothing_chooses_are_said(run: Run) -> None:
    said = "no ACL matches what was asked for"
    assert said in run("acls list --topic nothere").stderr
    assert said in run("acls delete --topic nothere --yes").stderr
    assert run("acls delete --principal User:bob --yes").exit_code == 0
    assert run("acls list").stderr == "there are no ACLs\n"


@pytest.mark.parametrize(
    "words",
    [
        "simulate stale-read --html {}/a",
        "simulate stale-read --pcap {}/a",
        "schema stubs --schemas schemas/kip-4 --out {}/a",
        "partitions generate --topic payments --broker-list 1 --out {}/a",
        "partitions verify --reassignment-json-file {}",
        "leaders elect --path-to-json-file {}",
        "offsets delete-records --offset-json-file {}",
        "topics apply -f {}",
        "users set alice --password-file {}",
        "request ApiVersions --json {}",
        "configs set --topic orders --config-file {}",
        "topics list --command-config {}",
        "metadata {}",
    ],
)
def test_a_file_that_is_not_there_is_a_sentence(run: Run, tmp_path: Path, words: str) -> None:
    result = run(words.format(tmp_path / "nothere"))
    assert result.exit_code in (1, 2)
    assert "No such file or directory" in result.stderr
    assert str(tmp_path / "nothere") in result.stderr
    assert "[Errno" not in result.stderr


def test_a_limit_that_is_no_number(run: Run) -> None:
    result = ended(run("users quotas --user bob --set producer_byte_rate=much"), 2)
    assert "producer_byte_rate: 'much' is not a number" in result.stderr


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ("--under-replicated-partitions", {"orders": [1]}),
        ("--topics-with-overrides", {"orders": [0, 1, 2]}),
        ("--unavailable-partitions", {}),
    ],
)
def test_topics_that_an_option_chooses(run: Run, option: str, shown: dict[str, list[int]]) -> None:
    topics = json.loads(run(f"topics describe {option} --output json").stdout)["topics"]
    found = {each["name"]: [row["partition"] for row in each["partitions"]] for each in topics}
    assert found == shown


def test_what_is_to_be_deleted_is_listed_above_the_question(
    run: Run, cluster: SyncCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones; how many more there are is said."""
    monkeypatch.setattr("kafka_admin_proto.cli.admin.common.confirm.on_terminal", lambda: True)
    topics = " ".join(f"--topic t{number}" for number in range(12))
    assert run(f"acls create --allow-principal User:bob --operation Read {topics}").exit_code == 0
    result = ended(run("acls delete --principal User:bob", data="n\n"), 1)
    assert "  … and 3 more\nDelete 13 ACLs? [y/N]" in result.stderr
    assert result.stderr.count("  ALLOW User:bob from * READ on TOPIC ") == 10
    assert len(cluster.state.cluster.acls) == 13

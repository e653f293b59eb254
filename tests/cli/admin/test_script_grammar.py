"""Flags with the names of Kafka's scripts take the values that the scripts take."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.cli.admin.common.parameters import (
    AddedConfigs,
    split_partitions,
    topic_names,
)
from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import configs_of, filled_cluster, replicas_of, requests_of
from tests.helpers.kap import ended, run_kap

_CONTEXT, _PARAMETER = None, None
_NAMES = st.from_regex(r"[a-z.$_-]{1,5}", fullmatch=True)
_VALUES = st.text("ab.:* ,=", max_size=8)
#: What kafka-configs.sh does with a value of --add-config: split outside of brackets, which go.
_OUTSIDE = r"(?=[^\]]*(?:\[|$))"


def java_pairs(text: str) -> dict[str, str]:
    pairs = [re.split(rf"\s*=\s*{_OUTSIDE}", each) for each in re.split(f",{_OUTSIDE}", text)]
    return {name.strip(): re.sub(r"[\[\]]", "", value).strip() for name, value in pairs}


@given(st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=4))
def test_added_configs_are_read_as_by_kafkas_script(wanted: dict[str, str]) -> None:
    text = ",".join(f"{name}=[{value}]" for name, value in wanted.items())
    found = AddedConfigs().convert(text, _PARAMETER, _CONTEXT)
    assert (
        dict(found) == {name: value.strip() for name, value in wanted.items()} == java_pairs(text)
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("metrics=[a.],interval.ms=15000", {"metrics": "a.", "interval.ms": "15000"}),
        ("a=1,b=[2,3],c=", {"a": "1", "b": "2,3", "c": ""}),
        ("a = 1 , b=2,", {"a": "1", "b": "2"}),
    ],
)
def test_added_configs(text: str, found: dict[str, str]) -> None:
    assert dict(AddedConfigs().convert(text, _PARAMETER, _CONTEXT)) == found


@pytest.mark.parametrize(
    "text", ["cleanup.policy=compact,delete", "a", "a=b=c", "=1", "a=1,,b=2", ""]
)
def test_what_kafkas_script_refuses_is_no_config(text: str) -> None:
    words = ["configs", "set", "--topic", "t", "--add-config", text, "-b", "127.0.0.1:1"]
    assert "expected NAME=VALUE,NAME=[VALUE,VALUE]" in ended(run_kap(*words), 2).stderr


def test_no_part_of_a_value_is_shown() -> None:
    words = ["configs", "set", "--topic", "t", "--add-config", "a=1,x.password=p,hunter2"]
    result = run_kap(*words, "-b", "127.0.0.1:1")
    assert "[VALUE,VALUE] after x.password: a value with commas" in result.stderr
    assert "hunter2" not in result.stderr


def test_several_configs_are_set_and_unset_in_one_value(run: Run, cluster: SyncCluster) -> None:
    line = "configs set --topic orders --add-config cleanup.policy=[compact,delete],retention.ms=9"
    assert run(line).exit_code == 0
    assert configs_of(cluster, "orders") == {
        "retention.ms": "9", "cleanup.policy": "compact,delete",
    }  # fmt: skip
    ended(run("configs unset --topic orders --delete-config retention.ms,cleanup.policy"))
    assert not configs_of(cluster, "orders")
    assert run("configs set --topic orders retention.ms=9 segment.ms=8").exit_code == 0
    line = "topics alter orders --delete-config 'segment.ms, retention.ms' --yes"
    assert run(line).exit_code == 0
    assert not configs_of(cluster, "orders")


@pytest.mark.parametrize("text", ["a,,b", ",a", ""])
@pytest.mark.parametrize("words", ["configs unset --topic t", "topics alter t"])
def test_a_name_between_two_commas_is_missing(words: str, text: str) -> None:
    assert (
        "expected names with commas between them"
        in ended(run_kap(words, "--delete-config", text, "-b", "127.0.0.1:1"), 2).stderr
    )


def test_a_slip_in_the_name_of_a_config_to_unset_is_said(run: Run, cluster: SyncCluster) -> None:
    result = ended(run("configs unset --topic orders retntion.ms retention.ms"), 1)
    said = "topic orders has no config retntion.ms; nothing was changed; did you mean retention.ms?"
    assert said in result.stderr
    assert configs_of(cluster, "orders") == {"retention.ms": "1000"}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("a,b", ["a", "b"]),
        ("a, b ,c", ["a", "b", "c"]),
        ("a", ["a"]),
        ("a.*,b", ["a.*|b"]),
        ("(a,b)x", ["(a|b)x"]),
        ("a{1,2}", ["a{1,2}"]),
        ("[a,b]c,d", ["[a,b]c|d"]),
        ("a{1,2}, b ,[c,d],e.", ["a{1,2}|b|[c,d]|e."]),
    ],
)
def test_a_comma_between_topics(given: str, names: list[str]) -> None:
    assert list(topic_names(_CONTEXT, _PARAMETER, (given,))) == names  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["", "--topic "])
@pytest.mark.parametrize(
    "words",
    [
        "topics list -o tsv",
        "topics describe -o json",
        "offsets get -o json",
        "topics delete --dry-run",
    ],
)
def test_topics_with_commas_between_them_are_several(run: Run, words: str, option: str) -> None:
    result = ended(run(f"{words} {option}orders,payments"))
    assert "orders" in result.stdout
    assert "payments" in result.stdout
    assert "__consumer" not in result.stdout


@pytest.mark.parametrize(
    "words", ["delete --yes", "delete --dry-run", "describe", "alter --partitions 9 --yes"]
)
@pytest.mark.parametrize("name", ["nosuch", "nosuch.*", "nosuch,nosuch2"])
def test_no_such_topic_is_a_failure_unless_it_need_not_exist(
    run: Run, words: str, name: str
) -> None:
    assert "nosuch" in ended(run(f"topics {words} '{name}'"), 1).stderr
    assert run(f"topics {words} '{name}' --if-exists").exit_code == 0
    assert run(f"topics {words} 'order.*' '{name}' --if-exists").exit_code == 0


@pytest.mark.parametrize(
    "words", ["offsets get", "offsets reset --group billing --to-earliest --yes"]
)
def test_offsets_of_topics_that_no_name_matches_are_a_failure(run: Run, words: str) -> None:
    assert run(f"{words} --topic 'nosuch.*'").exit_code == 1
    assert run("topics list 'nosuch.*'").exit_code == 0, "as with kafka-topics.sh"


def test_topics_that_match_are_altered(run: Run, cluster: SyncCluster) -> None:
    assert run("topics alter --topic 'orders,pay.*' --partitions 5 --yes").exit_code == 0
    names = ("orders", "payments", "__consumer_offsets")
    assert [len(replicas_of(cluster, name)) for name in names] == [5, 5, 1]


def test_partitions_of_a_topic_as_kafkas_groups_script_takes_them(
    run: Run, cluster: SyncCluster
) -> None:
    assert split_partitions(["a:0,2", "b", "c:x"]) == (["b", "c:x"], [("a", 0), ("a", 2)])
    line = "offsets reset --group billing --topic orders:1 --to-earliest --yes"
    assert run(line).exit_code == 0
    assert cluster.group("billing").committed == {("orders", 0): 40, ("orders", 1): 0}
    assert run("offsets delete --group billing --topic orders:0,1 --yes").exit_code == 0
    assert cluster.group("billing").committed == {}


def test_states_and_types_of_groups_with_commas(run: Run, cluster: SyncCluster) -> None:
    assert run("groups list --state Stable,Empty --type classic,Consumer").exit_code == 0
    (request, *_) = requests_of(cluster, "ListGroups")
    assert request.states_filter == ["Stable", "Empty"]
    assert request.types_filter == ["classic", "Consumer"]


def test_the_election_type_is_taken_in_capitals(run: Run) -> None:
    assert run("leaders elect --topic orders --election-type PREFERRED --timeout 0").exit_code == 0


@pytest.mark.parametrize("words", ["--all-topics", "--entity-type topics"])
def test_configs_of_all_topics(run: Run, cluster: SyncCluster, words: str) -> None:
    assert run("configs set --topic payments segment.ms=7").exit_code == 0
    rows = run(f"configs get {words} -o tsv").stdout.splitlines()
    found = {tuple(row.split("\t")[1:4]) for row in rows if "DYNAMIC_TOPIC_CONFIG" in row}
    assert found == {("orders", "retention.ms", "1000"), ("payments", "segment.ms", "7")}
    assert "retention.ms" in ended(run(f"configs get {words} --topic nothere -o tsv"), 1).stdout


def test_configs_of_all_brokers_and_their_defaults(run: Run, cluster: SyncCluster) -> None:
    assert run("configs get --entity-type brokers").exit_code == 0
    requests = requests_of(cluster, "DescribeConfigs")
    assert {"1", ""} <= {each.resource_name for request in requests for each in request.resources}
    assert run("configs set --entity-type topics a=1").exit_code == 2


def test_all_configs_of_a_topic_are_unset_at_once(run: Run, cluster: SyncCluster) -> None:
    assert run("configs set --topic orders segment.ms=7").exit_code == 0
    line = "configs unset --topic orders --topic payments --all"
    assert run(f"{line} --dry-run").exit_code == 0
    assert len(configs_of(cluster, "orders")) == 2
    result = ended(run(line))
    assert not configs_of(cluster, "orders")
    assert result.stderr == "unset for 1 of 2\ntopic payments: nothing was set\n"
    assert run("configs unset --topic nothere --all").exit_code == 1
    assert run("configs unset --topic orders").exit_code == 2
    assert run("configs unset --topic orders --all retention.ms").exit_code == 2


@pytest.mark.parametrize(
    ("option", "code", "said"),
    [("--topic", 1, "no topic matches"), ("--partition", 2, "is not a partition")],
)
def test_no_partition_has_so_many_digits(run: Run, option: str, code: int, said: str) -> None:
    line = f"offsets reset --group billing {option} orders:{'9' * 5000} --to-earliest --dry-run"
    result = run(line)
    assert (result.exit_code, said in result.stderr) == (code, True)


def test_configs_that_may_not_be_seen_are_not_unset(run: Run, cluster: SyncCluster) -> None:
    cluster.faults.add(api="DescribeConfigs", topic="orders", error="TOPIC_AUTHORIZATION_FAILED")
    result = ended(run("configs unset --topic orders --topic payments --all"), 1)
    assert "topic orders: TOPIC_AUTHORIZATION_FAILED" in result.stderr
    assert "topic orders: nothing was set" not in result.stderr
    assert run("topics alter orders --delete-config retention.ms --yes --timeout 0").exit_code == 0
    assert not configs_of(cluster, "orders")


def test_names_of_client_metrics_are_not_known_to_be_wrong(run: Run) -> None:
    """Kafka 3.9 describes those alone that are set."""
    with filled_cluster(release="3.9") as older:
        words = f"-b {older.bootstrap_servers} --client-metrics m"
        unset = run(f"configs unset {words} interval.ms")
        result = run(f"configs get {words} --key interval.ms")
    assert (unset.exit_code, unset.stderr) == (0, "client metrics m: interval.ms was not set\n")
    assert (result.exit_code, result.stderr) == (0, "nothing is set; --all has the defaults too\n")

"""What a command line lacks, or has too much of, is said before anything is asked of a cluster."""

from __future__ import annotations

import pytest
from click import UsageError

from kafka_admin_proto.cli.admin.records.offset_arguments import partition_offset, time_or_end
from tests.helpers.kap import run_kap

#: Nobody listens on it: what is sent fails otherwise.
NOBODY = ("--bootstrap-server", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("acls create --allow-principal User:a --operation Read", "name a resource: --topic"),
        ("acls create --topic t --operation Read", "name a principal: --allow-principal"),
        ("acls create --topic t --allow-principal User:a", "name what to allow or deny"),
        ("acls delete --yes", "that would be all ACLs: say which"),
        ("acls list --resource-pattern-type match", "match is about a resource: say which"),
        ("cluster versions --broker-list a", "'a' is not a list of numbers: expected 1,2,3"),
        ("configs set --topic t", "name what to set: NAME=VALUE"),
        ("configs set --topic t word", "expected NAME=VALUE, as in retention.ms=86400000"),
        ("configs unset --topic t", "name what to unset: kap configs unset"),
        ("configs get", "whose configs? Name --topic, --broker"),
        ("configs get --entity-default --entity-type topics", "goes with --entity-type brokers"),
        ("configs get --entity-name a", "--entity-type and --entity-name go together"),
        ("groups describe", "name the groups to describe, or give --all-groups"),
        ("groups describe g --members --state", "choose one of --members, --offsets and --state"),
        ("groups delete", "name the groups to delete"),
        ("groups remove-members g", "name the members with --member or --instance"),
        ("leaders elect", "name --topic, --topic-partition or --path-to-json-file"),
        ("leaders elect --topic t --topic u --partition 0", "--partition goes with one --topic"),
        ("leaders elect --path-to-json-file no/such", "no/such: No such file or directory"),
        ("leaders elect --topic-partition t", "expected TOPIC:PARTITION, as in orders:3"),
        ("offsets reset -g g --to-earliest", "name --topic or --partition, or give --all-topics"),
        ("offsets reset -g g --all-topics", "say where to, once: --to-earliest"),
        ("offsets reset -g g --all-topics --to-earliest --to-latest", "say where to, once:"),
        ("offsets delete -g g", "name --topic or --partition"),
        ("offsets delete-records", "say what to delete: TOPIC:PARTITION:OFFSET"),
        ("partitions generate --broker-list 1", "name the topics: --topic, or --topics-to-move"),
        ("request Metadata --broker 1 --controller", "--broker and --controller exclude"),
        ("request 9999", "no api has the key 9999"),
        ("request Metadata --set a", "--set a: expected PATH=VALUE, as in topics[0].name=a"),
        ("topics alter t", "say what to alter: --partitions"),
        ("topics alter t t --partitions 3", "topic t is named twice"),
        ("topics create t --replica-assignment 1:x", "'1:x' is not an assignment"),
        ("topics create t --replica-assignment 1:1", "partition 0 has a broker twice"),
        ("topics create t --replica-assignment 1 --partitions 1", "says both already"),
        ("topics create t --config a=1 --config a=2", "a is given twice"),
        ("topics describe --topic-id AAAAAAAAAAAAAAAAAAAAAA", "is the id of no topic"),
        ("topics delete --topic-id AAAAAAAAAAAAAAAAAAAAAA --yes", "is the id of no topic"),
        ("topics describe [", "'[' is neither a name nor a regular expression"),
        ("users set a", "there is no password for a: give --password-file FILE"),
        ("users set a --password-file no/such", "cannot read no/such: No such file"),
    ],
)
def test_usage(line: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAP_NEW_PASSWORD", raising=False)
    result = run_kap(line, *NOBODY)
    assert said in result.stderr
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("earliest", "earliest"), ("-3", "max_timestamp"), ("1769860800000", 1769860800000),
        ("2026-01-31T12:00:00", 1769860800000), ("2026-01-31T13:00:00+01:00", 1769860800000),
    ],
)  # fmt: skip
def test_times(text: str, found: object) -> None:
    assert time_or_end(text) == found


@pytest.mark.parametrize("text", ["", "never", "2026-13-01"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="expected earliest, latest, max-timestamp"):
        time_or_end(text)


def test_offsets_of_partitions() -> None:
    assert partition_offset("a:b:0:-1") == (("a:b", 0), -1)
    for text in ("t", "t:0", "t:0:x"):
        with pytest.raises(UsageError, match="expected TOPIC:PARTITION:OFFSET"):
            partition_offset(text)
    for text in ("t:0:-2", "t:-1:0", ":0:0"):
        with pytest.raises(UsageError, match="offsets are 0 or more, or -1 for the end"):
            partition_offset(text)

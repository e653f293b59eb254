"""What ``kap groups describe`` shows of members and partitions without a committed offset."""

from __future__ import annotations

import json

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import join
from tests.helpers.kap import ended


def test_a_partition_that_is_read_has_a_row_without_a_commit(
    run: Run, cluster: SyncCluster
) -> None:
    one, two, _ = join(cluster, "billing", [1], [2], [])
    result = ended(run("groups describe billing"))
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["group", "topic", "partition", "offset", "end", "offset", "lag", "member"],
        ["billing", "orders", "0", "40", "100", "60", "-"],
        ["billing", "orders", "1", "100", "100", "0", one],
        ["billing", "orders", "2", "-", "100", "-", two],
    ]
    assert result.stderr == ("group billing has 1 member without partitions: --members lists all\n")
    (group,) = json.loads(run("groups describe billing -o json").stdout)["groups"]
    third = group["offsets"][2]
    assert [third[key] for key in ("offset", "end_offset", "lag", "member_id")] == [
        None, 100, None, two,
    ]  # fmt: skip
    assert run("groups describe billing -o tsv").stdout.splitlines()[2] == (
        f"billing\torders\t2\t\t100\t\t{two}"
    )


def test_nothing_is_committed_yet(run: Run, cluster: SyncCluster) -> None:
    (one,) = join(cluster, "new", [0])
    assert run("groups describe new").stdout.split()[-7:] == [
        "new", "orders", "0", "-", "100", "-", one,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "committed", "read", "said"),
    [
        ("", False, [], "has no members and no committed offsets"),
        ("", True, [], "has no members"),
        ("--members", True, [], "has no members"),
        ("--members", True, [[]], None),
        ("--state", False, [], None),
        ("", False, [[], []], "has 2 members without partitions: --members lists all"),
    ],
)  # fmt: skip
def test_what_the_table_cannot_show_is_a_sentence(
    options: str,
    committed: bool,
    read: list[list[int]],
    said: str | None,
    run: Run,
    cluster: SyncCluster,
) -> None:
    group = "billing" if committed else "new"
    ids = join(cluster, group, *(read if committed else read or [[]]))
    if not read:
        leaving = " ".join(f"--member {each}" for each in ids)
        assert not ids or run(f"groups remove-members {group} {leaving} --yes").exit_code == 0
    result = ended(run(f"groups describe {group} {options}"))
    assert result.stderr == ("" if said is None else f"group {group} {said}\n")


def test_a_member_that_is_not_there_is_named_as_it_was_given(run: Run) -> None:
    words = "groups remove-members billing --member a --instance host-7 --yes"
    lines = run(words).stderr.splitlines()
    assert [line.split(":")[:3] for line in lines[1:]] == [
        ["kap", " member a", " UNKNOWN_MEMBER_ID"],
        ["kap", " instance host-7", " UNKNOWN_MEMBER_ID"],
    ]
    errors = json.loads(run(f"{words} -o json").stdout)["errors"]
    assert [(each.get("member"), each.get("instance")) for each in errors] == [
        ("a", None), (None, "host-7"),
    ]  # fmt: skip


def test_a_commit_that_cannot_be_read_is_an_error(run: Run, cluster: SyncCluster) -> None:
    cluster.faults.add(
        api="OffsetFetch", topic="orders", partition=1, error="TOPIC_AUTHORIZATION_FAILED"
    )
    result = ended(run("groups describe billing"), 1)
    assert "group billing topic orders partition 1: TOPIC_AUTHORIZATION_FAILED" in result.stderr


@pytest.mark.parametrize(
    ("words", "whom"), [("--all-members", "all members"), ("--member a --instance b", "a, b")]
)
def test_the_question_names_who_is_to_be_removed(run: Run, words: str, whom: str) -> None:
    result = run(f"groups remove-members billing {words}")
    assert (result.exit_code, f"Remove {whom} from billing?" in result.stderr) == (2, True)

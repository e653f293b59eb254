"""What ``kap groups describe`` shows of members and partitions without a committed offset."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

import kafka_admin_proto.messages as m
from kafka_admin_proto import Message
from tests.cli.admin.conftest import Run
from tests.cli.admin.scripted_broker import ScriptedBroker

Members = Callable[[Mapping[str, list[int]]], None]


@pytest.fixture
def members(broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> Members:
    """Give each group members, by their ids, who read partitions of topic orders."""

    def give(partitions: Mapping[str, list[int]]) -> None:
        def assignment(own: list[int]) -> bytes:
            value = m.ConsumerProtocolAssignment
            topics = [value.TopicPartition("orders", own)] if own else []
            return b"\0\0" + value(topics).encode(0)

        def answer(request: m.DescribeGroupsRequest) -> Message:
            r = m.DescribeGroupsResponse
            found = [
                r.DescribedGroupMember(each, client_id="c", member_assignment=assignment(own))
                for each, own in partitions.items()
            ]
            state = "Stable" if found else "Empty"
            return r(
                groups=[
                    r.DescribedGroup(
                        group_id=group, group_state=state, protocol_type="consumer", members=found
                    )
                    for group in request.groups
                ]
            )

        monkeypatch.setattr(broker, "_DescribeGroups", answer)

    return give


def test_a_partition_that_is_read_has_a_row_without_a_commit(run: Run, members: Members) -> None:
    members({"one": [1], "two": [2], "idle": []})
    result = run("groups describe billing")
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["group", "topic", "partition", "offset", "end", "offset", "lag", "member"],
        ["billing", "orders", "0", "40", "100", "60", "-"],
        ["billing", "orders", "1", "100", "100", "0", "one"],
        ["billing", "orders", "2", "-", "100", "-", "two"],
    ]
    assert result.stderr == ("group billing has 1 member without partitions: --members lists all\n")
    (group,) = json.loads(run("groups describe billing -o json").stdout)["groups"]
    third = group["offsets"][2]
    assert [third[key] for key in ("offset", "end_offset", "lag", "member_id")] == [
        None, 100, None, "two",
    ]  # fmt: skip
    assert run("groups describe billing -o tsv").stdout.splitlines()[2] == (
        "billing\torders\t2\t\t100\t\ttwo"
    )


def test_nothing_is_committed_yet(run: Run, broker: ScriptedBroker, members: Members) -> None:
    broker.groups["billing"] = {}
    members({"one": [0]})
    assert run("groups describe billing").stdout.split()[-7:] == [
        "billing", "orders", "0", "-", "100", "-", "one",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "committed", "read", "said"),
    [
        ("", False, {}, "has no members and no committed offsets"),
        ("", True, {}, "has no members"),
        ("--members", True, {}, "has no members"),
        ("--members", True, {"idle": []}, None),
        ("--state", False, {}, None),
        ("", False, {"a": [], "b": []},
         "has 2 members without partitions: --members lists all"),
    ],
)  # fmt: skip
def test_what_the_table_cannot_show_is_a_sentence(
    options: str,
    committed: bool,
    read: dict[str, list[int]],
    said: str | None,
    run: Run,
    broker: ScriptedBroker,
    members: Members,
) -> None:
    if not committed:
        broker.groups["billing"] = {}
    members(read)
    result = run(f"groups describe billing {options}")
    assert result.exit_code == 0
    assert result.stderr == ("" if said is None else f"group billing {said}\n")


def test_a_member_that_is_not_there_is_named_as_it_was_given(
    run: Run, broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(request: m.LeaveGroupRequest) -> Message:
        r = m.LeaveGroupResponse
        rows = [
            r.MemberResponse(each.member_id, each.group_instance_id, error_code=25)
            for each in request.members
        ]
        return r(members=rows)

    monkeypatch.setattr(ScriptedBroker, "_LeaveGroup", staticmethod(left), raising=False)
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


def test_a_commit_that_cannot_be_read_is_an_error(
    run: Run, broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = broker._OffsetFetch

    def answer(request: m.OffsetFetchRequest) -> Message:
        response = usual(request)
        assert isinstance(response, m.OffsetFetchResponse)
        response.groups[0].topics[0].partitions[1].error_code = 29
        return response

    monkeypatch.setattr(broker, "_OffsetFetch", answer)
    result = run("groups describe billing")
    assert result.exit_code == 1
    assert "group billing topic orders partition 1: TOPIC_AUTHORIZATION_FAILED" in result.stderr

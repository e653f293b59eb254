"""A change that fails is never among those that succeeded, whatever the command and the output.

Every command for a cluster is in one of the two tables below: with what makes it fail in part, or
among those that change nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from click.testing import CliRunner, Result

import kafka_admin_proto.messages as m
from kafka_admin_proto import Message
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.commands import cluster_commands
from tests.cli.admin.conftest import Run
from tests.cli.admin.scripted_broker import ScriptedBroker, Topic

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
CONFIGS = {"authorizer.class.name": AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
REFUSED = "TOPIC_AUTHORIZATION_FAILED"


class Case(NamedTuple):
    """A command line whose change fails, in part where the api has items that can.

    ``faults`` are those of the reference cluster; where that has no such api, they are made of the
    scripted broker's answers: (api, name or number of the item that fails). ``failed`` is what no
    row of a table may have, ``error`` what is said of it, ``fine`` what succeeds beside it.
    """

    line: str
    faults: Sequence[str] = ()
    failed: str = r"\bbad"
    error: str = REFUSED
    fine: str = ""
    stdin: str = ""
    items: Sequence[tuple[str, Any]] = ()


def topics_fault(api: str) -> list[str]:
    return [f"api={api} topic=*bad error={REFUSED}"]


def moved(*replicas: int) -> str:
    rows = [{"topic": each, "partition": 0, "replicas": replicas} for each in ("fine", "bad")]
    return json.dumps({"version": 1, "partitions": rows})


_APPLIED = "topics: [{name: fine, partitions: 5}, {name: bad, partitions: 5}, {name: new-bad}]"
_MOVE = "partitions reassign --reassignment-json-file - --yes"
#: Command → a change of it that fails.
CHANGES = {
    "acls create": Case(
        "acls create --allow-principal User:bad --operation Read --topic t",
        ["api=CreateAcls error=CLUSTER_AUTHORIZATION_FAILED"],
        failed="User:bad", error="CLUSTER_AUTHORIZATION_FAILED",
    ),
    "acls delete": Case(
        "acls delete --principal User:old --yes",
        ["api=DeleteAcls error=CLUSTER_AUTHORIZATION_FAILED"],
        failed="User:old", error="CLUSTER_AUTHORIZATION_FAILED",
    ),
    "configs set": Case(
        "configs set --topic fine --topic bad retention.ms=5",
        topics_fault("IncrementalAlterConfigs"), fine="fine .* 5",
    ),
    "configs unset": Case(
        "configs unset --topic fine --topic bad retention.ms",
        topics_fault("IncrementalAlterConfigs"), fine="fine",
    ),
    "groups delete": Case(
        "groups delete billing bad --yes", items=[("DeleteGroups", "bad")], fine="billing"
    ),
    "groups remove-members": Case(
        "groups remove-members billing --member fine --member bad --yes",
        items=[("LeaveGroup", "bad")], fine="fine",
    ),
    "leaders elect": Case(
        "leaders elect --topic fine --topic bad", topics_fault("ElectLeaders"), fine="fine"
    ),
    "offsets delete": Case(
        "offsets delete --group billing --topic orders --yes",
        items=[("OffsetDelete", 1)], failed=r"orders +1", fine=r"orders +0",
    ),
    "offsets delete-records": Case(
        "offsets delete-records orders:0:4 orders:1:4 --yes",
        items=[("DeleteRecords", 1)], failed=r"orders +1", fine=r"orders +0",
    ),
    "offsets reset": Case(
        "offsets reset --group billing --all-topics --to-earliest --yes",
        items=[("OffsetCommit", 1)], failed=r"orders +1", fine=r"orders +0",
    ),
    "partitions cancel": Case(
        "partitions cancel --reassignment-json-file tests/cli/admin/move.json",
        items=[("AlterPartitionReassignments", 1)], failed=r"orders +1", fine=r"orders +0",
    ),
    "partitions reassign": Case(
        _MOVE, topics_fault("AlterPartitionReassignments"), fine="fine", stdin=moved(2)
    ),
    # What it changes is the throttles; its table is of states, and the moves are done.
    "partitions verify": Case(
        "partitions verify --reassignment-json-file tests/cli/admin/stay.json",
        items=[("IncrementalAlterConfigs", "orders")], failed="removed", error="throttle",
    ),
    "produce": Case(
        "produce bad", ["api=Produce topic=bad error=NOT_ENOUGH_REPLICAS"],
        failed=r"bad +\d+ +[1-9]", error="NOT_ENOUGH_REPLICAS", stdin="value",
    ),
    # The table is the response itself, with the codes in it.
    "request": Case(
        "request CreateTopics --version 5 --json - --output table", topics_fault("CreateTopics"),
        failed="^never$", stdin=json.dumps({"topics": [{"name": "bad", "numPartitions": 1}]}),
    ),
    "topics alter": Case(
        "topics alter fine bad --partitions 5 --yes", topics_fault("CreatePartitions"), fine="fine"
    ),
    "topics apply": Case(
        "topics apply -f - --yes",
        [*topics_fault("CreateTopics"), *topics_fault("CreatePartitions")],
        failed=r"bad", fine="fine", stdin=_APPLIED,
    ),
    "topics create": Case(
        "topics create new new-bad", topics_fault("CreateTopics"), failed="bad", fine="new"
    ),
    "topics delete": Case("topics delete fine bad --yes", topics_fault("DeleteTopics"),
                          fine="fine"),
    "transactions abort": Case(
        "transactions abort --topic bad --partition 0 --producer-id 9 --producer-epoch 3 "
        "--coordinator-epoch 5 --yes",
        items=[("WriteTxnMarkers", 0)],
    ),
    "users delete": Case(
        "users delete fine bad --yes", error="RESOURCE_NOT_FOUND", fine="fine"
    ),
    "users quotas": Case(
        "users quotas --user bad --set producer_byte_rate=7",
        ["api=AlterClientQuotas error=CLUSTER_AUTHORIZATION_FAILED"],
        error="CLUSTER_AUTHORIZATION_FAILED",
    ),
    "users set": Case(
        "users set bad --password-file -",
        ["api=AlterUserScramCredentials error=CLUSTER_AUTHORIZATION_FAILED"],
        error="CLUSTER_AUTHORIZATION_FAILED", stdin="secret",
    ),
}  # fmt: skip
#: Commands that change nothing.
READS = {
    "acls list", "cluster describe", "cluster features", "cluster versions", "configs get",
    "consume", "groups describe", "groups list", "logdirs", "offsets get", "partitions generate",
    "partitions list", "ping", "producers describe", "quorum describe", "topics describe",
    "topics list", "transactions describe", "transactions list", "users list",
}  # fmt: skip


def test_every_command_changes_nothing_or_has_its_failure_here() -> None:
    assert not READS & CHANGES.keys()
    assert cluster_commands().keys() == READS | CHANGES.keys()


@pytest.fixture
def on_cluster() -> Iterator[Callable[[Case, str], Result]]:
    """Runs a case, with its faults, on the reference cluster."""
    with SyncCluster(3, configs=CONFIGS) as cluster:

        def run(case: Case, output: str) -> Result:
            def one(line: str, stdin: str = "") -> Result:
                env = {"KAP_BOOTSTRAP_SERVER": cluster.bootstrap_servers, "KAP_TIMEOUT": "5",
                       "KAP_OUTPUT": output}  # fmt: skip
                return CliRunner().invoke(kap, line.split(), input=stdin, env=env)

            for line, stdin in (
                ("topics create fine bad --replica-assignment 1:2", ""),
                ("users set fine --password-file -", "secret"),
                ("acls create --allow-principal User:old --operation Read --topic t", ""),
            ):
                assert one(line, stdin).exit_code == 0
            for fault in case.faults:
                cluster.faults.add_text(fault)
            return one(case.line, case.stdin)

        yield run


@pytest.fixture
def on_script(
    run: Run, broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Case, str], Result]:
    """Runs a case on the scripted broker, in whose answers the items that fail have the error."""
    broker.topics["bad"] = Topic()
    broker.groups["bad"] = {}
    for name, answer in (("_LeaveGroup", _left), ("_WriteTxnMarkers", _written)):
        monkeypatch.setattr(ScriptedBroker, name, staticmethod(answer), raising=False)

    def run_case(case: Case, output: str) -> Result:
        if case.line.startswith("partitions cancel"):
            broker._reassigning.update({("orders", 0): [1, 2], ("orders", 1): [2, 3]})
        for api, item in case.items:
            usual = getattr(broker, f"_{api}")

            def answer(request: Any, usual: Any = usual, item: Any = item) -> Message:
                response: Message = usual(request)
                _mark(response, item)
                return response

            monkeypatch.setattr(broker, f"_{api}", answer)
        return run(f"{case.line} --output {output}", case.stdin)

    return run_case


def _left(request: m.LeaveGroupRequest) -> Message:
    r = m.LeaveGroupResponse
    return r(members=[r.MemberResponse(each.member_id, None) for each in request.members])


def _written(request: m.WriteTxnMarkersRequest) -> Message:
    r = m.WriteTxnMarkersResponse
    partition = r.WritableTxnMarkerPartitionResult(0)
    return r([r.WritableTxnMarkerResult(9, [r.WritableTxnMarkerTopicResult("bad", [partition])])])


def _mark(value: Any, item: Any) -> None:
    """Give the rows of an item the error, wherever they are in a response."""
    if isinstance(value, list):
        for each in value:
            _mark(each, item)
    elif hasattr(value, "__struct_fields__"):
        fields = msgspec.structs.asdict(value)
        if "error_code" in fields and (type(item), item) in (
            (type(each), each) for each in fields.values()
        ):
            value.error_code = 29
        for each in fields.values():
            _mark(each, item)


@pytest.mark.parametrize("name", CHANGES)
def test_what_failed_is_not_among_what_succeeded(
    name: str, on_cluster: Callable[[Case, str], Result], on_script: Callable[[Case, str], Result]
) -> None:
    case = CHANGES[name]
    run = on_script if case.items else on_cluster
    result = run(case, "table")
    assert result.exit_code == 1, result.output
    assert re.search(case.error, result.stderr), result.output
    assert not re.search(case.failed, result.stdout), result.output
    assert re.search(case.fine, result.stdout), result.output
    notes = [line for line in result.stderr.splitlines() if not line.startswith("kap: ")]
    assert not re.search(case.failed, "\n".join(notes)), result.stderr


@pytest.mark.parametrize("name", CHANGES)
def test_scripts_have_the_error_beside_the_item_that_failed(
    name: str, on_cluster: Callable[[Case, str], Result], on_script: Callable[[Case, str], Result]
) -> None:
    case = CHANGES[name]
    run = on_script if case.items else on_cluster
    result = run(case._replace(line=case.line.replace(" --output table", "")), "json")
    assert result.exit_code == 1, result.output
    whole = json.loads(result.stdout)
    assert whole["errors"]
    assert any(re.search(case.error, json.dumps(each)) for each in whole["errors"])
    items = [each for each in whole.get(cluster_commands()[name].items or "", [])]
    for item in items:
        if item.get("error") is None and not case.failed.startswith("orders"):
            assert not re.search(case.failed, json.dumps(item)), item

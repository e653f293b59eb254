"""A change that fails is never among those that succeeded, whatever the command and the output.

Every command for a cluster is in one of the two tables below: with what makes it fail in part, or
among those that change nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pytest
from click.testing import Result

from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.commands import cluster_commands
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import filled_cluster, join
from tests.helpers.kap import ended

REFUSED = "TOPIC_AUTHORIZATION_FAILED"
#: Of a client that has not logged in.
NO_TOKENS = "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"


class Case(NamedTuple):
    """A command line whose change fails, in part where the api has items that can.

    ``{member}`` in the line is one of group bad. ``failed`` is what no row of a table may have,
    ``error`` what is said of it, ``fine`` what succeeds beside it.
    """

    line: str
    faults: Sequence[str] = ()
    failed: str = r"\bbad"
    error: str = REFUSED
    fine: str = ""
    stdin: str = ""


def topics_fault(api: str) -> list[str]:
    return [f"api={api} topic=*bad error={REFUSED}"]


def partition_fault(api: str) -> list[str]:
    return [f"api={api} partition=1 error={REFUSED}"]


def moved(broker: int, *partitions: tuple[str, int]) -> str:
    rows = [{"topic": name, "partition": each, "replicas": [broker]} for name, each in partitions]
    return json.dumps({"version": 1, "partitions": rows})


#: A move that never ends, for broker 3 gets no records.
_ENDLESS = moved(3, ("moving", 0), ("moving", 1))

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
        "acls delete --principal User:bob --yes",
        ["api=DeleteAcls error=CLUSTER_AUTHORIZATION_FAILED"],
        failed="User:bob", error="CLUSTER_AUTHORIZATION_FAILED",
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
        "groups delete billing bad --yes", error="NON_EMPTY_GROUP", fine="billing"
    ),
    "groups remove-members": Case(
        "groups remove-members bad --member {member} --member nobody --yes",
        failed="nobody", error="UNKNOWN_MEMBER_ID", fine="story-",
    ),
    "leaders elect": Case(
        "leaders elect --topic fine --topic bad", topics_fault("ElectLeaders"), fine="fine"
    ),
    "offsets delete": Case(
        "offsets delete --group billing --topic orders --yes",
        partition_fault("OffsetDelete"), failed=r"orders +1", fine=r"orders +0",
    ),
    "offsets delete-records": Case(
        "offsets delete-records orders:0:4 orders:1:4 --yes",
        partition_fault("DeleteRecords"), failed=r"orders +1", fine=r"orders +0",
    ),
    "offsets reset": Case(
        "offsets reset --group billing --all-topics --to-earliest --yes",
        partition_fault("OffsetCommit"), failed=r"orders +1", fine=r"orders +0",
    ),
    "partitions cancel": Case(
        "partitions cancel --reassignment-json-file -",
        partition_fault("AlterPartitionReassignments"), failed=r"moving +1", fine=r"moving +0",
        stdin=_ENDLESS,
    ),
    "partitions reassign": Case(
        _MOVE, topics_fault("AlterPartitionReassignments"), fine="fine",
        stdin=moved(2, ("fine", 0), ("bad", 0)),
    ),
    # What it changes is the throttles; its table is of states, and the moves are done.
    "partitions verify": Case(
        "partitions verify --reassignment-json-file tests/cli/admin/stay.json",
        [f"api=IncrementalAlterConfigs topic=orders error={REFUSED}"], failed="removed",
        error="throttle",
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
    "tokens create": Case("tokens create", failed="ANONYMOUS", error=NO_TOKENS),
    "tokens expire": Case("tokens expire bad --yes", error=NO_TOKENS),
    "tokens renew": Case("tokens renew bad", error=NO_TOKENS),
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
        topics_fault("WriteTxnMarkers"),
    ),
    "users delete": Case(
        "users delete alice bad --yes", error="RESOURCE_NOT_FOUND", fine="alice"
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
    "partitions list", "ping", "producers describe", "quorum describe", "tokens list",
    "topics describe", "topics list", "transactions describe", "transactions list", "users list",
}  # fmt: skip


def test_every_command_changes_nothing_or_has_its_failure_here() -> None:
    assert not READS & CHANGES.keys()
    assert cluster_commands().keys() == READS | CHANGES.keys()


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    both = {"assignment": {0: [1, 2]}}
    moving = {"assignment": {0: [1], 1: [1]}}
    with filled_cluster(fine=both, bad=both, moving=moving) as cluster:
        cluster.produce("moving", [{"value": "v", "partition": each} for each in (0, 1)])
        yield cluster


@pytest.fixture
def run_case(run: Run, cluster: SyncCluster) -> Callable[[Case, str], Result]:
    """Runs a case, with its faults."""

    def run_one(case: Case, output: str) -> Result:
        if case.stdin == _ENDLESS:  # it is cancelled
            assert run(_MOVE, _ENDLESS).exit_code == 0
        for fault in case.faults:
            cluster.faults.add_text(fault)
        line = case.line
        if " bad " in line and line.startswith("groups"):
            (member,) = join(cluster, "bad", [])
            line = line.replace("{member}", member)
        return run(line, case.stdin, {"KAP_OUTPUT": output})

    return run_one


@pytest.mark.parametrize("name", CHANGES)
def test_what_failed_is_not_among_what_succeeded(
    name: str, run_case: Callable[[Case, str], Result]
) -> None:
    case = CHANGES[name]
    result = ended(run_case(case, "table"), 1)
    assert re.search(case.error, result.stderr), result.output
    assert not re.search(case.failed, result.stdout), result.output
    assert re.search(case.fine, result.stdout), result.output
    notes = [line for line in result.stderr.splitlines() if not line.startswith("kap: ")]
    assert not re.search(case.failed, "\n".join(notes)), result.stderr


@pytest.mark.parametrize("name", CHANGES)
def test_scripts_have_the_error_beside_the_item_that_failed(
    name: str, run_case: Callable[[Case, str], Result]
) -> None:
    case = CHANGES[name]
    result = run_case(case._replace(line=case.line.replace(" --output table", "")), "json")
    assert result.exit_code == 1, result.output
    whole = json.loads(result.stdout)
    assert whole["errors"]
    assert any(re.search(case.error, json.dumps(each)) for each in whole["errors"])
    for item in whole.get(cluster_commands()[name].items or "", []):
        if item.get("error") is None and " +" not in case.failed:
            assert not re.search(case.failed, json.dumps(item)), item

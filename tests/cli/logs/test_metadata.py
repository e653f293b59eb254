"""``kap metadata`` on the log of a real cluster."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kafka_admin_proto.cli.logs.cells import state_cell
from tests.helpers.kap import ended, run_kap
from tests.records.make_metadata_log import FOLDER


def run(*args: str) -> Result:
    return run_kap("metadata", *args)


def run_json(*args: str) -> dict[str, Any]:
    result = ended(run(*args, "--output", "json"))
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def rows(output: str, heading: str) -> list[list[str]]:
    """The cells of the table whose first column is headed so."""
    table = next(t for t in output.split("\n\n") if t.split("\n")[0].split("  ")[0] == heading)
    return [line.split() for line in table.strip().split("\n")[1:]]


def test_tables_of_the_whole_cluster() -> None:
    result = ended(run(str(FOLDER)))
    assert result.stderr == ""
    assert result.stdout.startswith(
        "offset 93, epoch 1, metadata.version 4.3-IV0, "
        "from snapshot 00000000000000000076-0000000001.checkpoint\n"
    )
    assert [row[0] for row in rows(result.stdout, "topic")] == ["fruit", "fungi", "nuts", "veg"]
    assert [row[0] for row in rows(result.stdout, "partition")][:2] == ["fruit-0", "fruit-1"]
    assert rows(result.stdout, "SCRAM user") == [
        ["alice", "SCRAM-SHA-256", "4096"],
        ["bob", "SCRAM-SHA-512", "4096"],
    ]
    assert ["user=<default>", "request_percentage", "12.5"] in rows(result.stdout, "entity")
    assert rows(result.stdout, "broker")[0][:4] == ["1", "yes", "yes", "14"]


def copied(folder: Path, *names: str) -> Path:
    for name in names or [path.name for path in FOLDER.iterdir()]:
        shutil.copyfile(FOLDER / name, folder / name)
    return folder


def quorum_state(leader: int, epoch: int) -> str:
    return json.dumps({"leaderId": leader, "leaderEpoch": epoch, "votedId": -1, "data_version": 1})


NEWEST = "00000000000000000076-0000000001.checkpoint"


def test_the_active_controller(tmp_path: Path) -> None:
    first = {"id": 1, "epoch": 1, "source": "LEADER_CHANGE", "offset": 0}
    assert run_json(str(FOLDER))["activeController"] == first
    assert run_json(str(FOLDER), "--at", "60")["activeController"] == first
    line = "active controller 1 in epoch 1 (LEADER_CHANGE at offset 0)"
    assert run(str(FOLDER)).stdout.splitlines()[1] == line
    state = copied(tmp_path) / "quorum-state"
    for leader, epoch, expected in [
        (3, 1, first),
        (3, 7, {"id": 3, "epoch": 7, "source": "quorum-state", "offset": None}),
        (-1, 7, {"id": None, "epoch": 7, "source": "quorum-state", "offset": None}),
    ]:
        state.write_text(quorum_state(leader, epoch))
        assert run_json(str(tmp_path))["activeController"] == expected
        assert run_json(str(tmp_path), "--at", "60")["activeController"] == first
    assert "active controller none elected in epoch 7" in run(str(tmp_path)).stdout
    state.write_text("{")
    result = ended(run(str(tmp_path), "--output", "json"), 1)
    assert "quorum-state does not read" in result.stderr
    assert json.loads(result.stdout)["activeController"] == first


def test_a_snapshot_alone_does_not_tell_who_is_the_controller(tmp_path: Path) -> None:
    copied(tmp_path, NEWEST)
    result = run(str(tmp_path))
    assert result.stdout.splitlines()[1].startswith("active controller not known: no LEADER_CHANGE")
    assert run_json(str(tmp_path))["activeController"] is None
    (tmp_path / "quorum-state").write_text(quorum_state(2, 1))
    assert run_json(str(tmp_path))["activeController"]["id"] == 2
    (tmp_path / "quorum-state").write_text(quorum_state(2, 0))  # of before the snapshot
    assert run_json(str(tmp_path))["activeController"] is None


def test_secrets_are_masked_unless_asked_for() -> None:
    assert "opensesame" not in run(str(FOLDER)).output
    assert "opensesame" not in str(run_json(str(FOLDER), "--diff", "40", "50"))
    assert "opensesame" in run(str(FOLDER), "--show-secrets").output
    shown = run_json(str(FOLDER), "--diff", "40", "50", "--show-secrets")
    assert "opensesame" in str(shown)


def test_the_log_dirs_folder_will_do() -> None:
    assert run(str(FOLDER.parent)).stdout == run(str(FOLDER)).stdout


def test_json_at_an_offset() -> None:
    found = run_json(str(FOLDER), "--at", "60")
    assert (found["offset"], found["epoch"], found["metadataVersion"]) == (60, 1, "4.3-IV0")
    assert found["snapshot"] == "00000000000000000042-0000000001.checkpoint"
    assert found["problems"] == []
    assert found["state"]["partitions"]["fruit-3"]["replicas"] == [2, 1]
    assert found["state"]["configs"]["TOPIC fruit"]["retention.ms"] == "7200000"
    assert list(found["state"]["brokers"]) == ["1", "2"]


def test_inside_a_transaction() -> None:
    assert run_json(str(FOLDER), "--at", "7")["unfinishedTransactionSince"] == 3
    output = run(str(FOLDER), "--at", "7").stdout
    assert "the transaction begun at offset 3 has not ended by then" in output
    assert "metadata.version not set" in output


def test_what_changed() -> None:
    changes = run_json(str(FOLDER), "--diff", "64", "67")["changes"]
    assert {
        "kind": "topics", "name": "nuts", "change": "changed", "field": "partitions",
        "before": 2, "after": 1,
    } in changes  # fmt: skip
    table = run(str(FOLDER), "--diff", "64", "67").stdout
    assert table.split("\n")[0].split() == ["change", "kind", "name", "field", "before", "after"]
    assert "removed  configs     TOPIC nuts" in table
    backwards = run_json(str(FOLDER), "--diff", "67", "64")["changes"]
    assert {c["change"] for c in backwards if c["kind"] == "configs"} == {"added"}
    same = run(str(FOLDER), "--diff", "67", "67")
    assert (same.exit_code, same.stdout) == (0, "nothing differs between offsets 67 and 67\n")


def test_what_cannot_be_read_is_told_and_the_rest_shown(tmp_path: Path) -> None:
    shutil.copyfile(FOLDER / "00000000000000000000.log", tmp_path / "00000000000000000000.log")
    with (tmp_path / "00000000000000000000.log").open("ab") as log:
        log.write(b"\0\0\0\0\0\0\0\x5e\0\0\0\x70half")
    result = ended(run(str(tmp_path)), 1)
    assert "fruit" in result.stdout
    assert result.stderr == (
        "00000000000000000000.log, byte 7987: the file is cut short: "
        "the last batch needs 17 bytes and more, and 16 are left\n"
    )
    found = json.loads(run(str(tmp_path), "--output", "json").stdout)
    assert found["problems"][0]["position"] == 7987
    assert found["state"]["topics"]["fruit"]["partitions"] == 4
    assert run(str(tmp_path), "--diff", "60", "93").exit_code == 1


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["--at", "500"], "does not reach offset 500; expected at most 93"),
        (["--at", "3", "--diff", "1", "2"], "--diff and --at exclude each other"),
        (["--diff", "1", "500"], "does not reach offset 500"),
        (["--at", "-1"], "expected a whole number, 0 or more, not '-1'"),
    ],
)
def test_usage(args: list[str], complaint: str) -> None:
    result = ended(run(str(FOLDER), *args), 2)
    assert complaint in result.stderr
    assert result.stdout == ""


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    result = ended(run(str(tmp_path)), 2)
    assert "holds no segments (*.log) and no snapshots (*.checkpoint)" in result.stderr
    assert run(str(tmp_path / "nowhere")).exit_code == 2


def test_an_endpoint_of_ipv6_has_brackets() -> None:
    assert state_cell({"name": "A", "host": "::1", "port": 9092}) == "A://[::1]:9092"
    assert state_cell({"name": "A", "host": "k", "port": 9092}) == "A://k:9092"

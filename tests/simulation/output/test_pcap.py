"""Captures of simulated runs: whole connections that our reader and tshark's dissector take."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from kafka_admin_proto.simulation.output.pcap import write_pcap
from kafka_admin_proto.simulation.scenarios import SCENARIOS
from kafka_admin_proto.simulation.world.trace import Trace
from tests.helpers.kap import ended, run_kap
from tests.helpers.profile import sample
from tests.helpers.requirements import require_program
from tests.simulation.quorum.schedules import play

#: What tshark says of an api or a version that its release does not know yet.
_NEWER = ("[Unsupported API version]", "[Unknown API key]")


def capture(folder: Path, trace: Trace) -> Path:
    file = folder / "run.pcap"
    file.write_bytes(b"".join(write_pcap(trace)))
    return file


def arrived(trace: Trace) -> list[tuple[str, int, str, int]]:
    """Api, version, direction and correlation id of each frame, sorted."""
    return sorted(
        (each.api, each.version, each.type, each.correlation_id)
        for each in trace.events
        if each.kind == "receive"
    )


def decoded(file: Path, dialect: str) -> list[dict[str, object]]:
    arguments = ["decode", str(file), "--dialect", dialect, "--output", "jsonl"]
    return [json.loads(line) for line in ended(run_kap(*arguments)).stdout.splitlines()]


@pytest.mark.parametrize("scenario", sample(sorted(SCENARIOS), 2))
def test_every_frame_that_arrives_is_decoded(scenario: str, tmp_path: Path) -> None:
    trace = SCENARIOS[scenario](1, 40).trace
    rows = decoded(capture(tmp_path, trace), trace.dialect)
    found = [
        (row["api"], row["api_version"], row["direction"], row["correlation_id"]) for row in rows
    ]
    assert sorted(found) == arrived(trace)
    assert [row["problem"] for row in rows if row["problem"] is not None] == []


@pytest.mark.parametrize("seed", [2, 5])
def test_connections_that_break(seed: int, tmp_path: Path) -> None:
    """Losses, crashes and cuts end connections: what arrived before is still decoded."""
    trace = play(seed)[0].trace
    assert any(each.kind == "lose" for each in trace.events)
    rows = decoded(capture(tmp_path, trace), trace.dialect)
    assert len(rows) == len(arrived(trace))
    assert {row["problem"] for row in rows} == {None}


@pytest.mark.parametrize("scenario", sample(sorted(SCENARIOS), 1))
def test_tshark_dissects_every_frame_as_kafka(scenario: str, tmp_path: Path) -> None:
    """Those of apis and versions that its release knows without a fault."""
    program = require_program("tshark")
    trace = SCENARIOS[scenario](1, 40).trace
    told = subprocess.run(
        [program, "-r", str(capture(tmp_path, trace)), "-Y", "kafka", "-T", "fields",
         "-e", "kafka.correlation_id", "-e", "_ws.col.Info", "-e", "_ws.expert.message"],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout.splitlines()  # fmt: skip
    assert sum(len(line.split("\t")[0].split(",")) for line in told) == len(arrived(trace))
    known = [line for line in told if not any(mark in line for mark in _NEWER)]
    assert [line for line in known if "Malformed" in line] == []

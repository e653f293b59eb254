"""Connections whose tasks come first: which they are, and that frames stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from kafka_admin_proto.spark.ingest import skewed_flows
from tests.capture.packets import CLIENT, SERVER, conversation, pcap
from tests.capture.test_captures import USUAL
from tests.spark.tables.test_pipeline import by_one_process, frames_in, make
from tests.spark.traffic import write_mixed

SPLIT = 1 << 20


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skewed_flows, "_WORTH", 0)


def write(folder: Path, turns: Sequence[int]) -> list[str]:
    """A file for each, in which a first connection says so much and thirty others a little."""
    names = []
    for number, times in enumerate(turns):
        packets = conversation(USUAL * times)
        for port in range(30):
            packets += conversation(USUAL, client=(CLIENT[0], 50_000 + 100 * number + port))
        names.append(str(folder / f"{number:02}.pcap"))
        Path(names[-1]).write_bytes(pcap(packets))
    return names


@pytest.mark.usefixtures("any_size")
def test_the_heavy_one(tmp_path: Path) -> None:
    (found,) = skewed_flows.skewed_flows(write(tmp_path, [40] * 20), SPLIT)
    ports = {int.from_bytes(found[-4:-2], "big"), int.from_bytes(found[-2:], "big")}
    assert ports == {CLIENT[1], SERVER[1]}


@pytest.mark.usefixtures("any_size")
def test_none_is_heavy(tmp_path: Path) -> None:
    assert skewed_flows.skewed_flows(write(tmp_path, [1] * 3), SPLIT) == []


@pytest.mark.usefixtures("any_size")
def test_what_is_no_capture(tmp_path: Path) -> None:
    """Logs, noise, empty and missing files: whoever reads them says what is wrong."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "cut.pcap").write_bytes(pcap(conversation(USUAL))[:30])
    names = [str(tmp_path / each) for each in ("empty", "noise", "cut.pcap", "missing")]
    assert skewed_flows.skewed_flows(names, SPLIT) == []
    assert skewed_flows.skewed_flows([], SPLIT) == []


def test_small_captures_are_not_looked_at(tmp_path: Path) -> None:
    assert skewed_flows.skewed_flows(write(tmp_path, [40]), SPLIT) == []


@pytest.mark.exhaustive
@pytest.mark.usefixtures("any_size")
def test_frames_are_those_of_one_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skewed_flows, "_SHARE", 0.02)
    mixed = write_mixed(tmp_path / "captures")
    assert skewed_flows.skewed_flows(list(map(str, mixed)), SPLIT)
    make(spark, tmp_path / "out", mixed)
    assert frames_in(spark, tmp_path / "out") == by_one_process(mixed, [])

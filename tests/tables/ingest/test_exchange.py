"""The exchange by flow: chunks come back whole, each once, by flow and in order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark")

from kafka_admin_proto.tables.ingest import exchange
from kafka_admin_proto.tables.ingest.chunks import chunks_of
from kafka_admin_proto.tables.ingest.exchange import balanced, read_chunks, write_chunks
from kafka_admin_proto.tables.ingest.files import plan
from kafka_admin_proto.tables.ingest.packets import packet_rows
from tests.tables.traffic import write_mixed


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return list(map(str, write_mixed(tmp_path_factory.mktemp("exchange") / "mixed")))


@given(tasks=st.integers(1, 4), buckets=st.integers(1, 9), open_files=st.integers(1, 3))
def test_chunks_come_back(mixed: list[str], tasks: int, buckets: int, open_files: int) -> None:
    parts = plan([*mixed, "/missing"], 5000)
    expected = [chunk for part in parts for chunk in chunks_of(packet_rows(part))]
    found = []
    flows: list[set[bytes]] = []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "_OPEN_FILES", open_files)
        files = [write_chunks(parts[number::tasks], folder, buckets) for number in range(tasks)]
        assert len(list(Path(folder).iterdir())) == tasks
        for bucket in range(buckets):
            chunks = list(read_chunks([each[bucket] for each in files if bucket in each]))
            order = [(flow, ordinal) for _, ordinal, _, flow, *_ in chunks]
            assert order == sorted(order)
            flows.append({flow for flow, _ in order})
            found += chunks
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert sum(map(len, flows)) == len(set[bytes]().union(*flows))


@given(st.lists(st.integers(0, 1000)), st.integers(1, 500), st.integers(1, 20))
def test_shares_are_balanced(sizes: list[int], least: int, most: int) -> None:
    shares = balanced(sizes, int, least, most)
    assert sorted(size for share in shares for size in share) == sorted(sizes)
    totals = [sum(share) for share in shares]
    assert totals == sorted(totals, reverse=True)
    assert len(shares) <= most
    assert all(share for share in shares)
    if len(shares) > 1:
        assert len(shares) <= sum(sizes) / least
        assert totals[0] - totals[-1] <= max(sizes)

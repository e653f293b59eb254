"""The figures of ``kap serve``: the tool runs, and sees what a server answers."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from kafka_admin_proto.messages import ApiVersionsRequest
from tools.benchmarks import server as bench_server
from tools.benchmarks.request_load import Load, load, request_frame

_FEW = [
    "--rounds=1", "--seconds=0.1", "--warm-up=0.1", "--starts=1", "--clients=2", "--topics=3",
]  # fmt: skip


@pytest.mark.exhaustive
def test_a_short_run_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("the server and its clients need a processor each")
    bench_server.main(["--alone", *_FEW])
    rows = [line.split("|")[1:3] for line in capsys.readouterr().out.splitlines() if "|" in line]
    figures = {title.strip(): cell.strip() for title, cell in rows}
    for title in ("ApiVersions: requests/s", "Metadata: p99", "memory then"):
        assert float(figures[title].split()[0].replace(",", "")) > 0
    assert len(os.sched_getaffinity(0)) >= 2


def test_the_clients_notice_a_closed_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def close() -> None:
            server.accept()[0].close()

        thread = threading.Thread(target=close)
        thread.start()
        data = request_frame(ApiVersionsRequest(), 0)
        with pytest.raises(ConnectionResetError):
            load(server.getsockname(), os.getpid(), [data], 100, 1, 5)
        thread.join()


def test_figures_of_a_load() -> None:
    found = Load(2.0, [1000 * each for each in range(1, 101)], 0.5, 1.0)
    assert found.per_second == 50
    assert found.per_cpu_second == 200
    assert found.busy_percent == 50
    assert found.percentile_us(50) == 50
    assert found.percentile_us(99) == 99

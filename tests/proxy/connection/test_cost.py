"""What one small request costs the proxy, in calls of Python, which no other load changes."""

from __future__ import annotations

import collections
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import kafka_admin_proto
from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.messages import HeartbeatRequest, MetadataRequest
from kafka_admin_proto.proxy import SyncProxy
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.network.test_connection import answers, asked

_PACKAGE = str(Path(kafka_admin_proto.__file__).parent)


class _Calls:
    """Counts the calls of the package's functions in the thread whose profiler it is."""

    def __init__(self) -> None:
        self.found: collections.Counter[str] = collections.Counter()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_PACKAGE):
            self.found[frame.f_code.co_qualname] += 1


async def _profile(profiler: _Calls | None) -> None:
    sys.setprofile(profiler)


@pytest.mark.parametrize(
    ("request_body", "version", "most"),
    [(HeartbeatRequest("g", 1, "m", None), 4, 40), (MetadataRequest(topics=[]), 12, 60)],
    ids=["as it came", "with addresses"],
)
def test_a_small_request_takes_few_calls(request_body: Message, version: int, most: int) -> None:
    """From its bytes to those of its answer: a frame that passes, and one that is written anew."""
    calls, count = _Calls(), 20
    with SyncCluster() as cluster, SyncProxy(cluster.bootstrap_servers) as proxy:
        with SyncAdminClient(proxy.bootstrap_servers) as client:
            (node,) = client.describe_cluster().nodes
        with socket.create_connection((node.host, node.port), timeout=30) as client_socket:

            def ask(number: int) -> None:
                client_socket.sendall(asked(request_body, version, number))
                answers(client_socket, 1)

            ask(0)  # what is made once
            proxy._thread.run(_profile(calls))
            for number in range(count):
                ask(number)
            proxy._thread.run(_profile(None))
    assert calls.found["Side.buffer_updated"] == 2 * count, "one turn of the loop for each way"
    assert calls.found.total() <= count * most, calls.found.most_common()

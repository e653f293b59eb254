"""kill -9 at random moments under load: every topic that was acknowledged is there afterwards."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafka_admin_proto.messages import CreateTopicsRequest, MetadataRequest
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from tests.everything import EXHAUSTIVE, SEED
from tests.server.differential.wire import Nodes

_KILLS = 50 if EXHAUSTIVE else 2
_CLIENTS = 3
_LONGEST_S = 0.6


def serve(brokers: int, folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "kafka_admin_proto", "serve", "--data", str(folder)]
    process = subprocess.Popen(
        [*command, "--brokers", str(brokers)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def create_until_killed(bootstrap: str, prefix: str, acknowledged: list[str]) -> None:
    with Nodes(bootstrap) as nodes:
        for number in range(10_000):
            name = f"{prefix}-{number}"
            request = CreateTopicsRequest([CreatableTopic(name, 3, 1)], timeout_ms=1000)
            answer = nodes.ask(number % len(nodes.addresses), request, 7)
            if answer is None:
                return
            assert answer.topics[0].error_code == 0
            acknowledged.append(name)


@pytest.mark.parametrize("brokers", [1, 3])
def test_what_was_acknowledged_is_there(brokers: int, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    acknowledged: list[str] = []
    for turn in range(_KILLS):
        process, bootstrap = serve(brokers, tmp_path)
        clients = [
            threading.Thread(
                target=create_until_killed, args=(bootstrap, f"t{turn}-{client}", acknowledged)
            )
            for client in range(_CLIENTS)
        ]
        try:
            with Nodes(bootstrap) as nodes:
                answer = nodes.ask(0, MetadataRequest(topics=None), 12)
            assert {each.name for each in answer.topics} >= set(acknowledged)
            for client in clients:
                client.start()
            threading.Event().wait(draw.uniform(0.02, _LONGEST_S))
        finally:
            process.kill()
            process.communicate()
        for client in clients:
            client.join()
    assert len(acknowledged) > _KILLS

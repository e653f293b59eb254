"""kill -9 at random moments while groups commit, transactions end and share groups acknowledge.

What was acknowledged holds after the next start, of which torn writes at the ends of the
coordinators' logs take nothing. ``KAFKA_ADMIN_PROTO_KILLS=50`` ends each cluster 50 times.
"""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from tests.helpers.profile import SEED
from tests.server.kills.clients import ClassicMember, ConsumerMember, KilledClient, configs, prepare
from tests.server.kills.producers import TransactionalProducer
from tests.server.kills.servers import KILLS, LONGEST_S, killed_server
from tests.server.kills.sharers import ShareMember

_COORDINATED = ("__consumer_offsets", "__transaction_state", "__share_group_state")


def add_torn_writes(folder: Path, draw: random.Random) -> None:
    """Let some logs of coordinators end with bytes of a batch that was never acknowledged."""
    for path in sorted(folder.rglob("*.log")):
        if path.parent.name.rpartition("-")[0] in _COORDINATED and draw.random() < 0.5:
            data = path.read_bytes()
            count = draw.randrange(1, 5000)
            # The first bytes of a batch, whose header alone is longer, or what a disk had there.
            torn = (data[: min(count, 60)], bytes(count), draw.randbytes(count))
            path.write_bytes(data + draw.choice(torn))


@pytest.mark.exhaustive
@pytest.mark.parametrize("brokers", [1, pytest.param(3, marks=pytest.mark.explore)])
def test_what_coordinators_acknowledged_holds(brokers: int, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    clients: list[KilledClient] = [
        *(ClassicMember(number) for number in range(2)),
        *(ConsumerMember(number) for number in range(2)),
        *(TransactionalProducer(number) for number in range(2)),
        *(ShareMember(number) for number in range(2)),
    ]
    for turn in range(KILLS + 1):
        threads: list[threading.Thread] = []
        with killed_server(brokers, tmp_path, configs(brokers)) as bootstrap:
            if turn == 0:
                prepare(bootstrap, brokers)
            for each in clients:
                each.start_turn(bootstrap, turn, checked=turn > 0)
            if turn < KILLS:
                threads = [threading.Thread(target=each.run) for each in clients]
                for thread in threads:
                    thread.start()
                for each in clients:
                    assert each.first_answer.wait(60), each.name
                threading.Event().wait(draw.uniform(0, LONGEST_S))
        for thread in threads:
            thread.join()
        for each in clients:
            each.end_turn()
        add_torn_writes(tmp_path, draw)
    assert all(each.answers for each in clients)

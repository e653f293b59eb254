"""Requests that only a raw client sends have the answers that real clusters were recorded with."""

from __future__ import annotations

import pytest

from kafka_admin_proto.values import Message
from tests.server.differential.comparison import Comparison, unlisted
from tests.server.differential.recorded import CONFIGS, FIRST, answers_of, read
from tests.server.served import Served
from tools.kafka_releases import BEFORE_NEWEST, LAST_WITH_ZOOKEEPER, NEWEST


@pytest.mark.parametrize("release", [NEWEST, BEFORE_NEWEST, LAST_WITH_ZOOKEEPER])
def test_answers_are_those_of_real_clusters(release: str) -> None:
    """One cluster is asked all of it: the requests change nothing but `a`, which is there."""
    served = Served(release.rpartition(".")[0], configs=CONFIGS)
    served.ask(FIRST, 5)
    recorded = read()
    served.state.quorum.controller = recorded.controllers[release]
    compared = Comparison(({}, {}))
    failed = list[str]()
    for case, answer in answers_of(recorded, release):
        ours: Message = served.ask(case.message, case.version)
        if lines := unlisted(compared.differences(answer, ours)):
            failed.append("\n   ".join([repr(case.message), *lines]))
    assert not failed, "\n" + "\n".join(failed)

"""The example docs/examples/metrics_probe.py: what it counts and how it says it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kafka_admin_proto.admin import (
    BrokerFailure,
    GroupDescription,
    GroupLag,
    GroupListing,
    GroupOffset,
    GroupOffsets,
    ListedGroup,
    ListedOffset,
    PartitionDescription,
    TopicDescription,
)
from kafka_admin_proto.admin.operations.groups.lag import partition_lags

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "metrics_probe.py"


@pytest.fixture(scope="module")
def probe() -> ModuleType:
    spec = importlib.util.spec_from_file_location("metrics_probe", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Cluster:
    """In the place of SyncAdminClient, with answers that are put into it."""

    def __init__(self, isr: list[list[int]]) -> None:
        self.partitions = [
            PartitionDescription(
                partition=at,
                leader=own[0] if own else None,
                leader_epoch=1,
                replicas=[1, 2],
                isr=own,
                offline=[],
            )
            for at, own in enumerate(isr)
        ]

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *of: object) -> None:
        return None

    def brokers(self) -> dict[int, Any]:
        return {1: None, 2: None}

    def describe_topics(self) -> list[TopicDescription]:
        return [TopicDescription(name="t", partitions=self.partitions)]

    def list_groups(self) -> GroupListing:
        rows = [ListedGroup("g", "classic", "consumer", "Empty", 1)]
        rows.append(ListedGroup("s", "share", "share", "Empty", 1))
        return GroupListing(rows, [BrokerFailure(2, "ConnectionFailedError", "no route")])

    def describe_group_lags(self, groups: list[str]) -> list[GroupLag]:
        assert groups == ["g"]
        group = GroupDescription("g")
        rows = [GroupOffset("t", 0, 3), GroupOffset("t", 1, 9), GroupOffset("t", 2, None)]
        ends = {  # the second was cut since the commit
            ("t", at): ListedOffset(topic="t", partition=at, offset=end)
            for at, end in enumerate([10, 8, 5])
        }
        return [GroupLag(group, partition_lags(group, GroupOffsets("g", rows), ends), None, None)]


@pytest.mark.parametrize(
    ("isr", "offline", "under_replicated"),
    [([[1, 2], [2, 1]], 0, 0), ([[1], [2, 1], [1]], 0, 2), ([[], [1], [1, 2]], 1, 2)],
)
def test_what_is_offline_under_replicated_and_behind(
    probe: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    isr: list[list[int]],
    offline: int,
    under_replicated: int,
) -> None:
    monkeypatch.setattr(probe, "SyncAdminClient", lambda *of, **named: Cluster(isr))
    assert probe.main("nowhere:9092") == (1 if offline else 0)
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "kafka_brokers 2",
        f"kafka_offline_partitions {offline}",
        f"kafka_under_replicated_partitions {under_replicated}",
        'kafka_group_lag{group="g",topic="t",partition="0"} 7',
        'kafka_group_lag{group="g",topic="t",partition="1"} 0',
    ]
    assert "broker 2: ConnectionFailedError: no route" in printed.err


def test_labels_are_escaped(probe: ModuleType) -> None:
    assert probe.text('a"b\\c\nd') == 'a\\"b\\\\c\\nd'

"""The comparison with Kafka's own classes: a small run of it, and that it notices what is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.schema.catalog import catalog
from tests.oracle import require_oracle
from tools import conformance
from tools.oracle import JavaOracle

#: Values of each (message, version), each way; `make conformance` has more.
VALUES = 3


@pytest.mark.parametrize("shard", [0, 1])
def test_every_message_agrees(shard: int) -> None:
    require_oracle()
    found = conformance.sweep(VALUES, seed=shard, shard=shard, shards=2)
    for release, findings in found.items():
        assert findings.disagreements == [], release
        assert findings.versions > 350
        ways = (findings.from_java, findings.to_java, findings.damaged)
        assert ways == (VALUES * findings.versions,) * 3


def test_damage_is_felt() -> None:
    """Most damaged bytes are refused by both; some are read by both, some by Java alone."""
    require_oracle()
    found = conformance.sweep(60, seed=1, shard=7, shards=60)
    for findings in found.values():
        assert findings.disagreements == []
        assert findings.on_purpose.keys() >= {"negative length", conformance.NOT_UTF8}


#: A part of the codec, how it goes wrong, and what the comparison says then.
FAULTS: list[tuple[str, Any, str]] = [
    ("encode", lambda right: lambda self, value, **k: right(self, value, **k)[:-1], "otherwise"),
    ("to_json", lambda right: lambda self, value, **k: {}, "JSON is"),
    ("decode_from", lambda right: lambda self, data, **k: (self.value_class(), len(data)), "Java"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "fault", "said"), FAULTS, ids=[part for part, _, _ in FAULTS])
def test_faults_are_noticed(
    part: str, fault: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_oracle()
    monkeypatch.setattr(Codec, part, fault(getattr(Codec, part)))
    found = conformance.sweep(3, seed=1, shard=40, shards=280)
    disagreements = [line for findings in found.values() for line in findings.disagreements]
    assert disagreements
    assert any(said in line for line in disagreements)


def test_the_page_is_up_to_date() -> None:
    """All of docs/conformance.md but the numbers of values, which a whole run writes."""
    require_oracle()
    found = {}
    for release in conformance.RELEASES:
        findings = found[release] = conformance.Findings()
        with JavaOracle(release) as oracle:
            for message in oracle.messages():
                for version in range(message.lowest, message.highest + 1):
                    if not conformance.skipped(release, message.name, version):
                        findings.messages.add(message.name)
                        findings.versions += 1
        findings.from_java = findings.to_java = findings.damaged = 200 * findings.versions
    shown = conformance.PAGE.read_text("utf-8")
    wanted = conformance.page(found, conformance.older_versions())
    assert re.sub(r"\b\d{6,}\b", "many", shown) == re.sub(r"\b\d{6,}\b", "many", wanted)
    assert all(int(count) >= 140_000 for count in re.findall(r"\b\d{6,}\b", shown))
    listed = {name for name in catalog().names() if catalog().overlay(name).layout_changed}
    assert listed <= set(re.findall(r"^- (\w+) v", shown, re.MULTILINE))

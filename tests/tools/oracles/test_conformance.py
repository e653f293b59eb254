"""The comparison with Kafka's own classes: a small run of it, and that it notices what is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_admin_proto import CreateTopicsRequest
from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.schema.catalog import catalog
from tests.helpers.profile import EXHAUSTIVE, SEED
from tests.helpers.requirements import require_oracle
from tools.oracles import conformance
from tools.oracles.comparison import HIGHEST_TAG, NOT_UTF8, RELEASES, Check, Findings
from tools.oracles.damage import with_wrong_lengths
from tools.oracles.oracle import JavaOracle

pytestmark = pytest.mark.exhaustive

#: Values of each (message, version), each way; `make conformance` has more.
VALUES = 3 if EXHAUSTIVE else 1
#: Parts into which the messages are cut. Two are compared: all, or another quarter in each run.
SHARDS = 2 if EXHAUSTIVE else 8


@pytest.mark.explore
@pytest.mark.parametrize("shard", [0, 1])
def test_every_message_agrees(shard: int) -> None:
    require_oracle()
    chosen = (SEED + shard) % SHARDS
    found = conformance.sweep(VALUES, seed=shard, shard=chosen, shards=SHARDS)
    for release, findings in found.items():
        assert findings.disagreements == [], release
        assert findings.versions > 700 // SHARDS * 0.8
        ways = (findings.from_java, findings.to_java, findings.damaged)
        assert ways == (VALUES * findings.versions,) * 3


def compared(name: str, version: int, values: int) -> Findings:
    """One version of a message beside 4.4.0's."""
    findings = Findings()
    with JavaOracle() as oracle:
        mine = codec(name, version)
        drawn = list(conformance.draw(mine, values, seed=1))
        Check((name, version), mine, oracle, findings, values, seed=1).run(drawn)
    return findings


def test_damage_is_felt() -> None:
    """Wrong lengths, bad text and odd tags: what Java alone reads is known and counted."""
    require_oracle()
    assert on_purpose(2) >= {"negative length", NOT_UTF8}
    assert on_purpose(7) >= {"varint over 31 bits", NOT_UTF8, HIGHEST_TAG}


def on_purpose(version: int) -> set[str]:
    """The kinds of differences that damage to a CreateTopics request meets beside 4.4.0."""
    config = CreatableTopicConfig("cleanup.policy", "")  # whose value may be null
    topic = CreatableTopic("apples", 3, 1, configs=[config])
    mine, tag = codec(CreateTopicsRequest, version), (2**31 - 1, b"")
    whole = mine.encode(CreateTopicsRequest(topics=[topic]))
    wires = [wire for _, _, wire in with_wrong_lengths(mine, whole)]
    wires.append(whole.replace(b"apples", b"appl\xffs"))
    if version >= 5:  # which has tags
        wires.append(mine.encode(CreateTopicsRequest(unknown_tagged_fields=(tag,))))
    findings = Findings()
    with JavaOracle() as oracle:
        key = ("CreateTopicsRequest", version)
        check = Check(key, mine, oracle, findings, len(wires), seed=1)
        for wire, answer in zip(wires, check.read_by_java(wires), strict=True):
            check.damaged(wire, answer)
    assert findings.disagreements == []
    return {*findings.on_purpose}


def _backwards(right: Any) -> Any:
    return lambda self, value: right(self, replace(value, topics=value.topics[::-1]))


def _forgetful(right: Any) -> Any:
    return lambda self, value: {}


def _careless(right: Any) -> Any:
    """Reads whatever comes as an empty message, up to the end."""

    def decode_from(self: Any, data: bytes, *args: Any, **kwargs: Any) -> Any:
        if kwargs:  # what damages bytes must still find their lengths
            return right(self, data, *args, **kwargs)
        return self.value_class(), len(data)

    return decode_from


#: A method of the codec, how it goes wrong, and what the comparison says then.
FAULTS = [
    ("encode", _backwards, "v2: encodes otherwise here"),
    ("to_json", _forgetful, "v2: Java's JSON is"),
    ("decode_from", _careless, "v2: Java refuses damaged bytes"),
]


@pytest.mark.parametrize(("part", "fault", "said"), FAULTS, ids=[row[0] for row in FAULTS])
def test_faults_are_noticed(
    part: str, fault: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_oracle()
    monkeypatch.setattr(Codec, part, fault(getattr(Codec, part)))
    findings = compared("CreateTopicsRequest", 2, 30)
    assert any(re.search(said, line) for line in findings.disagreements)


def test_the_page_is_up_to_date() -> None:
    """All of docs/conformance.md but the numbers of values, which a whole run writes."""
    require_oracle()
    found = {}
    for release in RELEASES:
        findings = found[release] = Findings()
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

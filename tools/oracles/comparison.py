"""One message at one version here and in Kafka's own classes of one release, both ways.

- Java → here: values that Java draws; its bytes decode, encode to the same bytes, same JSON.
- here → Java: values that the package's own strategies draw; the same the other way.
- damaged: those bytes cut, flipped, extended, with wrong lengths and foreign tags; both refuse
  them, or both read the same and write the same.

The differences on purpose are listed with their reasons; everything else is a disagreement.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import json_name
from kafka_admin_proto.wire.types.tagged import TaggedFields
from kafka_admin_proto.wire.varint import MAX_UVARINT
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.damage import damage
from tools.oracles.oracle import Decoded, JavaOracle, JavaRefusal

#: Last release with ZooKeeper (and so with all old versions), and the newest one.
RELEASES = (LAST_WITH_ZOOKEEPER, NEWEST)


class OnlyJavaReads(Struct, frozen=True):
    """A difference on purpose: Java reads bytes that raise an error with such a fault here."""

    reason: str
    fault: re.Pattern[str]
    releases: tuple[str, ...] = RELEASES


ONLY_JAVA_READS = {
    "negative length": OnlyJavaReads(
        "Java reads any negative length or count as null, or as none; here below -1 is an error",
        re.compile(r"has (length|count) -\d+"),
    ),
    "varint over 31 bits": OnlyJavaReads(
        "Java drops the upper bits, or takes the result for a negative number: no tags, null",
        re.compile(r"is \d+, which is out of range"),
    ),
    "tag of a later version": OnlyJavaReads(
        "the older release does not know it yet and keeps it; the newer one refuses it, as here",
        re.compile(r"tag \d+ is not valid in this version"),
        RELEASES[:1],
    ),
}
#: Differences in bytes that both read.
NOT_UTF8 = "text that is not UTF-8"
NOT_WRITTEN_BY_JAVA = "unknown tags out of order"
HIGHEST_TAG = f"tag {MAX_UVARINT}"
READ_ALIKE = {
    NOT_UTF8: "Java puts U+FFFD in its place and writes that; here the bytes survive, and JSON "
    "shows U+FFFD",
    NOT_WRITTEN_BY_JAVA: "Java reads repeated or unordered unknown tags and refuses to write "
    "them; here they are written, sorted",
    HIGHEST_TAG: "Java reads an unknown tag of that number and refuses to write it; here it is a "
    "tag like any other",
}


class Findings(Struct):
    """What a sweep of one release found; ``on_purpose`` counts by the name of the difference."""

    messages: set[str] = field(default_factory=set)
    versions: int = 0
    from_java: int = 0
    to_java: int = 0
    damaged: int = 0
    on_purpose: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        self.messages |= other.messages
        self.versions += other.versions
        self.from_java += other.from_java
        self.to_java += other.to_java
        self.damaged += other.damaged
        self.on_purpose += other.on_purpose
        self.disagreements += other.disagreements


class Check:
    """One message at one version against one release."""

    def __init__(
        self,
        key: tuple[str, int],
        mine: Codec[Any],
        oracle: JavaOracle,
        findings: Findings,
        values: int,
        seed: int,
    ) -> None:
        self.mine = mine
        self.oracle = oracle
        self.findings = findings
        self.values = values
        self.seed = seed
        self.key = key

    def run(self, drawn: list[Any]) -> None:
        self.findings.messages.add(self.key[0])
        self.findings.versions += 1
        seeds = range(self.seed, self.seed + self.values)
        made = self.oracle.random_many((*self.key, each) for each in seeds)
        for each, value_of_java in zip(seeds, made, strict=True):
            self.findings.from_java += 1
            self.from_java(f"Java's value {each}", value_of_java)
        wires = [self.mine.encode(value) for value in drawn]
        for value, wire, answer in zip(drawn, wires, self.read_by_java(wires), strict=True):
            self.findings.to_java += 1
            self.to_java(value, wire, answer)
        dice = random.Random(f"{self.seed} {self.key}")
        broken = [damage(self.mine, wire, dice) for wire in wires]
        for wire, answer in zip(broken, self.read_by_java(broken), strict=True):
            self.findings.damaged += 1
            self.damaged(wire, answer)

    def read_by_java(self, wires: list[bytes]) -> Iterator[Decoded | JavaRefusal]:
        return self.oracle.decode_many((*self.key, wire) for wire in wires)

    def disagree(self, what: str, wire: bytes | str) -> None:
        data = wire if isinstance(wire, str) else wire.hex()
        self.findings.disagreements.append(f"{self.mine.name} v{self.mine.version}: {what}: {data}")

    def from_java(self, what: str, answer: tuple[bytes, object] | JavaRefusal) -> None:
        if isinstance(answer, JavaRefusal):
            self.disagree(f"Java cannot write its own value, {answer}", what)
            return
        wire, java = answer
        try:
            value = self.mine.decode(wire)
        except DecodeError as error:
            self.disagree(f"refused here: {error}", wire)
            return
        if self.mine.encode(value) != wire:
            self.disagree("encodes otherwise here", wire)
        if as_java(self.mine.to_json(value), java, self.mine.spec) != java:
            self.disagree(f"Java's JSON is {java}", wire)

    def to_java(self, value: Any, wire: bytes, answer: Decoded | JavaRefusal) -> None:
        if isinstance(answer, JavaRefusal):
            self.disagree(f"Java refuses, {answer}", wire)
        elif answer.left:
            self.disagree(f"Java leaves {answer.left} bytes", wire)
        else:
            self.same(value, wire, wire, answer)

    def same(self, value: Any, wire: bytes, again: bytes, answer: Decoded) -> None:
        """Compare what both read, and the bytes that both write for it."""
        java_json = as_java(self.mine.to_json(value), answer.json, self.mine.spec)
        if (again, java_json) == (answer.reencoded, answer.json):
            return
        odd = any(isinstance(leaf, str) and not is_utf8(leaf) for leaf in leaves(value))
        if odd and one_mark(java_json) == one_mark(answer.json):
            self.findings.on_purpose[NOT_UTF8] += 1
        elif java_json != answer.json or answer.reencoded is not None:
            self.disagree(f"Java reads {answer.json}, writes {answer.reencoded!r}", again)
        elif ("tag", MAX_UVARINT) in leaves(value):
            self.findings.on_purpose[HIGHEST_TAG] += 1
        elif any(" after tag " in note for note in self.mine.non_canonical(wire)):
            self.findings.on_purpose[NOT_WRITTEN_BY_JAVA] += 1
        else:
            self.disagree(f"Java reads {answer.json} and does not write it", again)

    def damaged(self, wire: bytes, answer: Decoded | JavaRefusal) -> None:
        try:
            value, end = self.mine.decode_from(wire)
        except DecodeError as error:
            if not isinstance(answer, JavaRefusal):
                self.only_java_reads(wire, error)
            return
        if isinstance(answer, JavaRefusal):
            self.disagree(f"Java refuses damaged bytes that are read here, {answer}", wire)
            return
        if answer.left != len(wire) - end:
            self.disagree(f"Java leaves {answer.left} bytes, here {len(wire) - end} are left", wire)
            return
        self.same(value, wire, self.mine.encode(value), answer)

    def only_java_reads(self, wire: bytes, error: DecodeError) -> None:
        for name, difference in ONLY_JAVA_READS.items():
            if self.oracle.release in difference.releases and difference.fault.search(error.fault):
                self.findings.on_purpose[name] += 1
                return
        self.disagree(f"Java reads damaged bytes that are refused here, {error}", wire)


def leaves(value: Any) -> Iterator[Any]:
    """Every value that holds no other, at any depth; of an unknown tag its number."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            if name == TaggedFields.ATTRIBUTE:
                yield from (("tag", tag) for tag, _ in getattr(value, name))
            else:
                yield from leaves(getattr(value, name))
    else:
        yield value


def one_mark(obj: Any) -> Any:
    """JSON with one U+FFFD for several: how many stand for damaged bytes is a decoder's choice."""
    return json.loads(re.sub("\ufffd+", "\ufffd", json.dumps(obj, ensure_ascii=False)))


def is_utf8(text: str) -> bool:
    """Whether the text's bytes were UTF-8."""
    return not any("\udc80" <= character <= "\udcff" for character in text)


def as_java(ours: Any, java: Any, spec: MessageSpec) -> Any:
    """Our JSON with the older release's names, and without what Java leaves out.

    Java leaves out unknown tags, and the bytes of records: it writes an empty string for these.
    """
    structs = [spec.struct, *spec.structs().values()]
    fields = [each for struct in structs for each in struct.fields]
    former = {json_name(f.name): json_name(f.aliases[0]) for f in fields if f.aliases}
    records = {json_name(f.name) for f in fields if f.type.element == "records"}

    def walk(ours: Any, java: Any) -> Any:
        if isinstance(ours, dict) and isinstance(java, dict):
            result = {}
            for key, item in ours.items():
                name = key if key in java else former.get(key, key)
                if key in records and item is not None:
                    result[name] = ""
                elif key != TaggedFields.JSON_NAME:
                    result[name] = walk(item, java.get(name))
            return result
        if isinstance(ours, list) and isinstance(java, list) and len(ours) == len(java):
            return [walk(item, other) for item, other in zip(ours, java, strict=True)]
        return ours

    return walk(ours, java)

"""The table of meanings: against the definitions, and against the enums in Kafka's own classes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.render.meanings import (
    all_meanings,
    api_name,
    duration,
    meaning_of,
    size,
    timestamp,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec, FieldType
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS
from tests.helpers.requirements import require_oracle
from tools.oracles import jars
from tools.oracles.java import run
from tools.oracles.libraries import SLF4J

SOURCE = Path(__file__).parents[1] / "java" / "EnumTable.java"
INTEGERS = {row.name for row in SCALARS.values() if row.bounds is not None}
ARTIFACTS = (
    "kafka-clients", "kafka-metadata", "kafka-group-coordinator", "kafka-transaction-coordinator",
    *SLF4J,
)  # fmt: skip


def fields_of(spec: MessageSpec) -> Iterator[tuple[str, FieldType]]:
    """Every field by its path from the message on, and its type."""
    structs = spec.structs()

    def walk(fields: tuple[FieldSpec, ...], prefix: str) -> Iterator[tuple[str, FieldType]]:
        for field in fields:
            yield prefix + field.name, field.type
            if field.type.is_struct:
                yield from walk(structs[field.type.element].fields, f"{prefix}{field.name}.")

    return walk(spec.fields, "")


@cache
def all_fields() -> dict[str, FieldType]:
    """``Message.Path`` → type, of everything that Kafka ships."""
    return {
        f"{name}.{path}": type_
        for name in catalog().names()
        for path, type_ in fields_of(catalog().spec(name))
    }


def listed() -> list[tuple[str, str]]:
    return [(name, field) for name, meaning in all_meanings().items() for field in meaning.fields]


@pytest.mark.parametrize(("name", "field"), listed())
def test_each_field_of_the_table_exists(name: str, field: str) -> None:
    message, _, path = field.partition(".")
    meaning = all_meanings()[name]
    if message == "*":
        types = {t for each, t in all_fields().items() if each.rpartition(".")[2] == path}
    else:
        types = {t for each, t in all_fields().items() if each == field}
    assert types, f"no definition has {field}"
    elements = {type_.element for type_ in types}
    keys = set(meaning.values)
    if elements <= INTEGERS:
        assert all(int(key) is not None for key in keys)
    elif elements == {"bool"}:
        assert keys == {"true", "false"}
    else:
        assert elements in ({"string"}, {"uuid"})
        assert not keys & {"true", "false"}
        assert meaning.form in ("", "topic_id")


def test_no_field_has_two_meanings() -> None:
    fields = [
        (message, ".".join(python_name(part) for part in path.split(".")))
        for message, _, path in (field.partition(".") for _, field in listed())
    ]
    assert len(fields) == len(set(fields))


def test_numbers_that_are_enums_have_a_meaning() -> None:
    """A number whose name ends so is one of few, which the table then lists."""
    wanted = ("Type", "Types", "TypeFilter", "State", "Status", "StatusCode", "Operation",
              "Operations", "Mechanism", "Source", "Level", "Protocol", "Timestamp",
              "TimestampMs", "ThrottleTimeMs", "ReplicaId", "LeaderId", "Acks")  # fmt: skip
    others = {"FeatureLevel", "MaxVersionLevel", "MinVersionLevel"}
    for field, type_ in all_fields().items():
        name = field.rpartition(".")[2]
        if type_.element in INTEGERS and name.endswith(wanted) and name not in others:
            message, _, path = field.partition(".")
            python_path = ".".join(python_name(part) for part in path.split("."))
            if (name == "ReplicaId" and "Quorum" in message) or message == "VoteRequest":
                continue  # ids of real replicas, always
            assert meaning_of(message, python_path) is not None, field


@cache
def java_enums(release: str) -> dict[str, dict[int, str]]:
    """Class → number → name, from Kafka's own classes."""
    require_oracle()
    kafka_3 = ("kafka-server-common", f"org.apache.kafka:kafka_2.13:{release}")
    server = kafka_3 if release.startswith("3.") else ()
    classes = [m.java for m in all_meanings().values() if m.java and m.release == release]
    lines = run(jars.fetch(release, (*ARTIFACTS, *server)), SOURCE, *classes).splitlines()
    found: dict[str, dict[int, str]] = {}
    for line in lines:
        type_, name, number = line.split("\t")
        found.setdefault(type_, {})[int(number)] = name
    return found


#: Values that fields may have beside those of the enum.
BESIDE = {"acknowledge_type": {"0"}, "config_source": {"-1"}, "leader_recovery_state": {"-1"}}


@pytest.mark.exhaustive
@pytest.mark.xdist_group("guide")
@pytest.mark.parametrize("name", [name for name, m in all_meanings().items() if m.java])
def test_the_names_and_numbers_are_kafkas(name: str) -> None:
    meaning = all_meanings()[name]
    theirs = java_enums(meaning.release)[meaning.java]
    ours = {
        int(number): words.partition(":")[0].split(" ")[0]
        for number, words in meaning.values.items()
        if number not in BESIDE.get(name, set())
    }
    assert ours == theirs


def test_an_exact_field_wins_over_a_name() -> None:
    by_name = meaning_of("ListOffsetsResponse", "topics.partitions.timestamp")
    exact = meaning_of("ListOffsetsRequest", "topics.partitions.timestamp")
    assert by_name is not None
    assert exact is not None
    assert by_name.text(-2).startswith("1969-12-31")
    assert by_name.text(-1) == "none"
    assert exact.text(-2) == "earliest: the start of the log"
    assert meaning_of("ListOffsetsRequest", "topics.name") is None


def test_bits_without_a_name_are_told_once() -> None:
    operations = all_meanings()["acl_operations"]
    known = len(all_meanings()["acl_operation"].values)
    words = operations.text(-1).split(", ")
    assert words[-2:] == ["TWO_PHASE_COMMIT", "and bits without a meaning"]
    assert len(words) == known + 1
    assert operations.text(1 << 3 | 1 << 20 | 1 << 21) == "READ, and bits without a meaning"
    assert operations.text(1 << 30) == "bits without a meaning"


def test_bits() -> None:
    operations = all_meanings()["acl_operations"]
    assert operations.text(-2147483648) == "not asked for"
    assert operations.text(0) == ""


def test_words_for_numbers() -> None:
    assert [duration(n) for n in (0, 999, 1500, 90_000, 5_400_000, 604_800_000)] == [
        "0 ms", "999 ms", "1.5 s", "1.5 min", "1.5 h", "7 d",
    ]  # fmt: skip
    assert [duration(n) for n in (-1, (1 << 31) - 1, (1 << 63) - 1)] == [
        "", "without end", "without end",
    ]  # fmt: skip
    assert [size(n) for n in (0, 1, 999, 1024, 1500, 52_428_800, -1, (1 << 31) - 1)] == [
        "0 bytes", "1 byte", "999 bytes", "1 KiB", "1.5 kB", "50 MiB", "", "no limit",
    ]  # fmt: skip
    assert api_name(19) == "CreateTopics"
    assert api_name(12345) == ""


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_any_number_has_words_or_none(number: int) -> None:
    for meaning in all_meanings().values():
        assert isinstance(meaning.text(number), str)


@given(st.datetimes(datetime(1900, 1, 1), datetime(3000, 1, 1), timezones=st.just(UTC)))
def test_timestamps(moment: datetime) -> None:
    milliseconds = round(moment.timestamp() * 1000)
    text = timestamp(milliseconds)
    back = datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f %Z").replace(tzinfo=UTC)
    assert round(back.timestamp() * 1000) == milliseconds

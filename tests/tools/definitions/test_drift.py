"""The comparison with a release's definitions: each kind of difference, and the releases here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.overlay import MessageOverlay, apply_overlay
from tests.helpers.processes import python
from tests.helpers.requirements import require_oracle
from tools.definitions.drift import (
    DECISIONS,
    UNREAD,
    Report,
    compare,
    decisions,
    main,
    of_folder,
    of_release,
)
from tools.definitions.import_schemas import SCHEMAS
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST

FIELD: dict[str, Any] = {"name": "Text", "type": "string", "versions": "0+"}


def message(*fields: dict[str, Any], **facts: Any) -> MessageSpec:
    base = {
        "apiKey": 7, "type": "request", "name": "PingRequest", "validVersions": "0-1",
        "flexibleVersions": "none", "fields": [*fields] or [FIELD],
    }  # fmt: skip
    return read_message(json.dumps(base | facts))


def found(here: MessageSpec, there: MessageSpec, overlay: MessageOverlay | None = None) -> Report:
    known = overlay or MessageOverlay()
    marked = apply_overlay(here, known)
    return compare({here.name: marked}, {there.name: there}, {here.name: known})


#: What the release has instead, and the line about it.
KINDS = [
    (message(validVersions="0-3"), "PingRequest v2-3: version: only there, valid"),
    (message(FIELD, FIELD | {"name": "More"}),
     "PingRequest v0-1: more: only there, more: STRING"),
    (message(FIELD | {"versions": "1+"}), "PingRequest v0: text: only here, text: STRING"),
    (message(FIELD | {"name": "Word"}),
     "PingRequest v0-1: text: here text: STRING, there word: STRING"),
    (message(FIELD | {"type": "bytes"}), "PingRequest v0-1: text: here STRING, there BYTES"),
    (message(FIELD | {"nullableVersions": "1+"}),
     "PingRequest v1: text: here STRING, there NULLABLE_STRING"),
    (message(FIELD, flexibleVersions="1+"),
     "PingRequest v1: (message): here not flexible, there flexible"),
    (message(headerVersions={"0": "1", "1+": "3"}),
     "PingRequest v1: (header): here header version 1, there header version 3"),
    (message(FIELD | {"default": "x"}), "PingRequest v0-1: text default: here '', there 'x'"),
    (message(FIELD | {"entityType": "groupId"}),
     "PingRequest v0-1: text entity type: here '', there 'groupId'"),
    (message(apiKey=8), "PingRequest v0-1: api key: here 7, there 8"),
    (message(deprecatedVersions="0"), "PingRequest v0: deprecated: here False, there True"),
    (message(latestVersionUnstable=True), "PingRequest v1: unstable: here False, there True"),
    (message(listeners=["broker"]), "PingRequest v0-1: listeners: here [], there ['broker']"),
]  # fmt: skip


@pytest.mark.parametrize(("there", "line"), KINDS, ids=[line for _, line in KINDS])
def test_each_kind(there: MessageSpec, line: str) -> None:
    report = found(message(), there)
    assert line in [str(drift) for drift in report.drifts]
    assert found(message(), message()).drifts == []


def test_headers_that_are_said_and_followed_before_are_no_difference() -> None:
    for flexible, headers in (("none", {"0+": "1"}), ("1+", {"0": "1", "1+": "2"})):
        said = message(FIELD, flexibleVersions=flexible, headerVersions=headers)
        unsaid = message(FIELD, flexibleVersions=flexible)
        assert found(unsaid, said).drifts == found(said, unsaid).drifts == []


def test_a_difference_deep_inside() -> None:
    def nested(versions: str) -> MessageSpec:
        inner = {"name": "Deep", "type": "uuid", "versions": versions, "mapKey": versions == "0+"}
        return message(
            {"name": "Rows", "type": "[]Row", "versions": "0+", "fields": [FIELD, inner]}
        )

    lines = [str(drift) for drift in found(nested("0+"), nested("1+")).drifts]
    assert "PingRequest v0: rows[].deep: only here, deep: UUID" in lines
    assert "PingRequest v1: rows.deep map key: here True, there False" in lines


def test_tags() -> None:
    tagged = FIELD | {"versions": "0+", "tag": 0, "taggedVersions": "0+"}
    here = message(FIELD, flexibleVersions="0+")
    report = found(here, message(tagged, flexibleVersions="0+"))
    assert "here COMPACT_STRING, there COMPACT_STRING, tag 0" in str(report.drifts[0])


def test_what_is_normal_or_known() -> None:
    older = found(message(validVersions="0-3"), message())
    assert (older.drifts, older.only_here) == ([], {"PingRequest": "2-3"})
    removed = found(message(), read_message(
        '{"apiKey": 7, "type": "request", "name": "PingRequest", "validVersions": "none"}'
    ))  # fmt: skip
    assert (removed.drifts, removed.only_here) == ([], {"PingRequest": "0-1"})
    alias = MessageOverlay(aliases={"Text": ["Word"]})
    assert found(message(), message(FIELD | {"name": "Word"}), alias).drifts == []
    changed = MessageOverlay(layout_changed={"0": "1.0: with More", "1": "1.0: with More"})
    report = found(message(), message(FIELD, FIELD | {"name": "More"}), changed)
    assert report.drifts == []
    assert report.known == ["PingRequest v0: 1.0: with More", "PingRequest v1: 1.0: with More"]
    former = MessageOverlay(formerly=["PongRequest"])
    report = found(message(), message(name="PongRequest"), former)
    assert (report.drifts, report.known) == ([], ["PongRequest is PingRequest now"])
    zookeeper = found(message(listeners=["broker"]), message(listeners=["zkBroker", "broker"]))
    assert zookeeper.drifts == []


def test_a_message_that_is_not_here() -> None:
    report = compare({}, {"PingRequest": message()}, {})
    assert [str(drift) for drift in report.drifts] == [
        "PingRequest: message: only there, request, versions 0-1"
    ]
    assert compare({"PingRequest": message()}, {}, {}).only_here == {"PingRequest": "0-1"}


@pytest.mark.exhaustive
def test_the_newest_release_has_nothing_that_is_not_here() -> None:
    require_oracle()
    report = of_release(NEWEST)
    assert report.drifts == []
    assert not [line for line in report.known if "not compared" in line]
    assert report.only_here["CreateTopicsRequest"] == "0-1"


@pytest.mark.exhaustive
def test_the_older_release_differs_in_facts_alone() -> None:
    """Its layouts are here, or listed as changed; of other facts the newest release's count."""
    require_oracle()
    report = of_release(LAST_WITH_ZOOKEEPER)
    assert {drift.what.rpartition(".")[2] for drift in report.drifts} <= {
        "unstable", "name map key", "partition_index map key", "topic_id map key",
        "subscribed_topic_names entity type",
    }  # fmt: skip


PING = {"apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0",
        "flexibleVersions": "0+", "headerVersions": {"0+": "2"}, "fields": [FIELD]}  # fmt: skip
RESOURCES = Path("clients/src/main/resources/common/message")


def sources(folder: Path, *definitions: dict[str, Any], where: Path = RESOURCES) -> Path:
    """A checkout of Kafka with these definitions."""
    (folder / where).mkdir(parents=True, exist_ok=True)
    for each in definitions:
        (folder / where / f"{each['name']}.json").write_text(json.dumps(each))
    return folder


def test_the_sources_of_a_release_to_come(tmp_path: Path) -> None:
    sources(tmp_path, PING, PING | {"name": "NewerRequest", "sizeHint": 7})
    sources(tmp_path, PING | {"name": "ForTests"}, where=Path("clients/src/test/message"))
    metadata = Path("metadata/src/main/resources/common/metadata")
    topic = json.loads((SCHEMAS / "kafka" / "TopicRecord.json").read_text()) | {
        "validVersions": "0-1"
    }
    sources(tmp_path, topic, where=metadata)
    report = of_folder(tmp_path)
    unread, *others = map(str, report.drifts)
    assert unread.startswith(f"{RESOURCES / 'NewerRequest.json'}: definition: only there, ")
    assert "sizeHint" in unread
    assert others == [
        "PingRequest: message: only there, request, versions 0",
        "TopicRecord v1: version: only there, valid",
    ]
    assert list(decisions(report)) == [
        f"{DECISIONS[UNREAD]}: {RESOURCES / 'NewerRequest.json'}",
        f"{DECISIONS['message']}: PingRequest",
        f"{DECISIONS['version']}: TopicRecord v1",
    ]


def test_folders_that_are_no_checkout(tmp_path: Path) -> None:
    older, newer = tmp_path / "two/4.3", tmp_path / "two/4.4"
    sources(older, PING)
    sources(newer, PING | {"validVersions": "0-1"})
    with pytest.raises(ValueError, match=r"PingRequest is in 4\.3/.*, which differ; name one"):
        of_folder(tmp_path / "two")
    sources(newer, PING)
    assert [each.message for each in of_folder(tmp_path / "two").drifts] == ["PingRequest"]
    file = newer / RESOURCES / "PingRequest.json"
    file.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"PingRequest\.json is no text in UTF-8$"):
        of_folder(newer)
    file.unlink()
    file.symlink_to("nothing")
    with pytest.raises(ValueError, match=r"PingRequest\.json cannot be read: No such file"):
        of_folder(newer)


def test_a_folder_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["drift", "./kafka"])
    assert main() == 2
    assert capsys.readouterr().err == "cannot compare with ./kafka: there is no such folder\n"


@pytest.mark.parametrize(("there", "line"), KINDS, ids=[line for _, line in KINDS])
def test_each_kind_is_to_be_decided(there: MessageSpec, line: str) -> None:
    lines = list(decisions(found(message(), there)))
    assert {each.partition(": ")[0] for each in lines} <= {*DECISIONS.values()}
    assert any(each.endswith(f": {line.partition(': ')[0]}") for each in lines)


def test_a_folder_without_definitions(tmp_path: Path) -> None:
    done = python("-m", "tools.definitions.drift", tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path} has no folder `message` or `metadata` with" in done.stderr


def test_a_release_that_is_none() -> None:
    command = [sys.executable, "-m", "tools.definitions.drift", "newest"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'newest' is not a release such as 4.4.0" in done.stderr

"""No output of a command has what a terminal obeys or hides, and JSON keeps its meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import CreateTopicsRequest, CreateTopicsResponse
from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.messages import ConfigRecord, PartitionRecord, TopicRecord
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.create_topics_response import CreatableTopicResult
from kafka_admin_proto.protocol import frame, write_request, write_response
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from kafka_admin_proto.render.text import compact_json, printable, printable_json
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.log.batches import metadata_batch
from kafka_admin_proto.server.security.authorizer.rules import STANDARD_AUTHORIZER
from kafka_admin_proto.server.state import State
from tests.helpers.kap import run_kap

#: C0 without tab and line feed, which outputs have of their own, DEL, C1, the signs that turn text
#: around, other line ends, and a byte order mark.
OBEYED = "".join(
    map(chr, [*range(9), *range(11, 32), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F,
              *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF])
)  # fmt: skip
HOSTILE = f"a{OBEYED}\t\nz"


def shown(*arguments: str, data: bytes | None = None) -> Result:
    """What ``kap`` says to that, checked to have nothing of ``OBEYED``."""
    result = run_kap(*arguments, data=data)
    found = set(OBEYED) & set(result.output + result.stderr)
    assert not found, sorted(map(hex, map(ord, found)))
    return result


@pytest.fixture(scope="module")
def frames() -> bytes:
    topics = CreateTopicsRequest(topics=[CreatableTopic(name=HOSTILE)])
    answer = CreateTopicsResponse(
        topics=[CreatableTopicResult(name=HOSTILE, error_code=17, error_message=HOSTILE)]
    )
    cut = write_request(topics, 5, 2, HOSTILE)[:-8]
    return b"".join(
        map(frame, (write_request(topics, 5, 1, HOSTILE), write_response(answer, 5, 1), cut))
    )


@pytest.mark.parametrize(
    "options",
    [
        *(["decode", "--raw", "--output", each] for each in ("json", "jsonl", "tsv")),
        ["decode"],
        *(["decode", "--summary", "--output", each] for each in ("table", "json")),
        *(["decode", "--upgrade", "4.0", "--output", each] for each in ("table", "json")),
        ["explain"],
    ],
    ids=" ".join,
)
def test_captures(frames: bytes, options: list[str]) -> None:
    result = shown(*options, "--input-format", "raw", data=frames)
    if "--raw" in options and "json" in options:
        assert json.loads(result.stdout)[0]["body"]["topics"][0]["name"] == HOSTILE
    elif "--raw" in options and "jsonl" in options:
        assert json.loads(result.stdout.split("\n")[0])["body"]["topics"][0]["name"] == HOSTILE


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    records = [TopicRecord(HOSTILE, UUID(int=7)), ConfigRecord(2, HOSTILE, "retention.ms", HOSTILE)]
    (folder / FOLDER_NAME).mkdir()
    segment = folder / FOLDER_NAME / f"{0:020}.log"
    segment.write_bytes(metadata_batch(records, 0, 1, 30, 0))
    return folder


@pytest.mark.parametrize("output", ["table", "json"])
@pytest.mark.parametrize("options", [[], ["--diff", "0", "1"]], ids=["state", "changes"])
def test_metadata_logs(log: Path, output: str, options: list[str]) -> None:
    result = shown("metadata", str(log), "--output", output, *options)
    assert (compact_json(HOSTILE)[1:-1] in result.stdout) == (output == "json")
    assert "retention.ms" in result.stdout


@pytest.mark.parametrize("output", ["table", "json", "jsonl", "tsv"])
def test_segments(log: Path, output: str) -> None:
    (segment,) = (log / FOLDER_NAME).iterdir()
    assert "retention.ms" in shown("decode", str(segment), "--output", output).stdout


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    configs = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:ANONYMOUS"}
    acl = {"resource_type": "TOPIC", "name": HOSTILE, "principal": f"User:{HOSTILE}",
           "operation": "READ", "permission": "ALLOW"}  # fmt: skip
    with SyncCluster(configs=configs, acls=[acl]) as cluster:
        cluster._run(_add_topic(cluster.state))
        with SyncAdminClient(cluster.bootstrap_servers) as admin:
            admin.alter_group_offsets(HOSTILE, {(HOSTILE, 0): 1})
        yield cluster


async def _add_topic(state: State) -> None:
    """Add the topic to the log: a name that CreateTopics refuses."""
    partition = PartitionRecord(0, UUID(int=7), [1], [1], leader=1, leader_epoch=0)
    config = ConfigRecord(2, HOSTILE, "retention.ms", HOSTILE)
    state.append([TopicRecord(HOSTILE, UUID(int=7)), partition, config])


@pytest.mark.parametrize("output", ["table", "json", "jsonl", "yaml", "tsv"])
@pytest.mark.parametrize(
    "command",
    ["topics list", "topics describe", "groups list", "acls list", "configs get --topic X"],
)
def test_clusters(cluster: SyncCluster, command: str, output: str) -> None:
    options = [
        "--bootstrap-server",
        cluster.bootstrap_servers,
        "--output",
        output,
        "--timeout",
        "5",
        "--trace",
    ]
    words = [HOSTILE if word == "X" else word for word in command.split()]
    result = shown(*words, *options)
    if output == "json":
        assert compact_json(HOSTILE)[1:-1] in result.stdout
        assert json.loads(result.stdout)
    elif output == "yaml":
        assert "\\x9B" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["decode", "X"], ["explain", "X"], ["metadata", "X"], ["schema", "lint", "X"],
        ["schema", "show", "X"], ["error", "X"], ["report", "X"], ["X"], ["decode", "--X"],
        ["topics", "list", "-b", "X"], ["topics", "list", "--command-config", "X"],
        ["topics", "list", "-b", "127.0.0.1:1", "--timeout", "X"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_mistakes(arguments: list[str]) -> None:
    name = HOSTILE.replace("\0", "")
    assert shown(*(each.replace("X", name) for each in arguments)).exit_code != 0


@pytest.mark.parametrize("output", ["table", "json", "tsv"])
def test_slips(tmp_path: Path, output: str) -> None:
    file = tmp_path / f"{HOSTILE}.json".replace("\0", "")
    file.write_text(json.dumps({"name": HOSTILE, HOSTILE: 1}, ensure_ascii=False), "utf-8")
    assert shown("schema", "lint", str(file), "--output", output).exit_code == 1


texts = st.text(st.characters() | st.sampled_from(OBEYED))


@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_json_is_printable_and_equal(value: object) -> None:
    for text in (compact_json(value), printable_json(json.dumps(value, ensure_ascii=False))):
        assert text.isprintable()
        assert json.loads(text) == value


@given(texts)
def test_text_is_printable(value: str) -> None:
    assert printable(value).isprintable()

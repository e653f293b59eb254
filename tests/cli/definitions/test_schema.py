"""``kap schema`` and the rest of the command line."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import kafka_admin_proto
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kafka_json.reader import read_message
from tests.helpers.kap import ended, run_kap
from tests.helpers.processes import python


def test_list() -> None:
    lines = run_kap("schema list --type request").stdout.splitlines()
    assert lines[0].split() == ["name", "type", "key", "versions", "flexible", "from"]
    assert ["CreateTopicsRequest", "request", "19", "0-7", "5"] in [line.split() for line in lines]
    assert not [line for line in lines if "Response" in line]
    rows = json.loads(run_kap("schema list --output json").stdout)
    assert {row["name"] for row in rows} == set(catalog().names())
    tsv = run_kap("schema list --output tsv").stdout.splitlines()
    assert "CreateTopicsRequest\trequest\t19\t0-7\t5" in tsv


def test_show() -> None:
    both = run_kap("schema show CreateTopics").stdout
    title = "CreateTopicsRequest: request, api key 19, versions 0-7, flexible 5+, deprecated 0-1"
    assert title in both
    assert "CreateTopicsResponse: response, api key 19, versions 0-7, flexible 5+" in both
    assert "  num_partitions" in both
    old = run_kap("schema show CreateTopicsRequest --version 0").stdout
    assert "CreateTopicsRequest v0" in old
    assert "validate_only" not in old
    assert "secret by name" in old


@pytest.mark.parametrize("name", ["VoteRequest", "ListClientMetricsResourcesRequest"])
def test_show_json_is_kafkas_notation(name: str) -> None:
    spec = read_message(run_kap(f"schema show {name} --notation json").stdout)
    assert (
        spec.fields
        == read_message((catalog().folder / "kafka" / f"{spec.name}.json").read_text()).fields
    )


def test_show_what_does_not_exist() -> None:
    assert "did you mean" in ended(run_kap("schema show CreateTopix"), 2).stderr
    result = ended(run_kap("schema show CreateTopics --version 9"), 2)
    assert "CreateTopicsRequest has 0-7" in result.stderr


@pytest.mark.parametrize(
    "arguments", ["", "decode", "schema", "schema list", "schema show", "completion"]
)
def test_help(arguments: str) -> None:
    result = ended(run_kap(f"{arguments} --help"))
    assert "Usage: kap" in result.stdout
    if arguments in ("decode", "schema list", "schema show", "completion"):
        assert "Example" in result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    for name, variable in [("kap", "_KAP_"), ("kafka-admin-proto", "_KAFKA_ADMIN_PROTO_")]:
        result = ended(CliRunner().invoke(kap, ["completion", shell], prog_name=name))
        assert f"{variable}COMPLETE" in result.stdout
        assert name in result.stdout


def test_completion_of_api_names() -> None:
    result = CliRunner().invoke(
        kap,
        env={
            "_KAP_COMPLETE": "bash_complete",
            "COMP_WORDS": "kap schema show createt",
            "COMP_CWORD": "3",
        },
        prog_name="kap",
        standalone_mode=False,
    )
    assert "plain,CreateTopics\n" in result.stdout


def test_as_a_program() -> None:
    script = "from kafka_admin_proto.cli import main; main()"
    version = python("-c", script, "--version", check=True)
    assert version.stdout == f"kap, version {kafka_admin_proto.__version__}\n"


def test_without_its_extra() -> None:
    script = (
        "import sys; sys.modules['click'] = None\nfrom kafka_admin_proto.cli import main; main()"
    )
    failed = python("-c", script)
    assert failed.returncode == 2
    assert failed.stderr == "kap needs the package click: pip install 'kafka-admin-proto[cli]'\n"


def test_a_terminal_without_utf8() -> None:
    script = "from kafka_admin_proto.cli import main; main()"
    sample = Path(__file__).parents[3] / "samples" / "create_topics.hex"
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = python("-c", script, "decode", sample, env=environment, check=True)
    assert "\\u201cforbidden\\u201d" in done.stdout


def test_a_full_disk_and_a_closed_input() -> None:
    script = "from kafka_admin_proto.cli import main; main()"
    command = [sys.executable, "-c", script]
    with open("/dev/full", "w") as full:
        failed = subprocess.run(
            [*command, "schema", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert failed.returncode
    assert failed.stderr.startswith("kap: ")
    assert "Traceback" not in failed.stderr
    closed = subprocess.run(
        f"exec {shlex.join([*command, 'decode'])} <&-",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert closed.returncode == 2
    assert "there is no standard input" in closed.stderr


def test_show_in_the_proposals_notation() -> None:
    text = run_kap("schema show kip-516:VoteRequest --notation kip").stdout
    assert text.startswith("Vote Request (Version: 0) => cluster_id [topics]\n  cluster_id => STR")
    both = run_kap("schema show CreateTopics@5 --notation kip").stdout
    assert both.count("(Version: 5) =>") == 2
    assert "?[configs]" in both
    assert run_kap("schema show CreateTopicsRequest --notation kip").stdout.count("(Version:") == 8


def test_the_drafts_are_listed_by_dialect() -> None:
    lines = run_kap("schema list --dialect kip-4b --output tsv").stdout.splitlines()
    assert "AlterTopicRequest\trequest\t4002\t0\t" in lines
    assert run_kap("schema list --dialect kip-5").exit_code == 2


def test_diff() -> None:
    result = run_kap("schema diff kip-516:UpdateMetadataRequest@7 kafka:UpdateMetadataRequest@7")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "the bytes always differ"
    assert "live_brokers[].v0_host" in result.stdout
    same = run_kap("schema diff MetadataRequest@12 MetadataRequest@12")
    assert (same.exit_code, same.stdout) == (0, "the bytes are the same\n")
    found = json.loads(run_kap("schema diff VoteRequest@0 VoteRequest@1 --output json").stdout)
    voter = {"path": "voter_id", "left": "", "right": "voter_id: INT32", "bytes_differ": "always"}
    assert voter in found["differences"]
    tsv = run_kap("schema diff VoteRequest@0 VoteRequest@1 --output tsv").stdout.splitlines()
    assert len(tsv) == len(found["differences"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("CreateTopics VoteRequest", "two messages"),
        ("VoteRequest@77 VoteRequest", "no version 77"),
        ("kip-9:VoteRequest VoteRequest", "unknown dialect"),
        ("a:b:c VoteRequest", "names no message"),
    ],
)
def test_diff_of_what_does_not_exist(arguments: str, complaint: str) -> None:
    assert complaint in ended(run_kap(f"schema diff {arguments}"), 2).stderr


def test_lint(tmp_path: Path) -> None:
    kips = Path(__file__).parents[2] / "schema" / "kip" / "proposals"
    topic_ids, create_topics = kips / "kip-516-topic-ids.txt", kips / "kip-4-create-topics-v0.txt"
    result = ended(run_kap(f"schema lint {topic_ids} {create_topics}"), 1)
    assert "kip-516-topic-ids.txt:120:3: VoteResponse names error_code" in result.stdout
    assert "create-topics" not in result.stdout
    rows = json.loads(run_kap(f"schema lint {topic_ids} --output json").stdout)
    assert {"line": 19, "column": 35, "rule": "undefined"}.items() <= rows[1].items()
    grammar = run_kap("schema show CreateTopics --notation kip").stdout
    clean = run_kap("schema lint -", data=grammar)
    assert (clean.exit_code, clean.stdout) == (0, "")
    definition = tmp_path / "X.json"
    definition.write_text('{"name": "X", "type": "data", "validVersions": "0+"}')
    assert "names no highest version" not in run_kap(f"schema lint {definition}").stdout
    assert "flexibleVersions" in run_kap(f"schema lint {definition}").stdout
    definition.write_bytes(b"\n\xff")
    assert ":2:1: these bytes are not UTF-8" in run_kap(f"schema lint {definition}").stdout
    assert run_kap(f"schema lint {tmp_path / 'missing'}").exit_code == 2


def test_lint_goes_by_content(tmp_path: Path) -> None:
    text = tmp_path / "h.txt"
    text.write_text("hello\n")
    result = ended(run_kap(f"schema lint {text}"), 1)
    assert "there is no message definition in this text" in result.stdout
    bad = (catalog().folder / "kafka" / "VoteRequest.json").read_text().replace("int32", "int33")
    for definition in (bad, f"// Licensed {{\n/* or */ {bad}"):
        text.write_text(definition)
        named = run_kap(f"schema lint {text}").stdout
        piped = run_kap("schema lint -", data=definition).stdout
        assert "int33" in named
        assert named.replace(f"{text}:", "-:") == piped


def test_lint_of_a_file_of_definitions_in_a_proposals_notation(tmp_path: Path) -> None:
    """Clean grammars may be no definition: a file has one message."""
    request, response = (
        catalog().folder / "kip-4" / f"CreateTopics{kind}.kip" for kind in ("Request", "Response")
    )
    assert run_kap(f"schema lint {request} {response}").stdout == ""
    both = tmp_path / "both.kip"
    both.write_text(request.read_text() + response.read_text())
    result = ended(run_kap(f"schema lint {both}"), 1)
    assert "a file defines one message, not CreateTopicsRequest, CreateTopicsRe" in result.stdout


def test_lint_passes_over_other_json_of_a_folder(tmp_path: Path) -> None:
    other = tmp_path / "releases.json"
    other.write_text('{"4.0": [1, 2]}')
    (tmp_path / "VoteRequest.json").write_bytes(
        (catalog().folder / "kafka" / "VoteRequest.json").read_bytes()
    )
    result = run_kap(f"schema lint {tmp_path}")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"no message definitions: {other}\n"
    assert run_kap(f"schema lint {other}").exit_code == 1
    other.write_text('{"4.0": [1, 2}')
    assert f"{other}:1:" in run_kap(f"schema lint {tmp_path}").stdout


def test_lint_of_a_folder(tmp_path: Path) -> None:
    nothing = ended(run_kap(f"schema lint {tmp_path}"), 2)
    assert nothing.stderr == f"kap: {tmp_path}: no .json or .kip files in this folder\n"
    (tmp_path / "below").mkdir()
    good = (catalog().folder / "kafka" / "VoteRequest.json").read_text()
    (tmp_path / "VoteRequest.json").write_text(good)
    assert run_kap(f"schema lint {tmp_path}").exit_code == 0
    bad = tmp_path / "below" / "Bad.json"
    piped = run_kap("schema lint -", data=good.replace("int32", "int33"))
    assert piped.stdout.startswith("-:")
    assert "[definition]" in piped.stdout
    bad.write_text(good.replace('"int32"', '"int33"').replace('"ReplicaEpoch"', '"Replica Epoch"'))
    rows = json.loads(ended(run_kap(f"schema lint {tmp_path} --output json"), 1).stdout)
    assert {row["file"] for row in rows} == {str(bad)}
    lines = bad.read_text().splitlines()
    wrong = [number for number, line in enumerate(lines, 1) if "int33" in line]
    assert len(wrong) > 2
    assert sorted({row["line"] for row in rows}) == wrong
    (tmp_path / "notes.txt").write_text("not looked at")
    assert len(json.loads(run_kap(f"schema lint {tmp_path} --output json").stdout)) == len(rows)

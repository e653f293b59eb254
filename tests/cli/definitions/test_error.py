"""``kap error``, and the names of errors in what ``kap decode`` shows."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from kafka_admin_proto import ApiVersionsResponse
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.protocol import frame, write_response
from kafka_admin_proto.protocol.error_codes import all_errors, error_code
from tests.helpers.kap import ended, run_kap


@pytest.mark.parametrize("key", ["44", "POLICY_VIOLATION", "policy_violation", "PolicyViolation"])
def test_one(key: str) -> None:
    result = ended(run_kap(f"error {key}"))
    assert [line.split(maxsplit=3) for line in result.stdout.splitlines()] == [
        ["code", "name", "retriable", "meaning"],
        ["44", "POLICY_VIOLATION", "no", error_code(44).meaning],
    ]


def test_a_code_below_zero_is_no_option() -> None:
    assert "UNKNOWN_SERVER_ERROR" in run_kap("error -1").stdout


def test_all() -> None:
    lines = run_kap("error").stdout.splitlines()
    assert len(lines) == 1 + len(all_errors())
    assert lines[1].split()[:2] == ["-1", "UNKNOWN_SERVER_ERROR"]


def test_json_and_tsv() -> None:
    rows = json.loads(run_kap("error --output json").stdout)
    assert [row["name"] for row in rows] == [error.name for error in all_errors()]
    one = json.loads(run_kap("error 3 --output json").stdout)
    assert one == rows[4]
    assert list(one) == ["code", "name", "retriable", "meaning", "requests"]
    lines = run_kap("error --output tsv").stdout.splitlines()
    assert len(lines) == len(rows)
    assert lines[4].split("\t") == ["3", "UNKNOWN_TOPIC_OR_PARTITION", "yes", one["meaning"], ""]


def test_the_draft() -> None:
    table = run_kap("error --dialect kip-4").stdout.splitlines()
    assert table[0].split() == ["code", "name", "meaning", "requests"]
    assert len(table) == 14
    one = json.loads(run_kap("error --dialect kip-4 --output json invalidargumenttopicname").stdout)
    assert (one["code"], one["retriable"]) == (1010, None)
    assert one["requests"] == ["CreateTopicRequest"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("POLICY_VIOLATON", "did you mean POLICY_VIOLATION"),
        ("999", "there are -1 to 136"),
        ("9999999999", "no error '9999999999'"),
        ("--no-such-option", "no error '--no-such-option'"),
        ("44 --dialect kip-4", "there are 1001 to 1012"),
        ("36 --dialect kip-4b", "there are 1001 to 1012"),
        ("--dialect kip-9", "there are those of kafka, kip-4"),
    ],
)
def test_unknown_ones(arguments: str, said: str) -> None:
    result = run_kap(f"error {arguments}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_help() -> None:
    assert "kap error policy_violation" in run_kap("error --help").stdout


def test_completion() -> None:
    environment = {
        "_KAP_COMPLETE": "bash_complete",
        "COMP_WORDS": "kap error policy",
        "COMP_CWORD": "2",
    }
    result = CliRunner().invoke(kap, env=environment, prog_name="kap", standalone_mode=False)
    assert result.stdout == "plain,POLICY_VIOLATION\n"


@pytest.mark.parametrize(
    ("code", "label", "name"),
    [(35, "35 UNSUPPORTED_VERSION", "UNSUPPORTED_VERSION"), (9999, "9999", "9999")],
)
def test_decode_names_the_errors(code: int, label: str, name: str) -> None:
    data = frame(write_response(ApiVersionsResponse(error_code=code), 0, 1))
    options = "--input-format raw --response --api ApiVersions --version 0"
    (found,) = json.loads(run_kap(f"decode {options} --output json", data=data).stdout)
    assert found["error_codes"] == [name]
    assert found["body"]["errorCode"] == code
    assert f"  {label}  " in run_kap(f"decode {options}", data=data).stdout
    explained = run_kap(f"explain {options}", data=data).stdout.splitlines()
    (row,) = [line for line in explained if "error_code" in line]
    assert str(code) in row

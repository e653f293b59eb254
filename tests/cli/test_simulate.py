"""``kap simulate``: what it prints and writes, and that nobody else pays for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from kafka_admin_proto.cli.simulation.simulate import RULES_NAMES, SCENARIO_NAMES
from kafka_admin_proto.simulation.rules import RULES_BY_NAME
from kafka_admin_proto.simulation.scenarios import SCENARIOS, WITHOUT_RULES
from tests.helpers.kap import ended, run_kap
from tests.helpers.processes import python


def run(*arguments: str) -> Result:
    return run_kap("simulate", *arguments)


def test_all_scenarios_can_be_asked_for() -> None:
    assert list(SCENARIO_NAMES) == list(SCENARIOS)
    assert list(RULES_NAMES) == list(RULES_BY_NAME)


def test_a_table() -> None:
    result = ended(run("election", "--seed", "1"))
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["number", "ms", "event", "node", "peer", "message"]
    assert any("Vote v0 request" in line for line in lines)
    assert "frames sent" in result.stderr


def test_lines_of_json_have_all_events_and_bodies() -> None:
    result = run("election", "--output", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["number"] for row in rows] == list(range(len(rows)))
    assert len({tuple(row) for row in rows}) == 1
    vote = next(row for row in rows if row["api"] == "Vote" and row["type"] == "request")
    (topic,) = vote["body"]["topics"]
    assert topic["topicId"] == "AAAAAAAAAAAAAAAAAAAAAQ"


def test_a_seed_repeats_a_run() -> None:
    outputs = {run("election", "--seed", "5", "--output", "jsonl").stdout for _ in range(2)}
    assert len(outputs) == 1
    assert run("election", "--seed", "6", "--output", "jsonl").stdout not in outputs


def test_files_and_no_table(tmp_path: Path) -> None:
    pcap, html = tmp_path / "run.pcap", tmp_path / "run.html"
    result = run("election", "--pcap", str(pcap), "--html", str(html))
    assert (result.exit_code, result.stdout) == (0, "")
    assert pcap.read_bytes()[:4] == b"\xd4\xc3\xb2\xa1"
    text = html.read_text("utf-8")
    assert "kap simulate election --seed 0 --steps 100" in text
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.parametrize("scenario", [each for each in SCENARIOS if each not in WITHOUT_RULES])
def test_every_output_says_the_rules(scenario: str, tmp_path: Path) -> None:
    runs = []
    for rules, dialect, said in (
        ("text", "kip-516", "The rules are those of the text"),
        ("shipped", "kafka", "The rules are those that Kafka shipped"),
    ):
        pcap, html = str(tmp_path / "run.pcap"), tmp_path / "run.html"
        arguments = scenario, "--steps", "20", "--rules", rules
        result = ended(run(*arguments, "--output", "jsonl", "--pcap", pcap, "--html", str(html)))
        first = json.loads(result.stdout.splitlines()[0])
        assert (first["kind"], first["text"]) == ("step", said)
        assert said in run(*arguments).stdout
        assert f"--rules {rules}" in html.read_text("utf-8")
        assert f"--rules {rules}: kap decode --dialect {dialect} reads" in result.stderr
        assert run_kap("decode", pcap, "--dialect", dialect).exit_code == 0
        runs.append(result.stdout)
    assert runs[0] != runs[1]
    assert run(scenario, "--steps", "20", "--output", "jsonl").stdout == runs[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("elections",), "'elections' is not"),
        (("election", "--steps", "0"), "--steps"),
        (("election", "--rules", "text"), "--rules has no effect on election"),
        (("election", "--html", "-", "--pcap", "-"), "only one output can be standard output"),
        (("election", "--html", "/nowhere/page.html"), "--html: "),
    ],
)
def test_mistakes(arguments: tuple[str, ...], said: str) -> None:
    assert said in ended(run(*arguments), 2).stderr


def test_other_commands_do_not_import_it() -> None:
    program = (
        "import sys; from click.testing import CliRunner;"
        "from kafka_admin_proto.cli.app import kap;"
        "CliRunner().invoke(kap, ['error', '44']); CliRunner().invoke(kap, ['serve', '--help']);"
        "print([each for each in sys.modules if 'simulat' in each])"
    )
    done = python("-c", program)
    assert done.stdout == "[]\n", done

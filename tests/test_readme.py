"""What the README shows is run: its Python, and the output of its commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.schema.catalog import catalog
from tests.everything import EVERY

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
CONSOLE = re.findall(r"```console\n\$ kap (.*?)\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", PYTHON)
def test_python(
    block: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block, "README.md", "exec"), {})
    printed = re.findall(r"print\(\w+\)  # (.*)", block)
    assert capsys.readouterr().out.splitlines() == printed


@pytest.mark.parametrize(("command", "output"), CONSOLE)
def test_console(command: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(kap, shlex.split(command))
    assert result.exit_code == command.startswith("schema diff")  # as of diff: something differs
    assert result.stdout.strip() == output.strip()


def test_the_numbers() -> None:
    counts = f"{len(catalog().names())} messages, {len(EVERY)} versions"
    assert counts in README
    assert counts in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert PYTHON
    assert CONSOLE

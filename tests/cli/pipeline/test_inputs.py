"""Inputs that tasks cannot open: named once, until they are opened."""

from __future__ import annotations

import click
import pytest

from kafka_admin_proto.cli.pipeline.inputs import UnopenedInputs
from kafka_admin_proto.tables.ingest.unopened import Unopened, find_unopened, unopened_problem

FILES = [f"/{number}.pcap" for number in range(8)]


def batch(files: list[str], *unopened: str) -> Unopened:
    missing = FileNotFoundError(2, "")
    return find_unopened([(name, unopened_problem(name, missing)) for name in unopened], files)


def test_each_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    inputs = UnopenedInputs(FILES[:1])
    for _ in range(2):
        inputs.take(batch(FILES, *FILES[:3]))
        with pytest.raises(click.ClickException, match=r"^3 inputs could not be opened: look"):
            inputs.check("look")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("/1.pcap could not be opened on ")
    assert second.endswith(": No such file or directory")


def test_what_a_later_batch_opens_is_fine() -> None:
    inputs = UnopenedInputs([])
    inputs.take(batch(FILES[:4], *FILES[:2]))
    inputs.take(batch(FILES[4:]))
    inputs.take(batch(FILES[:1]))
    with pytest.raises(click.ClickException, match=r"^1 input could not"):
        inputs.check("")
    inputs.take(batch(FILES[1:2]))
    inputs.check("")


def test_many_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    UnopenedInputs([]).take(batch(FILES, *FILES))
    assert capsys.readouterr().err.splitlines()[5:] == ["3 more could not be opened"]

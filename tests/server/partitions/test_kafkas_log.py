"""Our log beside Kafka's own: the same offsets, codes, texts, bytes, producers and epochs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.profile import draws
from tests.helpers.release_tool import RELEASES
from tests.server.partitions.kafkas_log import KafkasLog
from tests.server.partitions.steps import (
    ANY,
    COMPACTED,
    OLD,
    Ours,
    contents,
    is_recompressed,
    usable,
    whole_batches,
)

#: Beginnings of Kafka's texts for records that cannot be read; ours say where the fault is.
_UNREADABLE = (
    "Found invalid", "Invalid record size", "Incorrect declared", "Reached end of input",
    "Invalid negative header",
)  # fmt: skip


@pytest.fixture(scope="module", params=RELEASES)
def kafkas(request: pytest.FixtureRequest) -> Iterator[tuple[str, KafkasLog]]:
    kafka = KafkasLog(request.param)
    yield request.param, kafka
    kafka.close()


@pytest.mark.parametrize("steps", [ANY, COMPACTED, OLD], ids=["any", "compacted", "old"])
@settings(max_examples=draws(96), deadline=None)
@given(data=st.data())
@pytest.mark.exhaustive
def test_as_kafka(
    kafkas: tuple[str, KafkasLog], steps: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    release, kafka = kafkas
    drawn, done = data.draw(steps)
    configs = usable(drawn, release)
    ours = Ours(configs, release)
    expected: list[tuple[str, str]] = []
    for name, argument in [("now", 0), *done]:
        expected.append(ours.do(name, argument))
        expected.append(("state", ours.state()))
    expected += ours.everything()
    same_sizes = not (is_recompressed(configs) or steps is OLD)
    # Java's gzip has another byte in its header than Python's.
    same_bytes = same_sizes and "compact" not in [name for name, _ in done]
    answers = kafka.ask(configs, [line for line, _ in expected])
    for (line, answer), theirs in zip(expected, answers, strict=True):
        check(line, answer, theirs, same_sizes=same_sizes, same_bytes=same_bytes)


def check(line: str, ours: str, theirs: str, *, same_sizes: bool, same_bytes: bool) -> None:
    name, kind = line.split("\t")[0], theirs.split("\t")[0]
    assert ours.split("\t")[0] == kind, (line, ours, theirs)
    if kind == "err":
        code, message = theirs.split("\t")[1:3]
        if code == "-1" or message.startswith(_UNREADABLE):
            assert ours.split("\t")[1] == code, (line, ours, theirs)
            return
    elif name == "read":
        theirs = whole_batches(theirs)
        if not same_bytes:
            assert contents(ours) == contents(theirs), line
            return
    elif name == "state" and not same_sizes:
        sizes = slice(5, 7)  # of the log and its segments
        left, right = ours.split("\t"), theirs.split("\t")
        left[sizes] = right[sizes]
        ours = "\t".join(left)
    assert ours == theirs, line

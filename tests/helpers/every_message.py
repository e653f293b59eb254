"""Each message, each of its versions and each distinct layout, for tests that run over all of them.

Versions of one layout share their fused functions (``wire/fuse.py``), so that drawing values for
each of them proves the same thing again: tests draw for one version of each layout. A line of
pytest's summary says how many layouts stood for how many versions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest

from kafka_admin_proto import codec
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.schema.catalog import catalog
from tests.helpers.profile import sample
from tests.scheduling.time_budget import LAYOUTS

#: Messages that a test runs for in the quick profile.
_QUICK = 60


class Message(NamedTuple):
    """A message of a dialect."""

    dialect: str
    name: str

    def __str__(self) -> str:
        return self.name if self.dialect == "kafka" else f"{self.dialect}:{self.name}"

    @property
    def versions(self) -> list[int]:
        return list(catalog().entry(self.name, self.dialect).versions)

    def layouts(self) -> list[Codec[Any]]:
        """A codec for each distinct layout, of the newest version that has it."""
        codecs = [codec(self.name, version, dialect=self.dialect) for version in self.versions]
        return list({_fused(each): each for each in codecs}.values())


def _fused(found: Codec[Any]) -> tuple[object, object]:
    """The functions that versions of one layout share."""
    return found._fused_read.function, found._fused_write.function


def made_ready(found: Codec[Any]) -> Codec[Any]:
    """The codec with its functions compiled, so that tracing of memory does not count them."""
    for made in (found._read, found._write, found._read_views):
        assert callable(made)
    return found


SHIPPED = [Message("kafka", name) for name in catalog().names()]
DRAFTS = [
    Message(dialect, name)
    for dialect in catalog().dialects()
    if dialect != "kafka"
    for name in catalog().names(dialect)
]
#: Every (message, version) that the package ships, drafts left out.
EVERY = [(message.name, version) for message in SHIPPED for version in message.versions]
#: Every (dialect, message, version).
EVERY_DIALECT = [(*each, version) for each in (*SHIPPED, *DRAFTS) for version in each.versions]


def each_version(
    messages: Sequence[Message] = tuple(SHIPPED),
) -> Callable[[Callable[[str, int], None]], Callable[..., None]]:
    """One test for each of the shipped messages, in which the test runs for each version."""

    def decorate(test: Callable[[str, int], None]) -> Callable[..., None]:
        def test_versions(message: Message) -> None:
            for version in message.versions:
                with _named(message, version):
                    test(message.name, version)

        return _over(messages, test_versions, test)

    return decorate


def each_layout(
    messages: Sequence[Message] = (*SHIPPED, *DRAFTS),
) -> Callable[[Callable[[Codec[Any]], None]], Callable[..., None]]:
    """One test for each of the messages, in which the test runs for each distinct layout."""

    def decorate(test: Callable[[Codec[Any]], None]) -> Callable[..., None]:
        def test_layouts(message: Message, record_property: Callable[[str, object], None]) -> None:
            layouts = message.layouts()
            record_property(LAYOUTS, (len(layouts), len(message.versions)))
            for found in layouts:
                with _named(message, found.version):
                    test(found)

        return _over(messages, test_layouts, test)

    return decorate


def _over(
    messages: Sequence[Message], test: Callable[..., None], named: Callable[..., None]
) -> Callable[..., None]:
    """``test`` with the name of ``named``, parametrized; a message's tests share a worker.

    The quick profile has those of a few messages.
    """
    test.__name__, test.__doc__ = named.__name__, named.__doc__
    quick = set(sample(messages, _QUICK))
    rows = [
        pytest.param(each, id=str(each), marks=[
            pytest.mark.xdist_group(str(each)),
            *([] if each in quick else [pytest.mark.exhaustive]),
        ])
        for each in messages
    ]  # fmt: skip
    parametrized: Callable[..., None] = pytest.mark.parametrize("message", rows)(test)
    return parametrized


@contextlib.contextmanager
def _named(message: Message, version: int) -> Iterator[None]:
    """Adds message and version to an error that is raised inside."""
    try:
        yield
    except Exception as error:
        error.add_note(f"while testing {message} v{version}")
        raise

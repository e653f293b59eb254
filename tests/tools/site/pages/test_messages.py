"""The pages of messages and of public names: all of them are there, and what they say is so."""

from __future__ import annotations

import importlib
from itertools import pairwise

import pytest

from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.layout import layout
from kafka_admin_proto.server import Cluster, SyncCluster
from tests.helpers.every_message import SHIPPED, each_version
from tests.helpers.profile import sample
from tools.site.pages.example_values import example
from tools.site.pages.messages import DIALECTS, changes, index_text, page_text, pages
from tools.site.pages.reference import API_PAGES, api_text

PAGES = {page.path: page for page in pages()}


def test_every_message_has_a_page() -> None:
    shown = {(spec.dialect, spec.name) for page in PAGES.values() for spec in page.specs}
    assert shown == {(each, name) for each in DIALECTS for name in catalog().names(each)}
    index = index_text(list(PAGES.values()))
    assert all(f"]({path.removeprefix('messages/')})" in index for path in PAGES)


def test_a_page() -> None:
    text = page_text(PAGES["messages/create-topics.md"])
    assert "Api key **19**." in text
    assert "| 4.0 to 4.4 | 2-7 |  |" in text
    assert "- **1**: adds <code>validate&#95;only</code>." in text
    assert "- **2 to 4**: the layout of version 1." in text
    assert "CreateTopics Request (Version: 7) => [topics] timeout_ms" in text
    assert "How many partitions the topic gets." in text


@pytest.mark.parametrize("path", sample(sorted(PAGES), 30))
def test_tables_have_whole_rows(path: str) -> None:
    lines = [line for line in page_text(PAGES[path]).splitlines() if line.startswith("|")]
    for before, line in pairwise(lines):
        if line.startswith("| ---"):
            assert before.count("|") == line.count("|")
    assert {line.count("|") for line in lines} <= {4, 5, 7}


@each_version(sample(SHIPPED, 24))
def test_changes_are_those_of_the_layout(name: str, version: int) -> None:
    spec = catalog().spec(name)
    if version == spec.valid_versions.lowest:
        assert changes(spec, version) == ["the first version here"]
    else:
        now, before = ((layout(spec, v), spec.is_flexible(v)) for v in (version, version - 1))
        assert bool(changes(spec, version)) == (now != before)


@each_version(sample(SHIPPED, 24))
def test_examples_decode(name: str, version: int) -> None:
    explanation = example(catalog().spec(name), version)
    assert {row.kind for row in explanation.rows} <= {"field"}


def _properties(kind: type) -> list[str]:
    return [
        name
        for name, each in vars(kind).items()
        if isinstance(each, property) and not name.startswith("_")
    ]


def test_what_a_cluster_hands_out_is_on_its_page() -> None:
    (page,) = [each for each in API_PAGES if each.module == "kafka_admin_proto.server"]
    text = api_text(page)
    with SyncCluster() as cluster:
        for name in _properties(SyncCluster):
            kind = type(getattr(cluster, name))
            if kind.__module__.startswith("kafka_admin_proto"):
                assert f"::: {kind.__module__}.{kind.__name__}\n" in text, name


def test_a_cluster_in_a_thread_hands_out_what_the_other_does() -> None:
    assert set(_properties(Cluster)) <= set(_properties(SyncCluster))


def test_there_is_what_the_pages_name() -> None:
    for page in API_PAGES:
        for name in page.handed_out:
            module, _, own = name.rpartition(".")
            assert hasattr(importlib.import_module(module), own), name

"""The reference pages of public names: what public names hand out is on them too."""

from __future__ import annotations

import importlib

from kafka_admin_proto.server import Cluster, SyncCluster
from tools.site.pages.reference import API_PAGES, api_text


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

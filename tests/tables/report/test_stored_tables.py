"""``kap report`` of tables in an object store: its answers and its page are those of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from kafka_admin_proto.tables.queries import QUERIES
from kafka_admin_proto.tables.sinks.data_files import Location
from tests.helpers.kap import ended, run_kap
from tests.spark.needs import require
from tests.tables.report.report_tables import everything, write_tables
from tests.tables.sinks.object_store import ObjectStore, object_store

deltalake = require("deltalake")

pytestmark = [pytest.mark.xdist_group("report"), pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("report") / "tables", everything())


@pytest.fixture(scope="module", params=["parquet", "delta"])
def uri(request: pytest.FixtureRequest, store: ObjectStore, folder: Path) -> str:
    """The same tables in the store, in a folder of the same name."""
    from kafka_admin_proto.tables.sinks.delta import delta_address

    place = f"{request.param}/{folder.name}"
    for each in folder.rglob("*.parquet"):
        if request.param == "parquet":
            store.put(each, f"{place}/{each.relative_to(folder)}")
        else:
            name, options = delta_address(Location(store.uri(place)), each.parent.name)
            deltalake.write_deltalake(name, pq.read_table(each), storage_options=options)
    return store.uri(place)


def report(*arguments: str) -> Result:
    found = run_kap("report", *arguments)
    # The tables have clients that an upgrade breaks.
    assert found.exit_code == ("upgrade" in arguments), found.output
    return found


@pytest.mark.parametrize("query", QUERIES)
def test_answers(uri: str, folder: Path, query: str) -> None:
    expected = report(str(folder), "--query", query, "--output", "json").stdout
    assert report(uri, "--query", query, "--output", "json").stdout == expected
    assert len(expected) > len("[]\n")


def test_the_page(uri: str, folder: Path) -> None:
    expected = report(str(folder), "--out", "-").stdout
    found = report(uri, "--out", "-").stdout
    assert re.findall("<h1>.*</h1>", found) == ["<h1>Kafka traffic: tables</h1>"]
    assert found == expected


def test_a_period(uri: str, folder: Path) -> None:
    since = ("--since", "2026-01-31T12:01:00Z", "--query", "rates", "--output", "tsv")
    assert report(uri, *since).stdout == report(str(folder), *since).stdout


def test_a_place_without_tables(store: ObjectStore) -> None:
    found = ended(run_kap("report", store.uri("nothing")), 2)
    assert "has none of the pipeline's tables" in found.output

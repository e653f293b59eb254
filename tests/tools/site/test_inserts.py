"""What the build takes from the code for pages: it is all used, and says what the code says."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from kafka_admin_proto import codec
from tests.docs.pages import DOCS, ROOT
from tests.helpers.kap import run_kap
from tests.spark.needs import require
from tools.site.inserts import field_to_bytes, pipeline_tables, rooms, spark_sizing
from tools.site.inserts.places import INSERTS
from tools.site.pages import code_blocks, server_configs
from tools.site.pictures import message_bytes, plots


def test_each_place_is_filled_and_each_insert_has_its_place() -> None:
    places = [
        place
        for path in sorted(DOCS.rglob("*.md"))
        for place in re.findall(r"<!-- insert: (.*?) -->", path.read_text("utf-8"))
    ]
    assert sorted(places) == sorted(INSERTS)


def test_the_columns_of_tsv_are_the_keys_of_json() -> None:
    options = ["decode", str(ROOT / "samples" / "create_topics.hex"), "--only", "1", "--output"]
    row = json.loads(run_kap(*options, "jsonl").stdout)
    _, _, rest = (DOCS / "command-line.md").read_text("utf-8").partition("TSV has no header;")
    listed = re.findall(r"`(.*?)`", rest.split("\n\n")[1])
    assert list(row) == listed
    cells = run_kap(*options, "tsv").stdout.rstrip("\n").split("\t")
    assert len(cells) == len(listed)


def test_every_column_has_a_meaning() -> None:
    require("pyarrow")
    assert not list(pipeline_tables.unknown())


def test_every_room_says_what_lives_there() -> None:
    for name, room in rooms.rooms().items():
        assert room.sentence, name
        assert all(sentence for _, sentence in room.rooms), (name, room.rooms)


def test_the_arrows_are_the_imports() -> None:
    """As far as a room that imports another one has an arrow, or arrows in a row, to it."""
    for name, room in rooms.rooms().items():
        arrows = rooms.arrows()[name]
        assert set(arrows) <= room.imports
        implied = set(arrows).union(*map(rooms.reached, arrows))
        assert room.imports <= implied, name
    assert "wire" in rooms.rooms()["codec"].imports


def test_the_picture_has_each_room_and_all_arrows_lead_down() -> None:
    edges = rooms.drawn()
    floors = rooms.floors(edges)
    assert all(floors[name] < floors[to] for name, targets in edges.items() for to in targets)
    svg = rooms.picture().svg()
    links = re.findall(r'href="#room-(\w+)"', svg)
    assert sorted(links) == sorted(edges)
    assert all(f'id="room-{name}"' in rooms.rooms_text() for name in links)


def test_pictures_are_svg() -> None:
    for picture in (rooms.picture(), message_bytes.create_topics()):
        root = ElementTree.fromstring(picture.standalone())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "\n\n" not in picture.svg()  # Markdown would end the HTML there


def test_the_fields_page_says_what_the_code_does() -> None:
    page = (DOCS / "field.md").read_text("utf-8")
    assert f'codec("{field_to_bytes.MESSAGE}", {field_to_bytes.OLD}).source()' in page
    source = codec(field_to_bytes.MESSAGE, field_to_bytes.OLD).source()
    for name in re.findall(r"`([SC]\d+)`", page):
        assert f"{name}(" in field_to_bytes.reader()
    assert all(line in source for line in field_to_bytes.reader().splitlines()[1:-1])
    old, new = (
        len(codec(field_to_bytes.MESSAGE, version).encode(field_to_bytes.value(version)))
        for version in (field_to_bytes.OLD, field_to_bytes.NEW)
    )
    assert (old, new) == (16, 13)  # three bytes and one less, one more
    assert field_to_bytes.definition().splitlines()[2] in (
        ROOT / "schemas" / "kafka" / f"{field_to_bytes.MESSAGE}.json"
    ).read_text("utf-8")


def test_the_recipe_has_the_figures_of_the_benchmark() -> None:
    """All of them: where a figure of the page changes, so does the recipe, which has no others."""
    page = spark_sizing.PAGE.read_text("utf-8")
    changed = re.sub(r"\| `kap pipeline` \| 2 \| .*", "| `kap pipeline` | 2 | 3.00 GB | 100.0 "
                     "| 1 | 1 | 1200 | 1400 |", page, count=1)  # fmt: skip
    text = spark_sizing.sizing(changed)
    for figure in ("3.00 GB in 100 s", "about 15 MB", "1.2 GB for", "0.7 GB for", "17 minutes"):
        assert figure in text
        assert figure not in spark_sizing.sizing(page)
    recipe = (DOCS / "recipes" / "pipeline-on-a-cluster.md").read_text("utf-8")
    (own,) = re.findall(r"^## Sizing$(.*?)^## ", recipe, re.DOTALL | re.MULTILINE)
    assert "<!-- insert: spark-sizing -->" in own
    assert not re.search(r"\d (GB|s|minutes)\b", own)


@pytest.mark.parametrize("plot", plots.PLOTS, ids=lambda plot: f"{plot.page} {plot.head}")
def test_bars_are_as_long_as_the_tables_numbers(plot: plots.Plot) -> None:
    page = (DOCS / plot.page).read_text("utf-8")
    drawn = plots.with_plots(plot.page, page)
    assert drawn.count("<svg") >= max(1, len(plot.columns) if plot.label else 1)
    cells = [
        ["codec", "µs"],
        ["---", "---"],
        ["`ours`", "1,000.5"],
        ["theirs", "2,001 s"],
        ["", ""],
    ]
    found = plots.bars(cells, plots.Plot("", "", ("codec",), ("µs",)), "µs")
    assert [(bar.name, bar.number, bar.text) for bar in found] == [
        ("ours", 1000.5, "1,000.5"),
        ("theirs", 2001.0, "2,001 s"),
    ]
    svg = plots.draw(found, "µs").svg()
    short, whole = map(float, re.findall(r'<rect[^>]* width="([\d.]+)"', svg))
    assert abs(short / whole - 1000.5 / 2001) < 0.01


@pytest.mark.parametrize("name", ["benchmarks-server.md", "benchmarks-records.md"])
def test_the_page_of_another_broker_has_its_plots(name: str) -> None:
    """Each release is measured in a column with its number."""
    page = (DOCS / name).read_text("utf-8")
    measured = re.sub(r"Kafka \d+\.\d+\.\d+", "Kafka 9.10.0", page)
    drawn = plots.with_plots(name, measured)
    assert ">Kafka 9.10.0</text>" in drawn
    assert drawn.count("<svg") == plots.with_plots(name, page).count("<svg") > 0
    for title, better in re.findall(r">([^<>]+): (shorter|longer) bars are better<", drawn):
        per_second = "/s" in title or "per processor second" in title
        assert better == ("longer" if per_second else "shorter"), title


def test_every_benchmark_page_has_a_plot() -> None:
    pages = {path.name for path in DOCS.glob("benchmarks*.md")}
    assert pages == {plot.page for plot in plots.PLOTS}


def test_configs_and_blocks() -> None:
    page = server_configs.text()
    assert "<code>min.insync.replicas</code>" in page
    assert "<code>log.dirs</code>" in page
    listed = code_blocks.text()
    assert all(f"../{page}" in listed for page, _ in code_blocks.not_run())

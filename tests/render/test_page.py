"""The page of explained frames, in a real browser: marks, keys, links, hostile text, no network."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import MetadataRequest, ProduceRequest
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.protocol import frame, write_request, write_response
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.render.html import html_page
from tests.helpers.kap import run_kap
from tests.render.browser import Browser, Page
from tests.render.frames import HOSTILE, PASSWORD, metadata, sample_payloads

pytestmark = pytest.mark.exhaustive

#: Of the sample frames: CreateTopics v7, its number on the page.
CREATE_TOPICS = 2
_TREE_KEYS = (
    "ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", "ArrowRight", "ArrowLeft", "Enter",
)  # fmt: skip


def write_page(folder: Path, payloads: Sequence[bytes], *options: str) -> Path:
    """The page that the command writes for a stream of those payloads."""
    stream, page = folder / "stream.bin", folder / "page.html"
    stream.write_bytes(b"".join(frame(payload) for payload in payloads))
    result = run_kap("explain", str(stream), "--input-format", "raw", "--html", str(page), *options)
    assert result.exit_code in (0, 1), result.output
    return page


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("page"), sample_payloads())


@pytest.fixture
def page(browser: Browser, samples: Path) -> Iterator[Page]:
    opened = browser.open(samples, fragment=f"#frame-{CREATE_TOPICS}")
    yield opened
    assert opened.errors == []
    assert len(opened.requests) == 1, "the page loads nothing but itself"


def bytes_with(page: Page, name: str) -> list[int]:
    """Numbers of the bytes in the hex pane of that class."""
    script = f"[...document.querySelectorAll('.b.{name}')].map((each) => Number(each.dataset.byte))"
    found: list[int] = page.value(script)
    return found


def field(page: Page, path: str) -> str:
    """The selector of a field by its path."""
    place = page.value(f"frame.nodes.findIndex((node) => node.path === {json.dumps(path)})")
    assert place >= 0, path
    return f"#field-{place + 1}"


def text_of(page: Page, id: str) -> str:
    """What is to be read in the element of that id."""
    found: str = page.value(f"document.getElementById('{id}').innerText")
    return found


def active(page: Page, id: str) -> str:
    """The id of what a screen reader takes for the active part of a pane."""
    attribute = "getAttribute('aria-activedescendant')"
    found: str = page.value(f"document.getElementById('{id}').{attribute}")
    return found


def chosen(page: Page, role: str) -> list[str]:
    """The ids of what is selected of all with that role."""
    script = f"[...document.querySelectorAll('[role={role}][aria-selected=true]')]"
    found: list[str] = page.value(f"{script}.map((each) => each.id)")
    return found


def selected(page: Page) -> str:
    """The path of the selected field; what the tree says to a screen reader is the same one."""
    path: str = page.value("frame.nodes[selected].path")
    said = active(page, "tree")
    assert said == "field-" + str(page.value("selected + 1"))
    assert chosen(page, "treeitem") == [said]
    return path


def test_hovering_a_field_marks_its_bytes(page: Page) -> None:
    page.hover(field(page, "topics[0].name"))
    assert bytes_with(page, "hover") == list(range(20, 27))
    assert page.texts(".item.hover .label") == ["name"]
    page.hover(field(page, "header"))
    assert bytes_with(page, "hover") == list(range(4, 19))
    page.hover("#title")
    assert bytes_with(page, "hover") == []


def test_hovering_a_byte_marks_its_field_and_the_other_bytes(page: Page) -> None:
    page.hover("#byte-28")
    assert bytes_with(page, "hover") == [27, 28, 29, 30]
    assert page.texts(".item.hover .label") == ["num_partitions"]
    assert "topics[0].num_partitions = 6" in page.value(
        "document.getElementById('hint').textContent"
    )
    page.hover(".a[data-byte='22']")
    assert page.texts(".item.hover .label") == ["name"]


def test_a_click_selects_and_stays(page: Page) -> None:
    page.click(field(page, "topics[1].replication_factor"))
    page.hover("#byte-0")
    assert selected(page) == "topics[1].replication_factor"
    assert bytes_with(page, "mark") == [46, 47]
    page.click("#byte-22")
    assert selected(page) == "topics[0].name"
    assert bytes_with(page, "cursor") == [22]
    detail = text_of(page, "detail")
    assert "topics[0].name" in detail
    assert '"apples"' in detail
    assert "07 61 70 70 6c 65 73" in detail


def test_keys_in_the_tree(page: Page) -> None:
    page.click(field(page, "size"))
    page.press("ArrowDown")
    assert selected(page) == "header"
    before = page.value("shown.length")
    page.press("ArrowLeft")
    assert page.value("shown.length") == before - 5
    assert page.value("document.querySelector('#field-2').getAttribute('aria-expanded')") == "false"
    page.press("ArrowDown")
    assert selected(page) == "topics"
    page.press("ArrowUp", "ArrowRight", "ArrowRight")
    assert selected(page) == "header.request_api_key"
    assert bytes_with(page, "mark") == [4, 5]
    page.press("ArrowLeft")
    assert selected(page) == "header"
    page.press("End")
    assert selected(page) == "unknown_tagged_fields"
    page.press("Home")
    assert selected(page) == "size"


def test_keys_in_the_bytes(page: Page) -> None:
    page.click("#byte-20")
    page.press("ArrowRight")
    assert bytes_with(page, "cursor") == [21]
    assert selected(page) == "topics[0].name"
    page.press("ArrowLeft", "ArrowLeft")
    assert selected(page) == "topics"
    page.press("ArrowDown")
    assert bytes_with(page, "cursor") == [35]
    assert active(page, "hex") == "byte-35"
    page.press("Home")
    assert bytes_with(page, "cursor") == [32]
    page.press("End", "ArrowUp")
    assert bytes_with(page, "cursor") == [31]
    assert selected(page) == "topics[0].replication_factor"


def test_tab_goes_from_pane_to_pane(page: Page) -> None:
    page.value("document.getElementById('frames').focus()")
    order = []
    for _ in range(2):
        page.press("Tab")
        order.append(page.value("document.activeElement.id"))
    assert order == ["hex", "tree"]


def test_the_filter(page: Page) -> None:
    page.press("/", "broker's default")
    assert page.value("document.activeElement.id") == "filter"
    assert page.value("shown.map((i) => frame.nodes[i].path)") == [
        "topics", "topics[1]", "topics[1].num_partitions", "topics[1].replication_factor",
    ]  # fmt: skip
    assert text_of(page, "count").startswith("2 of ")
    page.press("Enter", "Enter")
    assert selected(page) == "topics[1].replication_factor"
    page.press("Escape")
    assert page.value("shown.length === frame.nodes.length")
    assert selected(page) == "topics[1].replication_factor"


def test_a_filter_that_finds_nothing(page: Page) -> None:
    page.press("/", "no such words")
    assert page.value("shown") == []
    before = page.value("selected")
    page.press("Enter")
    page.value("tree.box.focus()")
    page.press(*_TREE_KEYS)
    page.click("#tree")
    assert page.value("selected") == before
    page.press("/", "Escape")
    assert page.value("shown.length === frame.nodes.length")
    page.press("End")
    assert selected(page) == "unknown_tagged_fields"


def test_nothing_closes_while_a_filter_is_set(page: Page) -> None:
    page.press("/", "num_partitions")
    page.press("Enter")
    shown = page.value("shown")
    page.value("tree.box.focus()")
    page.press("Home")
    assert selected(page) == "topics"
    page.press("Enter", "ArrowLeft", "Enter")
    page.click(f"{field(page, 'topics[0]')} .twisty")
    assert page.value("shown") == shown
    assert not page.value("frame.nodes.some((node) => node.closed)")
    page.press("Home", "ArrowRight", "ArrowRight")
    assert selected(page) == "topics[0].num_partitions"
    page.press("ArrowRight")
    assert selected(page) == "topics[0].num_partitions"


def test_links_and_the_list_of_frames(page: Page, samples: Path) -> None:
    page.go(f"{samples.as_uri()}#frame-7-field-12")
    page.value("location.hash = '#frame-4-field-9'")
    page.value("new Promise((done) => setTimeout(done, 50))")
    assert page.value("[frame.number, selected]") == ["4", 8]
    page.click("#frame-4")
    assert page.value("[frame.number, location.hash]") == ["5", "#frame-5-field-1"]
    page.press("ArrowDown")
    assert page.value("frame.number") == "6"
    assert chosen(page, "option") == ["frame-5"]
    for wrong in ("#frame-99-field-1", "#frame-2-field-9999", "#frame-2-field-0", "#<b>"):
        page.go(samples.as_uri() + wrong)
        page.value(f"location.hash = {json.dumps(wrong)}")
        assert page.value("selected >= 0")


def test_a_bad_frame_shows_how_far_it_got(page: Page) -> None:
    page.click("#frame-8")
    assert selected(page) == "topics[0].name"
    assert page.texts(".item.fault .label") == ["topics[0].name"]
    assert bytes_with(page, "mark") == [19, 20]
    assert bytes_with(page, "fault") == [19, 20]
    assert "string needs 16384 bytes" in text_of(page, "problem")
    assert page.value("document.getElementById('problem').checkVisibility()")
    page.click("#byte-0")
    page.click("#problem-go")
    assert bytes_with(page, "cursor") == [19]
    page.click("#frame-1")
    assert not page.value("document.getElementById('problem').checkVisibility()")


def test_hostile_text_is_only_text(page: Page) -> None:
    page.click("#frame-7")
    page.click(field(page, "header.client_id"))
    shown: str = page.value("document.querySelector('.item.mark .value').textContent")
    assert json.loads(shown) == HOSTILE
    assert "\u202e" not in shown, "a bidi control would turn the text around"
    assert "\x1b" not in shown
    assert page.value("window.broken") is None
    assert page.value("document.images.length") == 0


def test_the_policy_stops_what_gets_in(browser: Browser, samples: Path) -> None:
    """If some markup did become part of the page, it would not run."""
    page = browser.open(samples)
    page.value("document.body.insertAdjacentHTML('beforeend', '<b onclick=\"window.ran=1\">x</b>')")
    page.value("document.body.lastElementChild.click()")
    assert page.value("window.ran") is None
    assert len(page.errors) == 1
    assert "Content Security Policy" in page.errors[0]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)


def test_frames_add_no_markup(samples: Path) -> None:
    """Apart from one script block each; no byte of theirs leaves ASCII."""
    empty, full = _Tags(), _Tags()
    empty.feed("".join(html_page([])))
    text = samples.read_text("utf-8")
    full.feed(text)
    blocks = len(sample_payloads())
    assert sorted(full.tags) == sorted([*empty.tags, *["script"] * blocks])
    lines = [line for line in text.splitlines() if 'class="frame"' in line]
    assert len(lines) == blocks
    assert all(line.isascii() for line in lines)
    assert "\u202e" not in text
    assert "http://" not in text
    assert "https://" not in text


def test_secrets_are_not_in_the_page(samples: Path, tmp_path: Path) -> None:
    text = samples.read_text("utf-8")
    assert PASSWORD not in text
    assert PASSWORD.encode().hex() not in text
    shown = write_page(tmp_path, sample_payloads(), "--show-secrets").read_text("utf-8")
    assert PASSWORD in shown
    assert PASSWORD.encode().hex() in shown


def test_without_frames_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("".join(html_page([])), "utf-8")
    page = browser.open(file)
    assert "no frames" in page.value("document.body.innerText")
    assert page.errors == []


def test_a_large_frame_stays_light(browser: Browser, tmp_path: Path) -> None:
    """150 kB and 40,000 fields: what is not in view is not in the document."""
    payloads = [
        write_request(MetadataRequest(topics=None), 12, 3, "demo"),
        write_response(metadata(1000), 12, 3),
    ]
    page = browser.open(write_page(tmp_path, payloads), fragment="#frame-2")
    assert page.value("frame.bytes.length") > 100_000
    assert page.value("frame.nodes.length") > 30_000
    assert page.value("document.querySelectorAll('*').length") < 6_000
    started = time.monotonic()
    page.click("#tree")
    page.press("End")
    assert page.value("selected === frame.nodes.length - 1")
    page.press(*["ArrowUp"] * 50)
    page.press("/", "topic-00777")
    page.press("Enter")
    assert page.value("frame.nodes[selected].path") == "topics[777].name"
    marked = bytes_with(page, "mark")
    assert page.value(f"frame.bytes[{marked[1]}]") == ord("t")
    assert page.value("document.querySelectorAll('*').length") < 6_000
    assert time.monotonic() - started < 20
    assert page.errors == []


@pytest.mark.parametrize("bad", [False, True])
def test_what_is_too_much_is_left_out_and_said(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: bool
) -> None:
    monkeypatch.setattr("kafka_admin_proto.render.html.MOST_BYTES", 500)
    monkeypatch.setattr("kafka_admin_proto.render.html.MOST_ROWS", 90)
    payload = write_response(metadata(20), 12, 3)
    request = write_request(MetadataRequest(topics=None), 12, 3, "demo")
    page = browser.open(
        write_page(tmp_path, [request, payload[:-1] if bad else payload]), fragment="#frame-2"
    )
    size = len(payload) + 4 - bad
    left = text_of(page, "left-out")
    assert f"the frame has {size} bytes" in left
    assert "those from byte 500 on" in left
    assert "kap explain without --html shows all" in left
    assert page.value("frame.bytes.length") == 500
    rows = page.value("frame.nodes.filter((each) => each.kind !== GROUP).map((each) => each.path)")
    assert rows.index("(left out)") == 90
    assert rows[91:] == (["unknown_tagged_fields"] if bad else [])
    assert page.value("frame.nodes[frame.nodes.length - 1].end") == size
    page.click("#tree")
    page.press("End")
    assert "left out of this page from byte 500 on" in text_of(page, "detail")
    assert page.errors == []
    page.click("#frame-0")
    assert not page.value("document.getElementById('left-out').checkVisibility()")


@pytest.mark.explore
def test_a_print_has_every_page_and_says_where_it_ends(browser: Browser, tmp_path: Path) -> None:
    payloads = [write_response(metadata(count), 12, 3) for count in (30, 800)]
    requests = [write_request(MetadataRequest(topics=None), 12, 3, "demo")] * 2
    turns = [requests[0], payloads[0], requests[1], payloads[1]]
    page = browser.open(write_page(tmp_path, turns), fragment="#frame-2")
    pdf = base64.b64decode(page.call("Page.printToPDF", {"generateTaggedPDF": False})["data"])
    lines = page.value("tree.count + hex.count")
    assert 1000 < lines < 4000
    # An A4 page has room for fewer than 50 lines.
    assert max(map(int, re.findall(rb"/Count (\d+)", pdf))) > lines // 50
    printing = "dispatchEvent(new Event('beforeprint')), [tree.lines.size, hex.lines.size]"
    assert page.value(printing) == page.value("[tree.count, hex.count]")
    assert text_of(page, "printed") == ""
    page.value("dispatchEvent(new Event('afterprint'))")
    assert page.value("tree.lines.size") < 100
    page.click("#frame-3")
    assert page.value(printing) == [2000, 2000]
    fields, bytes_ = page.value("[tree.count, hex.count]")
    said = f"the first 2000 of {fields} fields, the first 2000 of {bytes_} lines of bytes."
    assert text_of(page, "printed") == f"Printed: {said}"
    page.value("dispatchEvent(new Event('afterprint'))")
    assert text_of(page, "printed") == ""
    assert page.errors == []


def test_damaged_records_are_marked(browser: Browser, tmp_path: Path) -> None:
    good = write_batch(Batch.of([Record(7, 1, b"apple", b"pear")]))
    part = PartitionProduceData(records=good[:-3] + b"xyz" + good)
    request = ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=[part])])
    page = browser.open(write_page(tmp_path, [write_request(request, 9, 1)], "--records"))
    path = "topic_data[0].partition_data[0].records.batches"
    assert selected(page) == f"{path}[0].crc", "the first damage is where one begins"
    assert "damaged" in text_of(page, "detail")
    assert page.texts(".item.fault .label")[0] == "crc"
    page.click(field(page, "topic_data"))
    page.press("/", "pear")
    page.press("Enter")
    assert selected(page) == f"{path}[1].records[0].value"
    assert len(bytes_with(page, "mark")) == 5
    assert page.errors == []

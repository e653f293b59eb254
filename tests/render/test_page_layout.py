"""The page of explained frames: on a phone and a desk, light and dark; its list; its size."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from kafka_admin_proto import CreateTopicsRequest, CreateTopicsResponse
from kafka_admin_proto.capture import Block, FrameDecoder
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.create_topics_response import CreatableTopicResult
from kafka_admin_proto.protocol import frame, write_request, write_response
from kafka_admin_proto.render.explain import Explanation, explain
from kafka_admin_proto.render.html import PageFrame, html_page
from kafka_admin_proto.render.text import printable
from tests.docs.pages import ROOT
from tests.helpers import profile
from tests.helpers.kap import run_kap
from tests.render.browser import Browser, Page
from tests.render.frames import HOSTILE
from tests.render.legible import cut_texts, faint_texts, show_as, sideways

pytestmark = pytest.mark.exhaustive

SAMPLE = ROOT / "samples" / "admin42.pcap.gz"
WINDOWS = profile.sample(
    [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")], 2
)
LONG = HOSTILE + "\u05d0" + "x" * 10_000


def written(file: Path, *arguments: str) -> Path:
    result = run_kap("explain", *arguments, "--html", str(file))
    assert result.exit_code in (0, 1), result.output
    return file


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page") / "page.html", str(SAMPLE))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A client whose id is hostile and long, and an error that answers it."""
    payloads = [
        write_request(CreateTopicsRequest(topics=[CreatableTopic("t", 1, 1)]), 7, 1, LONG),
        write_response(
            CreateTopicsResponse(
                topics=[CreatableTopicResult("t", error_code=36, error_message=LONG)]
            ),
            7,
            1,
        ),
    ]
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "stream.bin").write_bytes(b"".join(map(frame, payloads)))
    return written(folder / "page.html", str(folder / "stream.bin"), "--input-format", "raw")


def opened(browser: Browser, file: Path, width: int, scheme: str, fragment: str = "") -> Page:
    page = browser.open(file, size=(width, 900), fragment=fragment)
    show_as(page, width, scheme)
    return page


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_all_is_in_view_and_stands_out(
    browser: Browser, sample: Path, width: int, scheme: str
) -> None:
    error = "COORDINATOR_LOAD_IN_PROGRESS: The coordinator has just taken over"
    index = sample.read_text("utf-8").partition(error)[0].count('class="frame"') - 1
    page = opened(browser, sample, width, scheme)
    for number in (2, index):
        page.value(f"choose({number})")
        page.rest()
        assert cut_texts(page, ".item > span") == []
        assert sideways(page) == []
        assert faint_texts(page) == []
    page.value("select(frame.nodes.findIndex((each) => each.meaning.startsWith('COORDINATOR_L')))")
    page.rest()
    assert any(error in each for each in page.value(
        "[...document.querySelectorAll('.item .meaning')].map((each) => each.textContent)"
    ))  # fmt: skip
    assert cut_texts(page, ".item .meaning") == []
    assert page.errors == []


@pytest.mark.parametrize("width", [1280, 400])
def test_no_field_of_a_capture_is_cut(browser: Browser, sample: Path, width: int) -> None:
    page = opened(browser, sample, width, "light")
    for number in range(0, page.value("blocks.length"), 25):
        page.value(f"choose({number})")
        assert cut_texts(page, ".item > span") == []
    assert cut_texts(page, ".frame-item > span") == []


def test_no_room_is_given_to_a_field_twice(browser: Browser, sample: Path) -> None:
    """Items stand one below the other, at any width, also when the window is changed."""
    page = opened(browser, sample, 1280, "light", "#frame-2")
    for width in (1280, 400, 1900, 800):
        show_as(page, width, "light")
        assert page.value(
            "[...tree.lines].sort(([one], [other]) => one - other).map(([, line]) => line)"
            ".every((line, i, all) => i === 0 || line.offsetTop"
            " === all[i - 1].offsetTop + all[i - 1].offsetHeight)"
        )
        assert cut_texts(page, ".item > span") == []
        assert page.value("hex.lines.get(0).querySelectorAll('.b').length") == (
            8 if width == 400 else 16
        )


@pytest.mark.parametrize("width", [1280, 400])
def test_the_list_has_time_client_and_error(browser: Browser, sample: Path, width: int) -> None:
    page = opened(browser, sample, width, "light")
    rows = page.value(
        "[...document.querySelectorAll('.frame-item')].map((item) => Object.fromEntries("
        "['name', 'time', 'client', 'error'].map((name) => "
        "[name, item.querySelector(`.${name}`).textContent])))"
    )
    assert rows[0] == {
        "name": "ApiVersions v4 request", "time": "2026-11-21 02:34:29.325",
        "client": "1, 127.0.0.1:47274", "error": "",
    }  # fmt: skip
    assert "TOPIC_ALREADY_EXISTS" in {row["error"] for row in rows}
    assert page.value("document.querySelector('#list h2').innerText") == (
        "Frames: api, time (UTC), client, error"
    )
    assert page.value("document.documentElement.lang") == "en"


@pytest.mark.parametrize("width", [1280, 400])
def test_the_chosen_frame_is_in_view_in_the_list(
    browser: Browser, sample: Path, width: int
) -> None:
    """The heights of items above it are known only when they are drawn."""
    page = browser.open(sample, fragment="#frame-69", size=(width, 900))
    for chosen in ("", "choose(140)", "choose(20)"):
        page.value(chosen)
        page.rest()
        page.rest()
        assert page.value(
            "(() => { const list = at('frames').getBoundingClientRect(),"
            " item = at(`frame-${frame.index}`).getBoundingClientRect();"
            " return item.top >= list.top - 1 && item.bottom <= list.bottom + 1 })()"
        ), chosen


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_hostile_and_long_texts(browser: Browser, hostile: Path, width: int, scheme: str) -> None:
    page = opened(browser, hostile, width, scheme)
    for number in (0, 1):
        page.value(f"choose({number})")
        page.rest()
        assert sideways(page) == []
        assert faint_texts(page) == []
        shown = page.value("frame.nodes.map((each) => each.value).find((each) => each.length > 99)")
        assert json.loads(shown) == LONG
        page.value("select(frame.nodes.findIndex((each) => each.value.length > 99))")
        assert page.value("document.getElementById('detail').textContent").count(shown) == 1
    assert page.value("document.querySelector('.frame-item .client').textContent") == printable(
        LONG
    )
    assert page.value("document.querySelectorAll('.frame-item .error')[1].textContent") == (
        "TOPIC_ALREADY_EXISTS"
    )
    assert "\u202e" not in page.value("document.body.innerText")
    assert page.value("[window.broken, document.images.length]") == [None, 0]
    assert page.errors == []


@pytest.mark.parametrize(("limit", "value"), [("MOST_FRAMES", 2), ("MOST_CHARACTERS", 1)])
def test_a_large_capture_makes_a_page_of_bounded_size(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    """Frames from there on are counted, not explained, and the page and the terminal say so."""
    monkeypatch.setattr(f"kafka_admin_proto.render.html.{limit}", value)
    one = write_request(CreateTopicsRequest(), 7, 1, "demo")
    found = next(iter(FrameDecoder().decode(Block(frame(one), 0))))
    explained: list[int] = []

    def explaining(number: int) -> Explanation:
        explained.append(number)
        return explain([], found.data)

    said: list[str] = []
    frames = (PageFrame(n, "t", partial(explaining, n)) for n in range(1, 5))
    page = "".join(html_page(frames, said.append))
    shown = page.count('class="frame"')
    assert explained == list(range(1, shown + 1)) == [1, 2][:value]
    sentence = (
        f"The page has the first {shown} of 4 frames, as a browser would be slow with all: "
        "choose some with --only, --api or --since."
    )
    assert said == [sentence]
    assert f'role="note">{sentence}</p>' in page


def test_the_command_says_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("kafka_admin_proto.render.html.MOST_FRAMES", 3)
    file = tmp_path / "page.html"
    result = run_kap("explain", str(SAMPLE), "--html", str(file))
    assert "The page has the first 3 of " in result.stderr
    assert file.read_text("utf-8").count('class="frame"') == 3

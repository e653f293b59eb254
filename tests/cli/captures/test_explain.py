"""``kap explain`` as a user runs it: piped, on a terminal, as a page; exit codes, secrets."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from click.testing import Result
from rich.console import Console

from kafka_admin_proto import (
    CreateTopicsRequest,
    ProduceRequest,
    RequestHeader,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from kafka_admin_proto.cli.captures.explain import explanation_of, write_terminal
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from tests.capture.test_request_log import entry, log4j
from tests.cli.test_terminal import on_terminal
from tests.helpers.kap import ended, run_kap
from tests.render.frames import HOSTILE, PASSWORD, decoded, sample_payloads

SAMPLE = Path(__file__).parents[3] / "samples" / "create_topics.hex"


def run(*arguments: str, data: bytes | str | None = None) -> Result:
    return run_kap("explain", *arguments, data=data)


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """A stream of frames that ends in two bad ones."""
    file = tmp_path / "stream.bin"
    file.write_bytes(b"".join(frame(payload) for payload in sample_payloads()))
    return file


def bytes_of(output: str) -> dict[int, bytes]:
    """Offset → bytes, of every line that has some."""
    lines = re.findall(r"^(\d+) +((?:[0-9a-f]{2} )*[0-9a-f]{2})(?: {2}|$)", output, re.MULTILINE)
    return {int(offset): bytes.fromhex(data) for offset, data in lines}


def test_piped_output_has_every_byte() -> None:
    result = ended(run(str(SAMPLE), "--only", "1"))
    dump = re.findall(r"^[0-9a-f]{8}: ((?:[0-9a-f]{4} )+)", SAMPLE.read_text(), re.MULTILINE)
    found = bytes_of(result.stdout)
    assert b"".join(found[at] for at in sorted(found)) == bytes.fromhex("".join(dump[:4]))
    lines = result.stdout.splitlines()
    assert lines[0] == "frame 1: CreateTopics v0 request, 54 bytes, correlation id 1"
    assert lines[1].split() == ["offset", "bytes", "field", "type", "value", "meaning"]
    (key,) = [line for line in lines if "request_api_key" in line]
    assert key.split() == ["4", "00", "13", "request_api_key", "INT16", "19", "CreateTopics"]
    names = {line.strip(): line.index(line.strip()) for line in lines if line.startswith(" ")}
    assert names["header"] < names["[0]"], "deeper fields stand further to the right"


def test_a_frame_inside_another_one_says_so() -> None:
    result = run(str(SAMPLE.with_name("admin42.pcap.gz")), "--only", "69")
    title, _, first = result.output.splitlines()[:3]
    assert title == (
        "frame 69: CreateTopics v7 response inside an Envelope, 73 bytes, correlation id 3"
    )
    assert first.split() == ["header"]  # no size: that is the Envelope's


def test_long_fields_go_on_below(stream: Path) -> None:
    result = run(str(stream), "--input-format", "raw", "--only", "8")
    found = bytes_of(result.stdout)
    whole = b"".join(found[at] for at in sorted(found))
    assert whole == frame(sample_payloads()[7])
    assert HOSTILE.encode() in whole
    assert result.stdout.replace("\n", "").isprintable()


def test_secrets_are_masked(stream: Path) -> None:
    options = (str(stream), "--input-format", "raw", "--only", "5")
    hidden = run(*options).stdout
    assert "********" in hidden
    assert PASSWORD not in hidden
    assert PASSWORD.encode().hex(" ")[:30] not in hidden
    assert PASSWORD in run(*options, "--show-secrets").stdout


def test_a_bad_frame(stream: Path) -> None:
    result = ended(run(str(stream), "--input-format", "raw", "--only", "9"), 1)
    (line,) = [line for line in result.stdout.splitlines() if "stopped here" in line]
    assert line.split(maxsplit=4)[:4] == ["19", "40", "00", "topics[0].name"]
    assert line.endswith("stopped here: string needs 16384 bytes, 24 left")
    assert "frame 9: " in result.stderr


def test_records_are_opened(tmp_path: Path) -> None:
    good = write_batch(Batch.of([Record(7, 1, b"apple", b"pear")]))
    bad = good[:-3] + b"xyz"
    part = PartitionProduceData(records=bad + good)
    request = ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=[part])])
    file = tmp_path / "produce.bin"
    file.write_bytes(frame(write_request(request, 9, 1)))
    options = (str(file), "--input-format", "raw")
    closed, opened = run(*options), run(*options, "--records")
    assert closed.exit_code == opened.exit_code == 0
    assert "base_timestamp" not in closed.stdout
    found = bytes_of(opened.stdout)
    assert b"".join(found[at] for at in sorted(found)) == file.read_bytes()
    assert re.search(r'length 5\n.* value +VARINT_BYTES +"pear" +length 4', opened.stdout)
    damaged = [line for line in opened.stdout.splitlines() if "damaged: " in line]
    assert "crc" in damaged[0]
    assert "the batch's CRC-32C is" in damaged[0]
    page = tmp_path / "page.html"
    assert run(*options, "--records", "--html", str(page)).exit_code == 0
    assert '\\"pear\\"' in page.read_text("utf-8")


def test_a_page(stream: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run(str(stream), "--input-format", "raw", "--html", str(page))
    assert (result.exit_code, result.stdout) == (1, "")
    assert page.read_text("utf-8").count('<script type="application/json"') == 10
    result = ended(run(str(SAMPLE), "--only", "2", "--html", "-"))
    assert result.stdout.startswith("<!doctype html>")
    assert 'data-title="CreateTopics v0 response, 22 bytes, correlation id 1"' in result.stdout


def test_a_bare_body_and_other_inputs() -> None:
    body = ("--unit", "body", "--api", "CreateTopics", "--version", "1")
    assert "3 s" in ended(run(*body, data="00000000 00000bb8 00")).stdout
    ended(run(data="not hex at all"), 1)
    assert run(str(SAMPLE), "--dialect", "kip-4", "--only", "1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--unit", "body"), "--unit body needs --api and --version"),
        (("--response",), "--response needs --api and --version"),
        (("--version", "1"), "goes with --response or --unit body"),
        (("--dialect", "kip-9"), "unknown dialect"),
        (
            ("--only", "99"),
            "there is no frame 99; the input has 18, and numbers count over all files",
        ),
        (("--dialect", "kip-4", "--schemas", "."), "exclude each other"),
        (("--html", "/no/such/folder/page.html"), "No such file"),
    ],
)
def test_usage(arguments: tuple[str, ...], complaint: str) -> None:
    assert complaint in ended(run(str(SAMPLE), *arguments), 2).stderr


def test_what_has_no_bytes_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "kafka-request.log"
    log.write_text(log4j(entry()))
    segment = tmp_path / "00000000000000000000.log"
    segment.write_bytes(write_batch(Batch.of([Record(0, 1, None, b"x")])))
    for file, words in ((log, "a request log, which has no bytes"), (segment, "a file of a log")):
        for options in ((), ("--html", str(tmp_path / "page.html"))):
            result = run(str(file), *options)
            assert (result.exit_code, result.stdout) == (2, "")
            assert f"{file} is {words}" in result.stderr
            assert "kap decode" in result.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [1, 2, 5])
def test_on_a_tiny_terminal(width: int) -> None:
    assert on_terminal(width, "explain", str(SAMPLE), "--only", "1")


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [80, 120, 200])
def test_on_a_terminal_it_fits(width: int) -> None:
    lines = on_terminal(width, "explain", str(SAMPLE), "--only", "1")
    assert max(len(line) for line in lines) <= width
    text = "\n".join(lines)
    assert "CreateTopics v0 request" in text
    assert "replication_factor" in text
    # A table that is too wide would be cropped, in the middle of the last column's words.
    assert {"the", "same", "in", "request", "and", "response"} <= set(text.split())
    assert "NULLABLE_STRING" in text


def test_each_depth_has_its_colour() -> None:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, color_system="standard", width=150)
    (found,) = decoded(sample_payloads()[1])
    write_terminal(console, "title", explanation_of(found, mask=True))
    labels = ("size", "request_api_key", "num_partitions", "timeout_ms")
    colours = [re.findall(rf"\x1b\[(\d+)m *{label}", output.getvalue())[0] for label in labels]
    assert len(set(colours)) == 3
    assert colours[0] == colours[3], "the same depth"


REQUEST = frame(
    write_request(CreateTopicsRequest([CreatableTopic("apples", 3, 1)], 7000), 4, 1, "me")
)


@pytest.mark.parametrize("form", ["raw", "xxd", "hex"])
def test_a_dump_that_is_cut_off_is_explained_up_to_where_it_stops(form: str) -> None:
    """The header at least is shown of it, and fields of the body as far as they are whole."""
    for end in range(16, len(REQUEST)):
        cut = REQUEST[:end]
        text = {
            "raw": cut,
            "hex": cut.hex().encode(),
            "xxd": b"".join(
                f"{at:08x}: {cut[at : at + 16].hex(' ', 2):39}  ...\n".encode()
                for at in range(0, end, 16)
            ),
        }[form]
        result = ended(run("--input-format", form, data=text), 1)
        assert f"the data ends {end} bytes into a frame of {len(REQUEST)}" in result.stdout
        shown = bytes_of(result.stdout)
        assert all(cut[at : at + len(data)] == data for at, data in shown.items())
        assert ("request_api_key" in result.stdout) == (end >= 16)
        assert ('"apples"' in result.stdout) == (end >= 28), result.stdout


def test_a_cut_frame_of_an_unknown_api_is_masked_and_says_where_it_stops() -> None:
    unknown = frame(RequestHeader(12000, 0, 7, "c").encode(2) + b"body")
    result = run("--input-format", "raw", data=unknown[:-2])
    assert f"the data ends {len(unknown) - 2} bytes into a frame of {len(unknown)}" in result.stdout
    assert "12000" not in result.stdout
    assert not any(bytes_of(result.stdout).values())


@pytest.mark.exhaustive
def test_a_cut_dump_shows_nothing_of_a_login() -> None:
    password = PASSWORD.encode()
    token = frame(b"\0alice\0" + password)
    login = frame(write_request(SaslAuthenticateRequest(b"\0alice\0" + password), 2, 1, "me"))
    handshake = frame(write_request(SaslHandshakeRequest("PLAIN"), 0, 1, "me"))
    wrong_size = b"\0\0\1" + REQUEST[3:]
    ends = [token, login, handshake + token, wrong_size + handshake + token, token[4:]]
    for data in (*ends, *(REQUEST + each for each in ends), wrong_size + login):
        for end in range(5, len(data)):
            for command in ("explain", "decode --raw --output json"):
                arguments = [*command.split(), "--input-format", "raw"]
                found = run_kap(*arguments, data=data[:end]).output
                assert PASSWORD[:4] not in found
                assert password[:4].hex() not in found
                assert password[:4].hex(" ") not in found


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ("00", "no tagged fields"),
        ("01 050161", "1 tagged field"),
        ("02 050161 060162", "2 tagged fields"),
    ],
)
def test_a_number_of_tagged_fields_is_a_sentence(tags: str, said: str) -> None:
    arguments = "explain --unit body --api ApiVersions --version 3"
    assert said in ended(run_kap(arguments, data=f"01 01 {tags}".encode())).stdout

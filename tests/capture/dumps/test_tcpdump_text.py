"""Text of tcpdump, made by the real one of the samples, has the frames of these captures."""

from __future__ import annotations

import gzip
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from kafka_admin_proto.capture import DecodedFrame, FrameDecoder, read_blocks, read_captures
from kafka_admin_proto.capture.sources import read_frames
from kafka_admin_proto.errors import DumpError
from tests.helpers.requirements import skip_or_fail

SAMPLES = Path(__file__).parents[3] / "samples"
DAY_US = 86_400_000_000


def text_of(folder: Path, sample: str, *flags: str) -> Path:
    """What tcpdump prints of a sample, in UTC and without names."""
    tcpdump = shutil.which("tcpdump")
    if tcpdump is None:
        skip_or_fail("tcpdump is not installed")
    capture, text = folder / "sample.pcap", folder / "sample.txt"
    capture.write_bytes(gzip.decompress((SAMPLES / sample).read_bytes()))
    command = [tcpdump, "-n", "-r", str(capture), *flags]
    with text.open("wb") as out:
        subprocess.run(command, env={"TZ": "UTC"}, stdout=out, stderr=subprocess.PIPE, check=True)
    return text


def facts(frames: Iterable[DecodedFrame], *, day: bool = True) -> Counter[tuple[object, ...]]:
    return Counter(
        (
            each.direction,
            each.api,
            each.api_version,
            each.data,
            each.ts if day or each.ts is None else each.ts % DAY_US,
            each.latency_us,
        )
        for each in frames
        if not each.forwarded
    )


@pytest.mark.parametrize("time", ["", "-tt", "-tttt"])
@pytest.mark.parametrize("form", ["-x", "-xx", "-X", "-XX"])
def test_frames_and_times(tmp_path: Path, form: str, time: str) -> None:
    text = text_of(tmp_path, "old_client.pcap.gz", form, *filter(None, [time]))
    found = facts(read_frames([str(text)], FrameDecoder()), day=bool(time))
    expected = facts(read_captures([tmp_path / "sample.pcap"]), day=bool(time))
    assert found == expected
    assert len(found) > 10


@pytest.mark.parametrize(
    "flags", [["-v"], ["-vvv", "-tttt"], ["-#"], ["-v", "-#", "-tt"], ["-e"], ["-S"]]
)
def test_other_headings(tmp_path: Path, flags: list[str]) -> None:
    """Lines between the rows are never bytes, whatever they say."""
    text = text_of(tmp_path, "old_client.pcap.gz", "-xx", *flags)
    found = facts(read_frames([str(text)], FrameDecoder()), day=False)
    expected = facts(read_captures([tmp_path / "sample.pcap"]), day=False)
    assert found == expected


@pytest.mark.parametrize("flag", ["-t", "-ttt", "-ttttt"])
def test_times_that_are_none(tmp_path: Path, flag: str) -> None:
    """Those since another packet are no times of their own."""
    text = text_of(tmp_path, "old_client.pcap.gz", "-x", flag)
    frames = list(read_frames([str(text)], FrameDecoder()))
    assert {each.ts for each in frames} == {None}
    assert {each.latency_us for each in frames} == {None}
    assert {each.data for each in frames} == {
        each.data for each in read_captures([tmp_path / "sample.pcap"])
    }


def test_a_long_capture(tmp_path: Path) -> None:
    """Its frames are those of the capture; so are pairs, each within its connection."""
    text = text_of(tmp_path, "admin42.pcap.gz", "-X", "-tt")
    assert facts(read_frames([str(text)], FrameDecoder())) == facts(
        read_captures([tmp_path / "sample.pcap"])
    )


@pytest.mark.parametrize("seed", range(4))
def test_packets_that_are_lost(tmp_path: Path, seed: int) -> None:
    """No response is paired with the request of another connection that has lost its own."""
    text = text_of(tmp_path, "admin42.pcap.gz", "-X", "-tt")
    whole = {
        (each.direction, each.data, each.ts): each.latency_us
        for each in read_captures([tmp_path / "sample.pcap"])
    }
    draw = random.Random(seed)
    packets = re.split(r"\n(?=\S)", text.read_text())
    text.write_text("\n".join(each for each in packets if draw.random() > 0.1))
    found = {
        (each.direction, each.data, each.ts): each.latency_us
        for each in read_frames([str(text)], FrameDecoder())
        if each.error is None
    }
    assert len(found) > 100
    known = {key: latency for key, latency in found.items() if latency is not None}
    assert {key: whole[key] for key in known} == known


def test_a_night(tmp_path: Path) -> None:
    """Times without a date go on after midnight; text that was cut out starts with a row."""
    rows = ["23:59:59.900000 IP a > b: x", "\t0x0000:  0001", "00:00:00.100000 IP", "\t0x0000:  02"]
    found = read_blocks("\n".join(rows).encode())
    assert [each.data for each in found] == [b"\0\1", b"\2"]
    assert [each.ts for each in found] == [DAY_US - 100_000, DAY_US + 100_000]
    assert [each.data for each in read_blocks("\n".join(rows[1:]).encode())] == [b"\0\1", b"\2"]


def test_rows_alone() -> None:
    text = b"\t0x0000:  0000 0001 0001 6100 0013 88\n"
    assert [each.data for each in read_blocks(text)] == [bytes.fromhex("0000000100016100001388")]


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize(
    ("base", "colon"), [(0, ":"), (0, ""), (0x16FDFF3A0, ":"), (0x7FFEEFBFF3A0, ":")]
)
def test_rows_of_other_programs(rows: int, base: int, colon: str) -> None:
    """An offset or an address with 0x is never data: lldb's rows, and those without a colon."""
    with_x = b"\0\x10 0x20 examples"
    for row, shown in (
        (bytes(range(16)), ""), (b"\x80" * 16, "  " + "." * 16), (with_x, "  .. 0x20 examples"),
    ):  # fmt: skip
        starts = [f"0x{base + 16 * number:04x}{colon}" for number in range(rows)]
        text = "\n".join(f"{start} {row.hex(' ')}{shown}" for start in starts)
        assert [each.data for each in read_blocks(text.encode())] == [row * rows]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("000000 00000018 000c0004\n000008 00000007 00036170", r"is a word and not a byte"),
        ("000000 04000c0018000000\n000008", r"is a word and not a byte"),
        ("0x555555558010:\t16\t24\t12\t10", r"'16' has no 0x; write it with x/16xb"),
    ],
    ids=["od -A x -t x4", "od -A x -t x8", "gdb's x/4ub"],
)
def test_rows_whose_bytes_are_not_known(text: str, fault: str) -> None:
    with pytest.raises(DumpError, match=fault):
        read_blocks(text.encode())


@pytest.mark.parametrize("words", [4, 8])
def test_gdb(words: int) -> None:
    """As GNU gdb 13 prints ``x/24xb frame``."""
    data = bytes(number & 0xFF for number in range(0xF0, 0x108))
    text = "".join(
        f"0x{0x555555558010 + at:x} <frame+{at}>:\t"
        + "\t".join(f"0x{byte:02x}" for byte in data[at : at + words])
        + "\n"
        for at in range(0, len(data), words)
    )
    assert [each.data for each in read_blocks(text.encode())] == [data]
    wrong = text.replace("\t0xf1", "\t0xf1f2f3f4", 1)
    with pytest.raises(DumpError, match=r"is a word and not a byte.*write it with x/16xb"):
        read_blocks(wrong.encode())

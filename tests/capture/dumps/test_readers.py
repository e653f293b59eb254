"""Readers of dumps: against the tools that print them, by round trip, and on hostile input."""

from __future__ import annotations

import base64
import codecs
import contextlib
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_admin_proto.capture import READERS, Block, read_blocks
from kafka_admin_proto.capture.dumps import rows
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.errors import DumpError
from tests.capture.dumps import formatters
from tests.helpers.profile import draws, sample
from tests.helpers.requirements import skip_or_fail

SAMPLES = Path(__file__).parents[3] / "samples"
FRAME = bytes.fromhex(
    "00000032 0013 0000 00000001 000a 6865782d636c69656e74 00000001 0006 6170706c6573 00000002"
    "0001 00000000 00000000 00001b58"
)

#: Rows that print as hex digits, gaps, column marks and comments, and rows that repeat.
_TRICKY = st.sampled_from(
    [b"00 11 22 33 44 5", b"ab  cd  ef  |00|", b"> <| * # // \\ x", bytes(16), b"\xff" * 16]
)
DATA = st.one_of(
    st.binary(min_size=1, max_size=200),
    st.builds(
        lambda parts, tail: b"".join(part * times for part, times in parts) + tail,
        st.lists(
            st.tuples(_TRICKY | st.binary(min_size=16, max_size=16), st.integers(1, 5)),
            min_size=1,
            max_size=6,
        ),
        st.binary(max_size=20),
    ),
)
TURNS = st.lists(st.tuples(st.integers(0, 1), DATA), min_size=1, max_size=6)


def only(text: str | bytes, format: str = "auto") -> bytes:
    """The bytes of an input that must be one block."""
    (block,) = read_blocks(text.encode() if isinstance(text, str) else text, format)
    return block.data


def fault(text: str | bytes, format: str = "auto") -> str:
    with pytest.raises(DumpError) as caught:
        read_blocks(text.encode() if isinstance(text, str) else text, format)
    return str(caught.value)


def tool(*command: str) -> Callable[[bytes], bytes]:
    """A program that prints its standard input as a dump."""
    if shutil.which(command[0]) is None:
        skip_or_fail(
            f"{command[0]} is not installed (Debian packages xxd, bsdextrautils, coreutils)"
        )
    return lambda data: subprocess.run(command, input=data, capture_output=True, check=True).stdout


# The shipped sample


def test_the_sample_has_its_blocks_with_their_comments() -> None:
    blocks = read_blocks((SAMPLES / "create_topics.hex").read_bytes())
    assert len(blocks) == 18
    assert blocks[0] == Block(
        FRAME, 2, "CreateTopics v0 request, correlation id 1, 54 bytes with the length prefix"
    )
    for block in blocks:
        assert int.from_bytes(block.data[:4], "big") == len(block.data) - 4
        assert f" {len(block.data)} bytes" in block.comment


# The real tools


@settings(max_examples=draws(150), deadline=None)
@given(
    data=DATA,
    columns=st.integers(1, 64),
    group=st.sampled_from([0, 1, 2, 3, 4, 8]),
    flags=st.sets(st.sampled_from(["-u", "-a"])),
)
def test_xxd_itself(data: bytes, columns: int, group: int, flags: set[str]) -> None:
    dump = tool("xxd", "-c", str(columns), "-g", str(group), *sorted(flags))(data)
    assert only(dump) == data


@settings(max_examples=draws(50), deadline=None)
@given(data=DATA)
def test_xxd_that_starts_in_the_middle(data: bytes) -> None:
    assert only(tool("xxd", "-s", "3")(b"..." + data)) == data


@settings(max_examples=draws(50), deadline=None)
@given(data=DATA, option=st.sampled_from(["-p", "-i"]))
def test_xxd_plain_and_as_c(data: bytes, option: str) -> None:
    assert only(tool("xxd", option)(data)) == data


def test_xxd_as_c_with_names(tmp_path: Path) -> None:
    file = tmp_path / "frame"
    file.write_bytes(FRAME)
    assert only(tool("xxd", "-i", str(file))(b"")) == FRAME


@settings(max_examples=draws(50), deadline=None)
@given(data=st.text(st.characters(codec="ascii", categories=["L"]), min_size=32))
def test_little_endian_xxd_is_refused_or_told_by_nothing(data: str) -> None:
    dump = tool("xxd", "-e")(data.encode())
    turned = any(data[at : at + 4] != data[at : at + 4][::-1] for at in range(0, 32, 4))
    if turned:
        assert "xxd -e (little endian); write the dump without -e" in fault(dump)


@settings(max_examples=draws(150), deadline=None)
@given(data=DATA, flags=st.sets(st.sampled_from(["-v"])))
def test_hexdump_itself(data: bytes, flags: set[str]) -> None:
    assert only(tool("hexdump", "-C", *flags)(data)) == data


@settings(max_examples=draws(100), deadline=None)
@given(data=DATA, kind=st.sampled_from(["x1", "x1z"]), width=st.integers(1, 40))
def test_od_itself(data: bytes, kind: str, width: int) -> None:
    assert only(tool("od", "-A", "x", "-t", kind, f"-w{width}")(data)) == data


@pytest.mark.parametrize(
    "command",
    [("hexdump",), ("hexdump", "-x"), ("od",), ("od", "-x"), ("od", "-A", "x", "-x")],
    ids=" ".join,
)
def test_words_of_unknown_order_are_refused(command: tuple[str, ...]) -> None:
    assert "line 1: " in (said := fault(tool(*command)(FRAME)))
    assert "is a word and not a byte" in said
    assert "hexdump -C" in said


@pytest.mark.parametrize(
    "command", [("od", "-t", "x1"), ("od", "-A", "d", "-t", "x1z")], ids=" ".join
)
@pytest.mark.parametrize("data", [FRAME, bytes(100)])
def test_offsets_that_are_not_hex_are_refused(command: tuple[str, ...], data: bytes) -> None:
    assert "od -A x -t x1z or hexdump -C" in fault(tool(*command)(data))


def test_decimal_offsets_of_xxd_are_refused() -> None:
    assert "or are the offsets decimal and not hex" in fault(tool("xxd", "-d")(FRAME))


@settings(max_examples=draws(50), deadline=None)
@given(data=DATA, columns=st.integers(1, 40), group=st.integers(1, 8), upper=st.booleans())
def test_our_formatters_print_what_the_tools_print(
    data: bytes, columns: int, group: int, upper: bool
) -> None:
    printed = tool("xxd", "-c", str(columns), "-g", str(group), *(["-u"] if upper else []))(data)
    if group <= columns:
        assert printed.decode() == formatters.xxd(data, columns, group, upper)
    assert tool("od", "-A", "x", "-t", "x1z", f"-w{columns}")(data).decode() == formatters.od(
        data, columns
    )
    whole = data[: len(data) // 16 * 16] or bytes(16)  # the tail: see test_a_shorter_tail
    assert tool("hexdump", "-C")(whole).decode() == formatters.hexdump(whole)


# Round trips without a tool


ONE_BLOCK: dict[str, tuple[str, Callable[[bytes], str]]] = {
    "xxd": ("xxd", formatters.xxd),
    "xxd -u -g1 -c7": ("xxd", lambda data: formatters.xxd(data, 7, 1, True)),
    "xxd without characters": (
        "xxd",
        lambda data: "".join(f"{at:08x}: {row.hex()}\n" for at, row in formatters.rows(data, 16)),
    ),
    "hexdump -C": ("hexdump", formatters.hexdump),
    "od": ("hexdump", formatters.od),
    "wireshark": ("wireshark", formatters.wireshark),
    "wireshark without characters": ("wireshark", lambda d: formatters.wireshark(d, False)),
    "tshark -x": ("wireshark", formatters.tshark),
    "follow": ("wireshark", lambda data: formatters.follow_wireshark([(0, data)])),
    "follow tshark": ("wireshark", lambda data: formatters.follow_tshark([(0, data)])),
    "text2pcap, one space": (
        "wireshark",
        lambda data: "".join(
            f"{at:03x} {row.hex(' ')}\n" for at, row in formatters.rows(data + bytes(9), 8)
        ),
    ),
    "hex stream": ("hex", bytes.hex),
    "hex, spaces": ("hex", lambda data: data.hex(" ")),
    "hex, colons and capitals": ("hex", lambda data: data.hex(":").upper()),
    "hex, hyphens": ("hex", lambda data: data.hex("-")),
    "hex, lines of twenty": (
        "hex",
        lambda data: "\n".join(row.hex(",", 2) for _, row in formatters.rows(data, 20)),
    ),
    "hex, prefixes": ("hex", lambda data: ", ".join(f"0x{byte:02X}" for byte in data)),
    "hex, \\x": ("hex", lambda data: "".join(f"\\x{byte:02x}" for byte in data)),
    "go": ("hex", formatters.go_literal),
    "c array": ("hex", lambda data: formatters.c_arrays([(0, data)])),
    "escaped string": ("escaped", formatters.escaped_string),
    "c string": ("escaped", formatters.c_string),
    "python": ("escaped", repr),
    "base64": ("base64", lambda data: base64.b64encode(data).decode()),
    "base64, wrapped": ("base64", lambda data: base64.encodebytes(data).decode()),
    "base64, url, no padding": (
        "base64",
        lambda data: base64.urlsafe_b64encode(data).decode().rstrip("="),
    ),
}


@pytest.mark.parametrize("name", ONE_BLOCK)
@given(data=DATA)
def test_round_trip_by_name(name: str, data: bytes) -> None:
    format, write = ONE_BLOCK[name]
    expected = data + bytes(9) if name.startswith("text2pcap") else data
    assert only(write(data), format) == expected


@pytest.mark.parametrize("name", [name for name, row in ONE_BLOCK.items() if row[0] != "base64"])
@given(data=DATA)
def test_round_trip_by_guess(name: str, data: bytes) -> None:
    format, write = ONE_BLOCK[name]
    text = write(data)
    if format == "escaped" and "\\" not in text and not text.startswith("b"):
        return  # a string without escapes says nothing about what it is
    expected = data + bytes(9) if name.startswith("text2pcap") else data
    assert only(text) == expected


@given(data=DATA, ends=st.sampled_from(["\r\n", "\n", "\r"]), indent=st.sampled_from(["", "    "]))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["xxd", "hexdump -C", "wireshark", "hex, spaces"])
def test_clipboards(name: str, encoding: str, data: bytes, ends: str, indent: str) -> None:
    text = "".join(indent + line + ends for line in ONE_BLOCK[name][1](data).splitlines())
    assert only(text.encode(encoding)) == data


@given(turns=TURNS)
@pytest.mark.parametrize("write", [formatters.follow_wireshark, formatters.follow_tshark])
def test_conversations(
    write: Callable[[list[formatters.Turn]], str], turns: list[formatters.Turn]
) -> None:
    sides: list[tuple[int, bytes]] = []
    for side, data in turns:
        if sides and sides[-1][0] == side:
            sides[-1] = (side, sides[-1][1] + data)
        else:
            sides.append((side, data))
    blocks = read_blocks(write(turns).encode())
    assert [block.data for block in blocks] == [data for _, data in sides]
    if len(sides) > 1:
        assert [block.comment for block in blocks] == [f"peer{side}" for side, _ in sides]


@given(turns=TURNS)
def test_c_arrays_are_a_block_each(turns: list[formatters.Turn]) -> None:
    blocks = read_blocks(formatters.c_arrays(turns).encode())
    assert [block.data for block in blocks] == [data for _, data in turns]
    assert blocks[0].comment == f"peer{turns[0][0]}_0 Packet 4"


@pytest.mark.parametrize("name", ONE_BLOCK)
@given(parts=st.lists(DATA, min_size=1, max_size=4), marks=st.data())
def test_blank_lines_and_comments_part_blocks(
    name: str, parts: list[bytes], marks: st.DataObject
) -> None:
    format, write = ONE_BLOCK[name]
    text, expected = "", []
    for number, part in enumerate(parts):
        comment = marks.draw(st.sampled_from(["", f"message {number}"]))
        text += f"\n# {comment}\n" if comment else "\n\n"
        line = text.count("\n") + 1
        text += write(part).strip("\n")
        expected.append((line, comment))
    blocks = read_blocks(text.encode(), format)
    if "follow tshark" in name or "c array" in name or "text2pcap" in name:
        assert len(blocks) == len(parts)
        return
    assert [block.data for block in blocks] == parts
    assert [(block.line, block.comment) for block in blocks] == expected


# Layouts as Wireshark prints them, by hand


def test_wireshark_copy_as_hex_and_ascii_dump() -> None:
    text = (
        "0000   00 00 00 32 00 13 00 00 00 00 00 01 00 0a 68 65   ...2..........he\n"
        "0010   78 2d 63 6c 69 65 6e 74 00 00 00 01 00 06 61 70   x-client......ap\n"
        "0020   70 6c 65 73 00 00 00 02 00 01 00 00 00 00 00 00   ples............\n"
        "0030   00 00 00 00 1b 58                                 .....X\n"
    )
    assert only(text) == FRAME


def test_tshark_x_with_several_sources() -> None:
    text = (
        "Frame (18 bytes):\n"
        "0000  00 00 00 00 00 00 00 00 00 00 00 00 08 00 45 00   ..............E.\n"
        "0010  61 62                                             ab\n"
        "\n"
        "Reassembled TCP (2 bytes):\n"
        "0000  31 32                                             12\n"
    )
    assert [(block.comment, len(block.data)) for block in read_blocks(text.encode())] == [
        ("Frame (18 bytes)", 18),
        ("Reassembled TCP (2 bytes)", 2),
    ]


def test_follow_tcp_stream() -> None:
    text = (
        "00000000  00 00 00 32 00 13 00 00  00 00 00 01 00 0a 68 65   ...2.... ......he\n"
        "00000010  78 2d 63 6c 69 65 6e 74                            x-client \n"
        "00000018  00 01                                              ..\n"
        "    00000000  00 00 00 12                                        ....\n"
        "0000001A  61 62 20 63 64                                     ab cd\n"
    )
    assert read_blocks(text.encode()) == [
        Block(FRAME[:24] + b"\0\1", 1, "peer0"),
        Block(b"\0\0\0\x12", 4, "peer1"),
        Block(b"ab cd", 5, "peer0"),
    ]


def test_python_and_c_strings() -> None:
    assert only(r"""b'\x00\x00\x002\x00\x13 it\'s "hex"'""") == b'\0\0\x002\0\x13 it\'s "hex"'
    assert only('"\\x00\\x00" \\\n"\\x41"') == b"\0\0A"
    assert only('"\\000\\0022" "b"') == b"\0\x022b"


# Details of single formats


def test_a_shorter_tail_that_hexdump_leaves_out() -> None:
    text = formatters.hexdump(b"abcd" * 8).replace("00000020", "00000026")
    assert only(text) == (b"abcd" * 10)[:38]
    assert only(tool("hexdump", "-C")((b"abcd" * 10)[:38])) == (b"abcd" * 10)[:38]


def test_offset_zero_starts_a_block() -> None:
    assert [block.data for block in read_blocks((formatters.xxd(FRAME) * 2).encode())] == [
        FRAME
    ] * 2


def test_comments_in_and_after_plain_hex() -> None:
    text = (
        "// size\n0000 0002 # two /* bytes */\n/* the rest */\n00 /* zero */ 13 // CreateTopics\n"
    )
    assert read_blocks(text.encode()) == [
        Block(b"\0\0\0\2", 2, "size"),
        Block(b"\0\x13", 4, "the rest"),
    ]


def test_padding_ends_a_block_of_base64() -> None:
    assert [block.data for block in read_blocks(b"AAAAMgATAA==\nAAAAEgAAAAE=\n")] == [
        bytes.fromhex("00000032001300"),
        bytes.fromhex("0000001200000001"),
    ]


def test_urlsafe_and_standard_base64() -> None:
    assert only("--__--__") == only("++//++//") == base64.b64decode("++//++//")
    assert read_blocks(b"// two words\n//zz-zzz\n", "base64") == [
        Block(base64.b64decode("//zz+zzz"), 2, "two words")
    ]


def test_hex_wins_over_base64() -> None:
    assert only("deadbeef") == b"\xde\xad\xbe\xef"


@given(data=st.binary(min_size=1))
def test_raw_is_what_is_no_text(data: bytes) -> None:
    assert read_blocks(data, "raw") == [Block(data)]
    frame = len(data).to_bytes(4, "big") + data
    assert read_blocks(frame) == [Block(frame)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["hex, prefixes", "hex, \\x", "hex stream", "c array", "base64"])
@pytest.mark.parametrize("lead", range(8))
def test_the_sample_may_be_cut_anywhere(name: str, lead: int) -> None:
    data = random.Random(lead).randbytes(SAMPLE_BYTES)
    comment = "#" * lead + "\n" if lead else ""
    assert only(comment + ONE_BLOCK[name][1](data)) == data


def test_a_comment_in_another_encoding() -> None:
    assert only("# Größe\n00 13\n".encode("latin-1")) == b"\0\x13"


def test_no_break_spaces() -> None:
    assert only(formatters.wireshark(FRAME).replace(" ", "\xa0")) == FRAME


# What people are told


@pytest.mark.parametrize("data", [b"", b" \r\n\t\n"])
@pytest.mark.parametrize("format", ["auto", "hex"])
def test_empty(data: bytes, format: str) -> None:
    assert fault(data, format) == "the input is empty"


@pytest.mark.parametrize("format", ["auto", "xxd", "hex", "base64"])
def test_nothing_but_comments(format: str) -> None:
    assert fault("# nothing\n\n", format) == (
        "no bytes in the input, only blank lines and comments"
    )


def test_an_unknown_format() -> None:
    assert fault("00", "hexx") == (
        f"there is no input format 'hexx'; there are {', '.join(['auto', *READERS])}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# c\n00 00\n00 0g\n", "line 3: 'g' is not a hex digit; the input is closest to hex."),
        ("00000032zz001300\n", "line 1: 'z' is not a hex digit; the input is closest to hex."),
        ("0" * 76 + "zz\n", "line 1: 'z' is not a hex digit; the input is closest to hex."),
        ("AAAAMgATAAAB!ApoZXgt\n", "is not base64; the input is closest to base64."),
        ("topics\n", "line 1: the input is closest to base64, but that would be a guess."),
        ("what is this?\n", "line 1: cannot make out 'what is this?'; it is not close to any"),
        ("$ xxd frame\n00000000: 0000\n", "line 1: cannot make out '$ xxd frame'; the text from"),
        ("$ xxd frame\n00000000: 0000\n", "the text from line 2 on looks like xxd."),
    ],
)  # fmt: skip
def test_what_no_reader_makes_out(text: str, said: str) -> None:
    assert said in fault(text)
    assert fault(text).endswith(f"(--input-format): {', '.join(READERS)}")


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        ("hex", "00 13\n000 1\n", "line 2: odd number of hex digits in '000'"),
        ("hex", "00 1\n3 00\n", "line 1: odd number of hex digits in '1'"),
        ("hex", "00 1g\n", "line 1: 'g' is not a hex digit"),
        ("hex", "00 １３\n", "line 1: '１' is not a hex digit"),
        ("hex", "00 \\x\n", "line 1: 'x' is not a hex digit"),
        ("xxd", "00000000: 00\u20030\n", "line 1: '\\u2003' is not a hex digit"),
        ("xxd", "0000 0032\n", "line 1: '0000 0032' is not a row of xxd"),
        ("xxd", "00000000: 0000 001  ...\n", "line 1: odd number of hex digits in '001'"),
        ("xxd", "00000000: 0000\n00000004: 00\n", "line 2: offset 00000004 where 00000002 is due"),
        ("xxd", "00000000: 0000\n00000001: 00\n", "where 00000002 is due: is a row there twice?"),
        ("xxd", "*\n", "line 1: '*' repeats the row before it, and there is none"),
        ("xxd", "00000000: 0000\n*\n", "line 2: '*' repeats the row before it until"),
        ("xxd", "00000000: 0000\n*\n\n", "line 2: '*' repeats the row before it until"),
        ("xxd", "00000000: 0000\n*\n00000005: 00\n", "line 3: offset 00000005 where 00000002"),
        ("xxd", "00000000: 0000\n*\n00000001: 00\n", "line 3: offset 00000001 where 00000002"),
        ("hexdump", "00000000  zz  |.|\n", "line 1: 'z' is not a hex digit"),
        ("hexdump", "hello\n", "line 1: 'hello' is not a row of hexdump -C"),
        ("hexdump", "00000010\n", "line 1: offset 00000010 without bytes"),
        ("wireshark", "0000   00 zz 00\n", "line 1: 'z' is not a hex digit"),
        ("wireshark", "0000   0000 0032\n", "line 1: '0000' is not a byte of two hex digits"),
        ("wireshark", "hello\n", "line 1: 'hello' is not a row of a Wireshark hex dump"),
        ("wireshark", "0000  61 62\n    0002  63\n", "line 2: this side of the conversation is at"),
        ("escaped", '"\\x00" x\n', "line 1: 'x' is not a quoted string"),
        ("escaped", "\\x00\n", "line 1: '\\\\x00' is not a quoted string"),
        ("escaped", '"\\x00\n', "line 1: the string has no closing quote"),
        ("escaped", '"\\x0"\n', "line 1: '\\\\x0\"' is not an escape of a byte"),
        ("escaped", '"\\777"\n', "line 1: '\\\\777' is not bytes"),
        ("escaped", '"\\q"\n', "line 1: '\\\\q' is not bytes"),
        ("escaped", '"\u2026"\n', "line 1: '…' is not bytes"),
        ("base64", "AAAA\nAAAA!\n", "line 2: 'AAAA!' is not base64"),
        ("base64", "AAAA\n\nAAAAA\n", "line 3: 5 digits of base64 cannot be whole bytes"),
    ],
)  # fmt: skip
def test_what_is_said_about_a_line(format: str, text: str, said: str) -> None:
    assert said in fault(text, format)


def test_a_missing_row_is_noticed_in_every_dump() -> None:
    for name in ("xxd", "hexdump -C", "od", "wireshark", "tshark -x", "follow"):
        lines = ONE_BLOCK[name][1](FRAME).splitlines(keepends=True)
        assert "is a row missing" in fault("".join(lines[:1] + lines[2:]), ONE_BLOCK[name][0])


# Hostile input


@pytest.mark.parametrize("format", ["xxd", "hexdump", "wireshark"])
def test_repeats_have_a_limit(format: str) -> None:
    colon = ":" if format == "xxd" else " "
    bomb = f"00000000{colon} 00 00\n*\nfffffff0{colon} 00\n"
    assert "more than 104857600 in one input are not expanded" in fault(bomb, format)


def test_many_repeats_share_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_REPEATED", 1000)
    part = "00000000: 00\n*\n00000200: 00\n\n"
    assert len(read_blocks(part.encode())[0].data) == 0x201
    assert "line 7: '*' stands for 511 bytes" in fault(part * 2)


_DUMPS = [write(FRAME * 2) for _, write in ONE_BLOCK.values()]
_DUMPS.append(formatters.follow_tshark([(0, FRAME), (1, FRAME), (0, FRAME)]))
_DUMPS.append(formatters.c_arrays([(0, FRAME), (1, FRAME)]))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    text = draw(st.sampled_from(_DUMPS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.integers(0, 20))
        text = text[:at] + draw(st.text(max_size=5) | st.sampled_from(_DUMPS)) + text[end:]
    return text.encode(draw(st.sampled_from(["utf-8", "utf-16"])), "surrogatepass")


_ALPHABET = st.text("0123456789abcdefgxAZ:|>*#/\\\"'{}[]=,;b \t\n\r", max_size=80)


@settings(max_examples=draws(500))
@given(
    data=st.binary(max_size=100)
    | mutated()
    | _ALPHABET.map(str.encode)
    | st.text().map(lambda text: text.encode("utf-8"))
    | st.binary().map(codecs.BOM_UTF16_LE.__add__)
    | st.binary().map(codecs.BOM_UTF8.__add__),
    format=st.sampled_from(["auto", *READERS]),
)  # fmt: skip
def test_only_dump_errors_escape(data: bytes, format: str) -> None:
    with contextlib.suppress(DumpError):
        blocks = read_blocks(data, format)
        assert blocks
        assert all(block.data for block in blocks)


PIECES = [
    " ", "\n", "00", "0 ", "00 ", "/*", "[{", "{[", "\\x", "0x", "*\n", '"', "\\", "=", "A", "(",
    "(1 bytes):", "# \n", "0000: 00\n", "0000  00\n", "b''", "g", "00\n\n", '"\\x00"', "\r", "é",
    "/**/",
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("piece", sample(PIECES, 2), ids=repr)
@pytest.mark.parametrize("lead", ["", '"', "0000", "00000000: ", "unsigned int "], ids=repr)
def test_long_inputs_take_linear_time(piece: str, lead: str) -> None:
    """A quadratic step would take minutes on 200,000 characters of one pattern."""
    data = (lead + piece * (200_000 // len(piece)) + " !").encode()
    started = time.thread_time()
    for format in ["auto", *READERS]:
        with contextlib.suppress(DumpError):
            read_blocks(data, format)
    assert time.thread_time() - started < 20


def wide(data: bytes, group: int, gap: str, colon: str, *, shown: bool, padded: bool) -> str:
    """Rows whose groups stand apart, as ``nc -x`` (4 bytes) and JSSE (8 bytes) print them."""
    text = ""
    for offset in range(0, len(data), 16):
        row = data[offset : offset + 16]
        digits = gap.join(row[at : at + group].hex(" ") for at in range(0, len(row), group))
        if padded:
            digits = digits.ljust(16 * 3 + 3 * len(gap))
        text += f"{offset:08x}{colon} {digits}"
        text += f"  {formatters.characters(row)}\n" if shown else "\n"
    return text


@given(
    data=st.binary(min_size=1, max_size=40) | st.from_regex(rb"[0-9a-f ]{1,40}", fullmatch=True),
    group=st.sampled_from([4, 8]),
    gap=st.sampled_from(["  ", "   "]),
    colon=st.sampled_from([":", " "]),
    shown=st.booleans(),
    padded=st.booleans(),
)
@example(b"\0\0\0\x0a\0\x12\0\0\0\0\0\4\xff\xff", 4, "  ", " ", True, False)
def test_groups_that_stand_apart(
    data: bytes, group: int, gap: str, colon: str, shown: bool, padded: bool
) -> None:
    text = wide(data, group, gap, colon, shown=shown, padded=padded)
    assert b"".join(each.data for each in read_blocks(text.encode())) == data


def rust(data: bytes) -> str:
    """As the crate ``bytes`` shows them with ``{:?}``."""
    short = {0: r"\0", 9: r"\t", 10: r"\n", 13: r"\r", 34: r"\"", 92: r"\\"}
    pieces = [
        short.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}") for byte in data
    ]
    return f'b"{"".join(pieces)}"'


@given(st.binary(min_size=1) | st.text("\0\\\"017x'n", min_size=1).map(str.encode))
@example(b"\0\3\0\1\0\0\x001\0\3app\xff\xff\xff\xff")
def test_rust_has_no_octal_numbers(data: bytes) -> None:
    assert [each.data for each in read_blocks(rust(data).encode())] == [data]


@pytest.mark.parametrize(
    ("literal", "data"),
    [(r"b'\01'", b"\1"), (r'"\01"', b"\1"), (r'b"\1\01"', b"\1\1"), (r'b"\a\01"', b"\7\1")],
)
def test_others_have(literal: str, data: bytes) -> None:
    assert [each.data for each in read_blocks(literal.encode())] == [data]


@pytest.mark.exhaustive
@pytest.mark.parametrize("colon", [":", " "])
def test_a_row_without_an_end_takes_no_time(colon: str) -> None:
    """Of a row that is longer than any tool's, the characters are not looked for."""
    start = time.process_time()
    text = f"0000{colon} 00  " + "00 " * 400_000
    with contextlib.suppress(DumpError):
        assert len(read_blocks(text.encode())[0].data) == 400_001
    with contextlib.suppress(DumpError):
        read_blocks((text + " " + "x" * 400_000).encode())
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", [r'Ok(b"\0\0\0\x12")', r'sent = "\x00\x12\x00"'])
def test_a_string_among_words_is_close_to_strings(text: str) -> None:
    with pytest.raises(DumpError, match=r"is not a quoted string; the input is closest to escaped"):
        read_blocks(text.encode())

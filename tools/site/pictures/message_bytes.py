"""The bytes of a message, each with the field that it belongs to.

python -m tools.site.pictures.message_bytes        # writes docs/pictures/bytes.svg
"""

from __future__ import annotations

from pathlib import Path

from kafka_admin_proto import CreateTopicsRequest
from kafka_admin_proto.capture import Block, FrameDecoder
from kafka_admin_proto.cli.captures.explain import explanation_of
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.render.explain import Explanation
from tools.site.pictures.svg import Picture, text_width

FILE = Path(__file__).parents[3] / "docs" / "pictures" / "bytes.svg"
_WIDTH = 860
_BYTE = 22
_GAP = 8
_ROW = 78
_SIZE = 13


def create_topics() -> Picture:
    """A CreateTopics request: its bytes above, its value below."""
    request = CreateTopicsRequest(
        [CreateTopicsRequest.CreatableTopic("apples", 3, 1)], timeout_ms=30_000
    )
    (decoded,) = FrameDecoder().decode(Block(frame(write_request(request, 1, 7, "me"))))
    picture = Picture("The bytes of a CreateTopics request, each with the field that it belongs to")
    bottom = draw_bytes(picture, explanation_of(decoded, mask=True), 2, 4)
    lines = (
        "CreateTopicsRequest(",
        "    topics=[CreatableTopic(name='apples', num_partitions=3, replication_factor=1)],",
        "    timeout_ms=30000,",
        ")",
    )
    picture.text(2, bottom + 6, "decode ↓   ↑ encode", size=14, kind="faint")
    picture.box(2, bottom + 22, _WIDTH, 20 * len(lines) + 14)
    for at, line in enumerate(lines):
        picture.text(16, bottom + 44 + 20 * at, line.replace(" ", "\u00a0"), kind="mono")
    return picture


def draw_bytes(picture: Picture, explanation: Explanation, left: float, top: float) -> float:
    """Each row as a box of its bytes, with field and value below; returns the lower end."""
    x, y = left, top
    for node in explanation.nodes():
        row = node.row
        if row is None:
            continue
        data = explanation.row_hex(row)
        value = row.shown_value
        if row.meaning and row.path == "header.request_api_key":
            value = f"{value}: {row.meaning}"
        wide = max(len(data) * _BYTE, text_width(node.label, 11), text_width(value, 11, mono=True))
        if x + wide > left + _WIDTH:
            x, y = left, y + _ROW
        in_header = row.path == "size" or row.path.startswith("header.")
        picture.box(x, y, len(data) * _BYTE, 26, "second" if in_header else "first")
        for at, each in enumerate(data):
            middle = x + (at + 0.5) * _BYTE
            picture.text(middle, y + 18, each, size=_SIZE, kind="mono", anchor="middle")
        picture.text(x, y + 41, node.label, size=11, kind="faint")
        picture.text(x, y + 56, value, size=11, kind="mono")
        x += wide + _GAP
    return y + _ROW


if __name__ == "__main__":
    FILE.write_text(create_topics().standalone(), "utf-8")

"""``partition.metadata``: the file in a partition's folder with the topic id of its log (KIP-516).

    metadata = PartitionMetadata.read("/var/kafka/apples-0/partition.metadata")
    metadata.topic_id

Kafka writes two lines, ``version: 0`` and ``topic_id: …``, with the id in base64url form and no
line end after it. The reader also accepts an id in canonical form, blank lines, another order, any
line ends, and further keys, which are kept. As in Kafka, a version above 0 is read too: a newer
release may add keys, but the two known ones keep their meaning.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Self
from uuid import UUID

import msgspec

from kafka_admin_proto.errors import PartitionMetadataError, TopicIdError
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID, topic_id_from_text, topic_id_to_text
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: The file's name, the same in each partition's folder.
FILE_NAME = "partition.metadata"

#: Kafka writes two short lines; a file with more bytes than this is something else.
_LARGEST_FILE = 1 << 16
_LARGEST_VERSION = (1 << 31) - 1
_KNOWN_KEYS = ("version", "topic_id")
_BLANKS = " \t"
_LINE_END = re.compile(r"\r\n|\r|\n")
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


class PartitionMetadata(msgspec.Struct, frozen=True):
    """The contents of the file. ``extra`` has further keys and values, in the file's order.

    The constructor raises PartitionMetadataError for values that could not be written.
    """

    topic_id: UUID
    version: int = 0
    extra: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _check_topic_id(self.topic_id)
        _check_version(self.version)
        keys = set(_KNOWN_KEYS)
        for key, value in self.extra:
            _check_extra(key, value)
            if key in keys:
                raise PartitionMetadataError(f"key {key!r} stands twice", "each key once")
            keys.add(key)
        if len(self.format().encode()) > _LARGEST_FILE:
            raise PartitionMetadataError("extra is too long", f"a file of {_LARGEST_FILE} bytes")

    @classmethod
    def parse(cls, data: str | bytes, *, file: str = "") -> Self:
        """Read the file's contents; it raises PartitionMetadataError only.

        ``file`` is a name for errors.
        """
        reader = _Reader(file)
        pairs = reader.pairs(data)
        topic_id = reader.topic_id(pairs.pop("topic_id", None))
        version = reader.version(pairs.pop("version", None))
        return cls(topic_id, version, tuple((key, value) for key, (value, _) in pairs.items()))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file. Raises PartitionMetadataError, or OSError where it cannot be opened."""
        with open(path, "rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        return cls.parse(data, file=replace_invalid_utf8(os.fspath(path)))

    def format(self) -> str:
        """The file's text, byte for byte Kafka's where there is no ``extra``."""
        pairs = (
            ("version", str(self.version)),
            ("topic_id", topic_id_to_text(self.topic_id)),
            *self.extra,
        )
        return "\n".join(f"{key}: {value}" for key, value in pairs)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file atomically: a crash leaves either the old or the new one, complete.

        The new file gets the permissions of the old one, and its owner if that is allowed. Raises
        OSError.
        """
        _replace(Path(path), self.format().encode())


class _Reader:
    """Reads the lines of one file; its errors name the file and the line."""

    def __init__(self, file: str) -> None:
        self._file = file

    def pairs(self, data: str | bytes) -> dict[str, tuple[str, int]]:
        """Key → value and line number, in the order of the lines."""
        pairs: dict[str, tuple[str, int]] = {}
        for number, line in enumerate(_LINE_END.split(self._text(data)), 1):
            if not line.strip(_BLANKS):
                continue
            key, colon, value = line.partition(":")
            key, value = key.strip(_BLANKS), value.strip(_BLANKS)
            if not colon or not key:
                raise self._error(f"{line[:60]!r} is no key and value", '"key: value"', number)
            if key in pairs:
                first = pairs[key][1]
                raise self._error(
                    f"key {key[:60]!r} stands in line {first} already", "each key once", number
                )
            pairs[key] = value, number
        return pairs

    def topic_id(self, written: tuple[str, int] | None) -> UUID:
        if written is None:
            raise self._error("there is no topic_id", 'a line "topic_id: …"')
        text, line = written
        try:
            topic_id = topic_id_from_text(text)
            _check_topic_id(topic_id)
        except TopicIdError:
            raise self._error(
                f"topic_id {text[:60]!r} is not a topic id",
                "22 characters of base64url, or hex digits with hyphens",
                line,
            ) from None
        except PartitionMetadataError as error:
            raise self._error(error.fault, error.expected, line) from None
        return topic_id

    def version(self, written: tuple[str, int] | None) -> int:
        if written is None:
            raise self._error("there is no version", 'a line "version: 0"')
        text, line = written
        if not _INTEGER.fullmatch(text):
            raise self._error(f"version {text[:60]!r} is not a number", "0 or above", line)
        try:
            _check_version(int(text))
        except PartitionMetadataError as error:
            raise self._error(error.fault, error.expected, line) from None
        return int(text)

    def _text(self, data: str | bytes) -> str:
        try:
            raw = data if isinstance(data, bytes) else data.encode()
            text = raw.decode()
        except (UnicodeDecodeError, UnicodeEncodeError) as error:
            raise self._error(f"it is not UTF-8 text: {error.reason}", "plain text") from None
        if len(raw) > _LARGEST_FILE:
            raise self._error(
                f"it is larger than {_LARGEST_FILE} bytes", "two short lines, as Kafka writes them"
            )
        return text

    def _error(self, fault: str, expected: str, line: int = 0) -> PartitionMetadataError:
        return PartitionMetadataError(fault, expected, file=self._file, line=line)


def _check_topic_id(topic_id: UUID) -> None:
    if topic_id == ZERO_TOPIC_ID:  # Kafka refuses to read it
        raise PartitionMetadataError("the zero id belongs to no topic", "the topic's own id")


def _check_version(version: int) -> None:
    if not 0 <= version <= _LARGEST_VERSION:
        raise PartitionMetadataError(
            f"there is no version {version}", f"0 to {_LARGEST_VERSION}, 0 being the one in use"
        )


def _check_extra(key: str, value: str) -> None:
    """Raise PartitionMetadataError for a pair that would be read back differently."""
    pair = f"{key[:60]!r}: {value[:60]!r}"
    if _LINE_END.search(key + value) or key != key.strip(_BLANKS) or value != value.strip(_BLANKS):
        raise PartitionMetadataError(
            f"extra {pair} does not fit on a line as it is",
            "no line ends, and no blanks around key and value",
        )
    if not key or ":" in key:
        raise PartitionMetadataError(f"extra {pair} has no usable key", "a key without a colon")
    try:
        (key + value).encode()
    except UnicodeEncodeError:
        raise PartitionMetadataError(f"extra {pair} is not text", "what UTF-8 can write") from None


def _replace(path: Path, data: bytes) -> None:
    """Write ``data`` to a new file that replaces ``path``, safely even if the power fails."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            _hand_on(path, part)
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened, and need not be
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _hand_on(old: Path, new: Path) -> None:
    """Give ``new`` the owner and permissions of ``old``, if that exists.

    The broker must still be able to read its file after root has replaced it.
    """
    with contextlib.suppress(FileNotFoundError):
        before = old.stat()
        if os.name == "posix":
            with contextlib.suppress(PermissionError):
                os.chown(new, before.st_uid, before.st_gid)
        new.chmod(stat.S_IMODE(before.st_mode))

"""Which files names mean."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from pyarrow import fs

from kafka_admin_proto.spark.files import OpenFile, _located, list_files


def test_a_name_with_brackets_is_a_name_first(tmp_path: Path) -> None:
    """Shells hand names on as they are."""
    odd, plain = tmp_path / "broker[1].pcap", tmp_path / "broker1.pcap"
    odd.touch()
    plain.touch()
    assert list_files([str(odd)]) == [str(odd)]
    assert list_files([str(tmp_path / "broker*")]) == [str(plain), str(odd)]
    odd.unlink()
    assert list_files([str(odd)]) == [str(plain)]


def test_uris_are_no_patterns(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file:///.*\*"):
        list_files([f"file://{tmp_path}/2026-*"])


def test_a_uri_with_options() -> None:
    """As `pyarrow.fs.FileSystem.from_uri` has them, which talks to nobody once it has a region."""
    where = "region=eu-west-3&endpoint_override=localhost:9000&scheme=http"
    system, path = _located(f"s3://bucket/a b/x 50%.pcap?{where}")
    assert path == "bucket/a b/x 50%.pcap"
    made = system.__reduce__()[1][0]
    assert (made["region"], made["endpoint_override"], made["scheme"]) == (
        "eu-west-3", "localhost:9000", "http"
    )  # fmt: skip
    assert system == fs.FileSystem.from_uri(f"s3://bucket?{where}")[0]
    for name in ("s3://bucket?region=eu", "s3://bucket/?region=eu"):
        assert _located(name)[1] == "bucket"
    assert _located("s3://bucket/why?.pcap?region=eu")[1] == "bucket/why?.pcap"
    assert _located(f"s3://other/x?{where}")[0] == system
    assert _located("s3://bucket/x?region=eu")[0] != system


def test_what_is_below_has_the_options(tmp_path: Path) -> None:
    folder = tmp_path / "captures" / "of today"
    folder.mkdir(parents=True)
    (folder / "one?.pcap").write_bytes(b"one")
    local = (fs.LocalFileSystem(), str(tmp_path))
    with patch("kafka_admin_proto.spark.files._remote", return_value=local):
        for name in ("s3://bucket/captures", "s3://bucket/captures/", "s3://bucket"):
            (found,) = list_files([f"{name}?region=eu"])
            assert found == "s3://bucket/captures/of today/one?.pcap?region=eu"
            with OpenFile(found) as file:
                assert file.read_at(0, 3) == b"one"


def test_no_password_in_a_uri() -> None:
    """Tables show the names of captures."""
    with pytest.raises(ValueError, match="s3://…@bucket: the tables would show") as caught:
        list_files(["s3://key:hidden@bucket/x?region=eu"])
    assert "hidden" not in str(caught.value)

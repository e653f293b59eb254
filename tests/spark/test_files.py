"""Which files names mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto.spark.files import list_files


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

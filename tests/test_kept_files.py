"""Files that the package keeps: no link is followed, no pipe is waited for, no memory is filled."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_admin_proto.kept_files import (
    KeptFileError,
    create_kept,
    open_kept,
    read_kept,
    read_kept_json,
    refuse_links,
    write_whole,
)
from tests.helpers.confined import confined


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    file = tmp_path / "victim"
    file.write_text("of the victim")
    return file


@pytest.mark.parametrize("kind", ["link", "nothing", "pipe", "folder", "link to a folder"])
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR | os.O_CREAT, os.O_WRONLY])
def test_what_is_no_file_is_not_opened(tmp_path: Path, victim: Path, kind: str, flags: int) -> None:
    path = tmp_path / "kept"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"link": victim, "nothing": tmp_path / "new"}.get(kind, tmp_path))
    before = sorted(os.listdir(tmp_path))
    with pytest.raises((KeptFileError, IsADirectoryError), match=str(path)):
        open_kept(path, flags)
    assert sorted(os.listdir(tmp_path)) == before
    assert victim.read_text() == "of the victim"


def test_a_link_is_replaced_by_a_whole_file(tmp_path: Path, victim: Path) -> None:
    for name in ("kept", "kept.part"):
        (tmp_path / name).symlink_to(victim)
    write_whole(tmp_path / "kept", b"new", tmp_path / "kept.part")
    assert (tmp_path / "kept").read_bytes() == b"new"
    assert not (tmp_path / "kept").is_symlink()
    assert victim.read_text() == "of the victim"
    os.link(victim, tmp_path / "other.part")
    os.close(create_kept(tmp_path / "other.part"))
    assert victim.read_text() == "of the victim"


def test_a_file_longer_than_memory(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"12")
    assert read_kept(path, 2) == b"12"
    os.truncate(path, 1 << 40)
    with pytest.raises(KeptFileError, match=r"kept has 1,099,511,627,776 bytes, of at most 2:"):
        read_kept(path, 2)


@pytest.mark.parametrize("text", [b"", b"{", b'"x"', b"[1]", b"\xff", b"[" * 100_000, b"1.5"])
def test_json_of_another_type(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "kept"
    path.write_bytes(text)
    with pytest.raises(KeptFileError, match=r"kept does not read \(.+\): name another folder"):
        read_kept_json(path, list[str], 1 << 20)


def test_links_anywhere_below(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "folder"
    refuse_links(folder)
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").touch()
    refuse_links(folder)
    (folder / "a" / "b" / "link").symlink_to(victim)
    with pytest.raises(KeptFileError, match=r"a/b/link is a link, which is not followed: remove"):
        refuse_links(folder)


def test_the_guard_of_these_tests(tmp_path: Path) -> None:
    """It holds back what a hostile journal would do, so that a hole shows as a failure."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    changes: list[Callable[[], object]] = [
        lambda: shutil.rmtree(outside, ignore_errors=True),
        lambda: shutil.rmtree(inside / ".." / "outside"),
        lambda: shutil.rmtree(inside),
        lambda: (inside / "link" / "new").mkdir(),
        lambda: (inside / "link").rename(outside / "link"),
    ]
    for change in changes:
        with confined(inside), pytest.raises(AssertionError, match="the run would change"):
            change()
    assert sorted(os.listdir(tmp_path)) == ["inside", "outside"]
    assert not list(outside.iterdir())

"""A release is prepared in a copy of the files that it writes; what is no fragment is refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from kafka_admin_proto import __version__
from tools import release
from tools.release import ROOT, VERSIONS, check, fragments, prepare


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("CHANGELOG.md", *VERSIONS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "changelog").mkdir()
    return tmp_path


def test_the_trees_own_fragments() -> None:
    fragments(ROOT)


def test_a_release(tree: Path) -> None:
    before = (tree / "CHANGELOG.md").read_text("utf-8")
    (tree / "changelog" / "b.added.md").write_text("- B is new,\n  and more.\n")
    (tree / "changelog" / "a.added.md").write_text("- A is new.\n")
    (tree / "changelog" / "c.fixed.md").write_text("- C works.\n")
    with pytest.raises(SystemExit, match=r"a\.added\.md: not in CHANGELOG\.md yet"):
        check(tree)
    prepare(tree, "7.8.9")
    check(tree)
    after = (tree / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"\n## Unreleased\n\n## 7\.8\.9 \(20\d\d-\d\d-\d\d\)\n\n### Added\n- ", after)
    assert "\n- A is new.\n- B is new,\n  and more.\n\n### Security\n" in after
    assert "\n- C works.\n" in after
    # All that was there is there, in its order.
    lines = iter(after.splitlines())
    assert all(line in lines for line in before.splitlines())
    assert not list((tree / "changelog").iterdir())
    for name in VERSIONS:
        text = (tree / name).read_text("utf-8")
        assert text == (ROOT / name).read_text("utf-8").replace(__version__, "7.8.9")
    (tree / "changelog").rmdir()  # git keeps no empty folder
    prepare(tree, "8.0.0")
    check(tree)
    (tree / "pyproject.toml").write_text('"kafka-admin-proto-speed==1.0.0"')
    with pytest.raises(SystemExit, match=r"pyproject\.toml is not of 8\.0\.0, the newest release"):
        check(tree)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.md", "- A.\n", "name it NAME.KIND.md, with a KIND of added, security, changed, fixed"),
        ("a.new.md", "- A.\n", "name it NAME"),
        ("a.added.txt", "- A.\n", "name it NAME"),
        ("a.added.md", "", "it begins with '- '"),
        ("a.added.md", "A.\n", "it begins with '- '"),
        ("a.added.md", "- A\nb.\n", ":2: a line begins with '- '"),
    ],
)
def test_what_is_no_fragment(tree: Path, name: str, text: str, said: str) -> None:
    (tree / "changelog" / name).write_text(text)
    with pytest.raises(SystemExit) as caught:
        prepare(tree, "7.8.9")
    assert said in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "1.0.0rc1", ""])
def test_what_is_no_version(tree: Path, version: str) -> None:
    with pytest.raises(SystemExit, match="expected three numbers"):
        prepare(tree, version)


def test_a_changelog_without_a_place(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text("# Changelog\n")
    with pytest.raises(SystemExit, match="there is no section Unreleased"):
        prepare(tree, "7.8.9")
    with pytest.raises(SystemExit, match="has no release"):
        check(tree)


@pytest.mark.parametrize(
    ("line", "said"), [([], "required"), (["1.2.3", "--check"], "not allowed")]
)
def test_one_of_the_two(
    line: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["release", *line])
    with pytest.raises(SystemExit):
        release.main()
    assert said in capsys.readouterr().err

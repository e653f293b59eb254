"""Prepare a release: its number in all places, and its section of the changelog.

    python -m tools.release 0.2.0       # writes both
    python -m tools.release --check     # whether what is there is a release

Each file of ``changelog/`` says what users notice of one change: ``NAME.KIND.md``, with a KIND of
`KINDS` and lines that begin with "- ". The release moves them into ``CHANGELOG.md``. They are files
of their own so that no two changes touch the same lines.
"""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The headings of a section, in their order.
KINDS = ("Added", "Security", "Changed", "Fixed")
#: File → the text before the version, which a quotation mark ends.
VERSIONS = {
    "kafka_admin_proto/version.py": '__version__ = "',
    "pyproject.toml": '"kafka-admin-proto-speed==',
    "speed/kafka_admin_proto_speed/__init__.py": '__version__ = "',
    "speed/pyproject.toml": '"kafka-admin-proto==',
}
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_UNRELEASED = "## Unreleased\n"


def fragments(root: Path) -> dict[Path, str]:
    """The files of ``changelog/``, each with its kind. SystemExit for one that is otherwise."""
    found = {}
    for path in sorted((root / "changelog").glob("*")):  # none where the folder is gone
        parts = path.name.split(".")
        kind = parts[1].capitalize() if len(parts) == 3 else ""
        if kind not in KINDS or parts[2] != "md":
            kinds = ", ".join(map(str.lower, KINDS))
            raise SystemExit(f"{path}: name it NAME.KIND.md, with a KIND of {kinds}")
        lines = path.read_text("utf-8").splitlines()
        if not lines or not lines[0].startswith("- "):
            raise SystemExit(f"{path}: it begins with '- ', as the lines of CHANGELOG.md do")
        for number, line in enumerate(lines, 1):
            if not line.startswith(("- ", "  ")):
                raise SystemExit(f"{path}:{number}: a line begins with '- ', or goes on below it")
        found[path] = kind
    return found


def with_fragments(text: str, added: dict[Path, str], title: str) -> str:
    """The changelog with a section of that title: what was unreleased, and the fragments."""
    head, mark, rest = text.partition(_UNRELEASED)
    if not mark:
        raise SystemExit("CHANGELOG.md: there is no section Unreleased; write its heading")
    section, older_mark, older = rest.partition("\n## ")
    _, *parts = re.split(r"^### (\w+)\n", section, flags=re.M)
    lists = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    for path, kind in added.items():
        lists[kind] = f"{lists.get(kind, '')}\n{path.read_text('utf-8').strip()}".strip()
    made = "\n".join(f"### {kind}\n{lists[kind]}\n" for kind in KINDS if kind in lists)
    return f"{head}{mark}\n## {title}\n\n{made}{older_mark}{older}"


def prepare(root: Path, version: str) -> None:
    """Write the number and the changelog, and remove the fragments."""
    if not _VERSION.fullmatch(version):
        raise SystemExit(f"{version!r} is no version: expected three numbers, as in 0.2.0")
    added = fragments(root)
    changelog = root / "CHANGELOG.md"
    title = f"{version} ({datetime.now(UTC):%Y-%m-%d})"
    changelog.write_text(with_fragments(changelog.read_text("utf-8"), added, title), "utf-8")
    for name, front in VERSIONS.items():
        text = (root / name).read_text("utf-8")
        text, count = re.subn(rf'({re.escape(front)})[^"]*"', rf'\g<1>{version}"', text)
        assert count == 1, f"{name} has {count} places for the version"
        (root / name).write_text(text, "utf-8")
    for path in added:
        path.unlink()


def check(root: Path) -> None:
    """SystemExit where the tree is no release: fragments are left, or numbers differ."""
    if left := fragments(root):
        raise SystemExit(f"{min(left)}: not in CHANGELOG.md yet: python -m tools.release VERSION")
    newest = re.search(r"^## (\d.*?) \(", (root / "CHANGELOG.md").read_text("utf-8"), re.M)
    if newest is None:
        raise SystemExit("CHANGELOG.md has no release: python -m tools.release VERSION")
    for name, front in VERSIONS.items():
        if f'{front}{newest[1]}"' not in (root / name).read_text("utf-8"):
            raise SystemExit(f"{name} is not of {newest[1]}, the newest release of CHANGELOG.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("version", nargs="?", help="the number of the release, as in 0.2.0")
    wanted.add_argument("--check", action="store_true", help="say whether the tree is a release")
    given = parser.parse_args()
    if given.check:
        check(ROOT)
    else:
        prepare(ROOT, given.version)


if __name__ == "__main__":
    main()

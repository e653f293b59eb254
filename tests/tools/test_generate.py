"""What is generated is up to date, and the check for that notices each way of not being so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import generate


@pytest.fixture(scope="module")
def files() -> dict[Path, str]:
    return generate.outputs()


def test_everything_generated_is_up_to_date(files: dict[Path, str]) -> None:
    assert generate.differences(files) == []


def test_missing_stale_and_changed_files_are_noticed(
    files: dict[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = {tmp_path / path.relative_to(generate.ROOT): text for path, text in files.items()}
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "MESSAGES", tmp_path / "kafka_admin_proto" / "messages")
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert generate.differences(wanted) == []
    messages = tmp_path / "kafka_admin_proto" / "messages"
    (messages / "vote_request.py").unlink()
    (messages / "old_request.py").write_text("")
    (messages / "fetch_request.py").write_text("# edited")
    assert generate.differences(wanted) == [
        "differs: kafka_admin_proto/messages/fetch_request.py",
        "missing: kafka_admin_proto/messages/vote_request.py",
        "stale: kafka_admin_proto/messages/old_request.py",
    ]

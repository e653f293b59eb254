"""Which messages are described, and that each of their fields is."""

from __future__ import annotations

import msgspec
import pytest

from kafka_admin_proto import CreateTopicsRequest
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.overlay import overlay_key
from tools.definitions import generate
from tools.definitions.texts import MessageTexts, Texts, field_paths, texts

DRAFTS = ("kip-4", "kip-4a", "kip-4b", "kip-516")


def test_every_message_of_the_proposals_is_described() -> None:
    keys = {overlay_key(name, each) for each in DRAFTS for name in catalog().names(each)}
    assert not keys - texts().messages.keys()
    assert len(texts().messages.keys() - keys) >= 60


def test_texts_are_sentences() -> None:
    for key, own in texts().messages.items():
        for text in (own.about, *own.fields.values()):
            assert text.endswith("."), (key, text)
            assert text[0].isupper(), (key, text)
    assert all(text.endswith(".") for text in texts().fields.values())


def test_the_longest_end_of_a_path_counts() -> None:
    found = Texts({"Id": "Any.", "Node.Id": "A node's."}, {})
    own = MessageTexts("", {"Topics.Id": "A topic's."})
    assert [found.of(own, path) for path in ("Topics.Id", "Node.Id", "A.Node.Id", "B.Id", "X")] == [
        "A topic's.", "A node's.", "A node's.", "Any.", "",
    ]  # fmt: skip


def test_they_become_docstrings() -> None:
    assert "A client asks the controller to create topics." in (CreateTopicsRequest.__doc__ or "")
    assert "int32. How many partitions" in (CreateTopicsRequest.CreatableTopic.__doc__ or "")


def test_no_field_is_forgotten_and_none_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = catalog().spec("CreateTopicsRequest")
    assert "Topics.Configs.Name" in field_paths(spec)
    for fields, complaint in (
        ({"Topics": "The topics."}, "CreateTopicsRequest without Topics.Name"),
        ({"Topics.Nam": "The name."}, "fields that CreateTopicsRequest lacks: Topics.Nam"),
    ):
        lacking = msgspec.structs.replace(
            texts(), messages={spec.name: MessageTexts("It creates topics.", fields)}
        )
        monkeypatch.setattr(generate, "texts", lambda lacking=lacking: lacking)
        with pytest.raises(SystemExit, match=complaint):
            generate._check_texts(spec)

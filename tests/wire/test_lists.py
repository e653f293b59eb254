"""Arrays in values are lists: other collections are refused, also those that can be read once."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto import CreateTopicsRequest, codec
from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.messages.create_topics_request import CreatableTopic


@pytest.mark.parametrize(
    "topics",
    [(CreatableTopic(each) for each in "a"), iter([]), map(CreatableTopic, "a")],
    ids=["gen", "iter", "map"],
)
def test_an_iterator_is_a_sentence(topics: Any) -> None:
    with pytest.raises(EncodeError, match="can be read once only; make a list of it"):
        codec(CreateTopicsRequest, 5).encode(CreateTopicsRequest(topics=topics))

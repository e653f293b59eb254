"""The proxy of `docs/python.md` refuses what it cannot read, so that no name passes unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto import ApiVersionsRequest, ApiVersionsResponse
from kafka_admin_proto.messages.api_versions_response import ApiVersion
from kafka_admin_proto.protocol import (
    api_versions,
    frame,
    read_response,
    write_request,
    write_response,
)
from tests.docs.pages import DOCS
from tools.site.pages.code_blocks import code_blocks


@pytest.fixture
def proxy() -> Any:
    blocks = code_blocks((DOCS / "python.md").read_text("utf-8"))
    (text,) = [each.text for each in blocks if "class Proxy:" in each.text]
    names: dict[str, Any] = {}
    exec(text.partition("\nproxy = ")[0], names)
    return names["Proxy"]("team-")


def test_no_request_of_an_unknown_version_passes(proxy: Any) -> None:
    for api in api_versions():
        head = api.api_key.to_bytes(2, "big") + (api.versions.highest + 1).to_bytes(2, "big")
        payload = head + bytes.fromhex("00000007 ffff 00 00")
        if api.name == "ApiVersions":
            assert list(proxy.from_client(frame(payload))) == [frame(payload)]
            continue
        with pytest.raises(
            ConnectionAbortedError, match=f"a request that is not read here: {api.name}Request"
        ):
            list(proxy.from_client(frame(payload)))
    with pytest.raises(ConnectionAbortedError, match="not read here: unknown api key 999"):
        list(proxy.from_client(frame(bytes.fromhex("03e7 0000 00000007 ffff 00"))))


def test_no_answer_that_is_not_read_passes(proxy: Any) -> None:
    proxy.pending.append((3, 12))
    with pytest.raises(
        ConnectionAbortedError, match="a response that is not read here: MetadataResponse"
    ):
        list(proxy.from_broker(frame(bytes.fromhex("00000007 00 00"))))


def test_clients_are_told_of_no_version_that_is_not_read_here(proxy: Any) -> None:
    list(proxy.from_client(frame(write_request(ApiVersionsRequest(), 3, 7))))
    answer = ApiVersionsResponse(api_keys=[ApiVersion(20, 0, 7), ApiVersion(19, 0, 8)])
    (sent,) = proxy.from_broker(frame(write_response(answer, 3, 7)))
    body = read_response(sent, 18, 3, offset=4).body
    assert body == ApiVersionsResponse(api_keys=[ApiVersion(20, 0, 6), ApiVersion(19, 0, 7)])

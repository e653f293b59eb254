"""A broker that answers honestly but for some requests, and what it does with these."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from kafka_admin_proto import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import Request, api_versions
from kafka_admin_proto.values import Message
from tests.admin.hostile.servers import Peer, Script, response_frame

API_VERSIONS = ApiVersionsRequest.api_key or 0
METADATA = MetadataRequest.api_key or 0

Answer = Callable[[Peer, Request], Message]
#: What happens in the place of an answer; the bytes are those of the honest one's frame.
Fault = Callable[[Peer, Request, bytes], None]


def versions(peer: Peer, request: Request) -> ApiVersionsResponse:
    rows = [
        ApiVersionsResponse.ApiVersion(
            api_key=each.api_key,
            min_version=each.versions.lowest,
            max_version=each.versions.highest,
        )
        for each in api_versions()
    ]
    return ApiVersionsResponse(api_keys=rows)


def metadata(peer: Peer, request: Request) -> MetadataResponse:
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="127.0.0.1", port=peer.port)
    return MetadataResponse(brokers=[broker], cluster_id="hostile", controller_id=1)


def cluster(peer: Peer, request: Request) -> DescribeClusterResponse:
    broker = DescribeClusterResponse.DescribeClusterBroker(
        broker_id=1, host="127.0.0.1", port=peer.port
    )
    return DescribeClusterResponse(cluster_id="hostile", controller_id=1, brokers=[broker])


HONEST: Mapping[int, Answer] = {18: versions, 3: metadata, 60: cluster}


def broker(
    faults: Mapping[int, Fault] | None = None, answers: Mapping[int, Answer] | None = None
) -> Script:
    """A broker with a fault, or an answer of its own, for some api keys."""
    faults, answers = faults or {}, {**HONEST, **(answers or {})}

    def play(peer: Peer) -> None:
        while (request := peer.request()) is not None:
            honest = response_frame(answers[request.api_key](peer, request), request)
            fault = faults.get(request.api_key)
            if fault is None:
                peer.write(honest)
            else:
                fault(peer, request, honest)

    return play


def random_bytes(peer: Peer, request: Request, honest: bytes) -> None:
    peer.write(random.Random(request.api_version).randbytes(4096))
    peer.hold()


def huge_size(peer: Peer, request: Request, honest: bytes) -> None:
    peer.write(b"\x7f\xff\xff\xff" + honest)
    peer.hold()


def large_frame_that_does_not_come(peer: Peer, request: Request, honest: bytes) -> None:
    """A size within the limits, of which nothing follows."""
    peer.write((50_000_000).to_bytes(4, "big") + honest[4:])
    peer.hold()


def negative_size(peer: Peer, request: Request, honest: bytes) -> None:
    peer.write(b"\xff\xff\xff\xff" + honest)
    peer.hold()


def empty_frames(peer: Peer, request: Request, honest: bytes) -> None:
    peer.write(bytes(400))
    peer.hold()


def silence(peer: Peer, request: Request, honest: bytes) -> None:
    peer.hold()


def one_byte_a_second(peer: Peer, request: Request, honest: bytes) -> None:
    for start in range(len(honest)):
        peer.write(honest[start : start + 1])
        if peer.pause(1.0):
            return


def close(peer: Peer, request: Request, honest: bytes) -> None:
    peer.end()


def close_in_the_middle(peer: Peer, request: Request, honest: bytes) -> None:
    peer.write(honest[: len(honest) // 2])
    peer.end()


def wrong_correlation_id(peer: Peer, request: Request, honest: bytes) -> None:
    found = int.from_bytes(honest[4:8], "big")
    peer.write(honest[:4] + (found + 7).to_bytes(4, "big") + honest[8:])
    peer.hold()


def answer_twice(peer: Peer, request: Request, honest: bytes) -> None:
    """The second one belongs to no request."""
    peer.write(honest + honest)
    peer.hold()


def truncated_body(peer: Peer, request: Request, honest: bytes) -> None:
    body = honest[4:-3]
    peer.write(len(body).to_bytes(4, "big") + body)
    peer.hold()


def bytes_behind_the_body(peer: Peer, request: Request, honest: bytes) -> None:
    body = honest[4:] + b"\x01\x02\x03"
    peer.write(len(body).to_bytes(4, "big") + body)
    peer.hold()


def array_of_billions(peer: Peer, request: Request, honest: bytes) -> None:
    """0xff everywhere a length may be."""
    body = honest[4:8] + b"\xff\xff\xff\xff\x0f" * 50
    peer.write(len(body).to_bytes(4, "big") + body)
    peer.hold()


def a_web_server(peer: Peer, request: Request, honest: bytes) -> None:
    peer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    peer.end()


def a_tls_alert(peer: Peer, request: Request, honest: bytes) -> None:
    peer.write(b"\x15\x03\x03\x00\x02\x02\x50")
    peer.end()


def a_flood(peer: Peer, request: Request, honest: bytes) -> None:
    """Answers without end to requests that nobody sent."""
    while not peer.pause(0):
        peer.write(honest * 100)


FAULTS: Mapping[str, Fault] = {
    fault.__name__: fault
    for fault in (
        random_bytes,
        huge_size,
        large_frame_that_does_not_come,
        negative_size,
        empty_frames,
        silence,
        one_byte_a_second,
        close,
        close_in_the_middle,
        wrong_correlation_id,
        truncated_body,
        array_of_billions,
        a_web_server,
        a_tls_alert,
    )
}
#: The honest answer is among what comes, so that a request may succeed.
HALF_HONEST: Mapping[str, Fault] = {
    fault.__name__: fault for fault in (answer_twice, bytes_behind_the_body, a_flood)
}

"""A server that does nothing: it answers each Produce with the same bytes (``records``).

    python -m tools.benchmarks.bare_server

What a client's record takes with it is the time of the client, of the sockets and of asyncio, less
than which no server on asyncio can take. It has one topic, ``single``, with one partition.
"""

from __future__ import annotations

import asyncio

from kafka_admin_proto.messages import MetadataResponse, ProduceResponse
from kafka_admin_proto.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafka_admin_proto.protocol import FrameReader, api_keys, frame, read_request, write_response
from kafka_admin_proto.protocol.versions import api_versions
from kafka_admin_proto.values import Message
from tools.clusters import HOST

TOPIC = "single"
_APIS = (api_keys.PRODUCE, api_keys.METADATA, api_keys.API_VERSIONS)
_NODE = 1
_RECEIVE_BYTES = 64 << 10


class _Bare(asyncio.BufferedProtocol):
    """One client's connection."""

    _received = memoryview(bytearray(_RECEIVE_BYTES))
    #: The answer to a Produce, in front of its correlation id and behind it, by its version.
    _produced: dict[int, tuple[bytes, bytes]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._frames = FrameReader()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        for payload in self._frames.feed(self._received[:nbytes]):
            api_key, version = payload[1], payload[3]
            if api_key == api_keys.PRODUCE and version in self._produced:
                front, end = self._produced[version]
                self._transport.write(front + payload[4:8] + end)
            else:
                self._transport.write(self._answer(payload, api_key, version))

    def _answer(self, payload: bytes, api_key: int, version: int) -> bytes:
        header = read_request(payload).header
        assert header is not None
        answer = frame(write_response(self._body(api_key), version, header.correlation_id))
        if api_key == api_keys.PRODUCE:
            self._produced[version] = answer[:4], answer[8:]
        return answer

    def _body(self, api_key: int) -> Message:
        if api_key == api_keys.API_VERSIONS:
            served = [(each.api_key, each.versions) for each in api_versions()]
            rows = [ApiVersion(key, of.lowest, of.highest) for key, of in served if key in _APIS]
            return ApiVersionsResponse(api_keys=rows)
        if api_key == api_keys.PRODUCE:
            partition = ProduceResponse.PartitionProduceResponse(0, log_start_offset=0)
            return ProduceResponse(
                [ProduceResponse.TopicProduceResponse(TOPIC, partition_responses=[partition])]
            )
        part = MetadataResponse.MetadataResponsePartition(0, 0, _NODE, 0, [_NODE], [_NODE])
        port = self._transport.get_extra_info("sockname")[1]
        return MetadataResponse(
            brokers=[MetadataResponse.MetadataResponseBroker(_NODE, HOST, port)],
            controller_id=_NODE,
            topics=[MetadataResponse.MetadataResponseTopic(0, TOPIC, partitions=[part])],
        )


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(_Bare, HOST)
    print(f"{HOST}:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

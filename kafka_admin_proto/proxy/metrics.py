"""What passes a proxy, counted for Prometheus.

``kafka_proxy_requests_total`` has api, version and client; ``kafka_proxy_removed_requests_total``
those whose version a release has removed, which clients have to leave before the upgrade (KIP-896);
``kafka_proxy_errors_total`` the error codes in responses; ``kafka_proxy_latency_seconds`` the time
from request to response; ``kafka_proxy_bytes_total`` and ``kafka_proxy_undecoded_total`` the rest.
"""

from __future__ import annotations

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.errors import MissingExtraError, SettingsError
from kafka_admin_proto.protocol.addresses import Address
from kafka_admin_proto.protocol.releases import releases, removed_versions
from kafka_admin_proto.proxy.observation import Ends
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

try:
    from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
except ImportError:
    raise MissingExtraError(
        "metrics need prometheus_client: pip install 'kafka-admin-proto[metrics]'"
    ) from None

#: Client ids with a label of their own, and the label of all others: clients choose their ids.
_MOST_CLIENTS, _OTHERS = 1000, "(others)"
#: Characters of a client id that are kept.
_CLIENT_ID = 100
#: Upper ends of the histogram's buckets, in seconds.
_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Metrics:
    """An observer that counts frames; ``serve`` gives the counts to Prometheus.

    ``registry`` is where the counters are, by default one of its own.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry: CollectorRegistry = CollectorRegistry() if registry is None else registry
        self._removed = removed_versions(releases()[-1].name)
        self._clients: set[str] = set()
        self._requests = Counter(
            "kafka_proxy_requests", "Requests of clients.",
            ["api", "version", "client"], registry=self.registry,
        )  # fmt: skip
        self._removed_requests = Counter(
            "kafka_proxy_removed_requests", "Requests in a version that a release has removed.",
            ["api", "version", "client", "removed_in"], registry=self.registry,
        )  # fmt: skip
        self._errors = Counter(
            "kafka_proxy_errors", "Responses with an error code, one for each distinct code.",
            ["api", "error"], registry=self.registry,
        )  # fmt: skip
        self._latency = Histogram(
            "kafka_proxy_latency_seconds", "Time from a request to its response.",
            ["api"], registry=self.registry, buckets=_BUCKETS,
        )  # fmt: skip
        self._bytes = Counter(
            "kafka_proxy_bytes", "Bytes of frames.", ["sender"], registry=self.registry
        )
        self._undecoded = Counter(
            "kafka_proxy_undecoded", "Frames of which not all decodes.",
            ["sender"], registry=self.registry,
        )  # fmt: skip

    def __str__(self) -> str:
        return "the metrics"

    def serve(self, host: str, port: int) -> int:
        """Answer Prometheus by HTTP in a thread of its own; the port. Raises SettingsError."""
        try:
            server, _ = start_http_server(port, addr=host, registry=self.registry)
        except OSError as error:
            raise SettingsError(
                f"cannot serve metrics on {Address(host, port)}: {error.strerror or error}"
            ) from None
        return int(server.server_port)

    def frame(self, frame: DecodedFrame, ends: Ends, side: int) -> None:
        """Count a frame."""
        frame = frame.shown()
        sender = "proxy" if side else "client"
        if not frame.forwarded:  # its bytes are the Envelope's
            self._bytes.labels(sender).inc(frame.size)
        if frame.error is not None:
            self._undecoded.labels(sender).inc()
        if frame.api is None or frame.api_version is None:
            return
        if frame.direction == "request":
            self._count_request(frame, frame.api, frame.api_version)
            return
        if frame.latency_us is not None:
            self._latency.labels(frame.api).observe(frame.latency_us / 1_000_000)
        for error in frame.error_names():
            self._errors.labels(frame.api, error).inc()

    def closed(self, ends: Ends) -> None:
        """A connection's end is not counted."""

    def _count_request(self, frame: DecodedFrame, api: str, version: int) -> None:
        client = self._client(frame.client_id)
        self._requests.labels(api, version, client).inc()
        removed = self._removed.get(frame.api_key or 0, {}).get(version)
        if removed is not None:
            self._removed_requests.labels(api, version, client, removed.since).inc()

    def _client(self, client_id: str | None) -> str:
        """The label of a client; one for all where there are too many."""
        label = replace_invalid_utf8(client_id or "")[:_CLIENT_ID]
        if label not in self._clients:
            if len(self._clients) >= _MOST_CLIENTS:
                return _OTHERS
            self._clients.add(label)
        return label

"""The quota request_percentage (KIP-124): the time that a broker spends on a client's requests.

Kafka adds up the time of its threads, as ``ClientRequestQuotaManager`` does with the samples of the
other quotas; 100 is one thread that does nothing else. Here it is the time of the event loop, from
a decoded request to its answer.
"""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.quotas.byte_rates import counted_rate

_KEY = "request_percentage"
#: What brokers alone ask; heartbeats and registrations count, as on Kafka's controllers.
_OF_BROKERS = (api_keys.WRITE_TXN_MARKERS, api_keys.ALTER_PARTITION, api_keys.FETCH_SNAPSHOT)
_PERCENT_OF_NS = 100 / 1e9
_SECOND_MS = 1000


def request_throttle_ms(
    view: View, caller: Caller, api_key: int, request: Any, used_ns: int
) -> int:
    """Count the time of a request; the milliseconds for which its client is to wait.

    They are those of one window at most. Requests of brokers do not count.
    """
    counted = counted_rate(view, caller, _KEY)
    if counted is None or _is_exempt(api_key, request):
        return 0
    counted.rate.record(used_ns * _PERCENT_OF_NS, counted.now_ms)
    wait_ms = counted.rate.wait_ms(counted.bound, counted.now_ms)
    return min(max(0, wait_ms), counted.seconds * _SECOND_MS)


def _is_exempt(api_key: int, request: Any) -> bool:
    if api_key == api_keys.FETCH:
        return bool(max(request.replica_id, request.replica_state.replica_id) >= 0)
    return api_key in _OF_BROKERS

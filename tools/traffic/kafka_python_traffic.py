"""A KRaft cluster as another project's client uses it: ``BOOTSTRAP`` is the argument."""

from __future__ import annotations

import contextlib
import sys

from kafka import KafkaConsumer, KafkaProducer

COUNT = 20


def main(bootstrap: str) -> None:
    """Produce and consume a few records in a group; SystemExit if they do not come back."""
    servers = bootstrap.split(",")
    with contextlib.closing(
        KafkaProducer(bootstrap_servers=servers, compression_type="gzip", client_id="python")
    ) as producer:
        for number in range(COUNT):
            producer.send("vegetables", b"leek %d" % number, key=b"k%d" % (number % 3))
        producer.flush(30)
    with contextlib.closing(
        KafkaConsumer(
            "vegetables",
            bootstrap_servers=servers,
            group_id="cooks",
            auto_offset_reset="earliest",
            consumer_timeout_ms=3000,
        )
    ) as consumer:
        if sum(1 for _ in consumer) < COUNT:
            raise SystemExit("the records that were sent did not come back")


if __name__ == "__main__":
    main(sys.argv[1])

"""Scripts of Python clients' producers, consumers, groups and transactions, for two clusters.

Each module is what one client does; a script is a function of a cluster that returns what each of
its steps gave. What differs by nature is put right in ``normalised`` and in ``scene.when``.
"""

from collections.abc import Callable

from tests.server.clients.pair import Side
from tests.server.clients.record_scripts import (
    aiokafka,
    kafka_python,
    librdkafka,
    librdkafka_groups,
)
from tests.server.clients.steps import Shown

_CLIENTS = {
    "kafka-python": kafka_python.SCRIPTS,
    "aiokafka": aiokafka.SCRIPTS,
    "librdkafka": {**librdkafka.SCRIPTS, **librdkafka_groups.SCRIPTS},
}
#: All scripts by the names of a client and of what it does.
SCRIPTS: dict[tuple[str, str], Callable[[Side], Shown]] = {
    (client, name): script
    for client, scripts in _CLIENTS.items()
    for name, script in scripts.items()
}

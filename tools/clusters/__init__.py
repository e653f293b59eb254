"""Real brokers from the published jars, on free ports of 127.0.0.1, for as long as a `with` lasts.

    with kraft(folder, nodes=3) as cluster:
        cluster.bootstrap               # "127.0.0.1:21034,127.0.0.1:22711,127.0.0.1:29120"

KRaft nodes are broker and controller at once; `zookeeper` starts what releases before 4.0 also ran
on. `Listener` asks for more than the plain one: TLS, or SASL.
Every process is ended by its pid when the block is left, and the kernel is asked to end it with
this one (`setpriv`, of util-linux). Each broker writes `server.log` and, at DEBUG, `request.log`
(the lines of Kafka's RequestLogger) into its folder.
"""

from tools.clusters.cluster import Cluster, Node
from tools.clusters.listeners import Listener, sasl_properties, tls_properties
from tools.clusters.processes import HOST, ClusterError, free_ports
from tools.clusters.started import brokers_alone, kraft, zookeeper
from tools.oracles.java import class_path

__all__ = [
    "HOST",
    "Cluster",
    "ClusterError",
    "Listener",
    "Node",
    "brokers_alone",
    "class_path",
    "free_ports",
    "kraft",
    "sasl_properties",
    "tls_properties",
    "zookeeper",
]

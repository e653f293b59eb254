"""A broker without input and output: log directories, replicas, and requests by topic id.

    disk = Disk(("d1", "d2"))
    broker = Broker(context, disk, TEXT)
    broker.start()
    answer = broker.handle(request)

``disk`` outlives the broker; ``rules`` decides where the text and what shipped differ.
"""

from kafka_admin_proto.simulation.broker.broker import Broker
from kafka_admin_proto.simulation.broker.storage.disk import Disk, Folder, FolderDisk

__all__ = ["Broker", "Disk", "Folder", "FolderDisk"]

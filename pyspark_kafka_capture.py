"""Where Spark finds the data source ``kafka_capture`` by itself.

Spark 4.2 and later look at all modules that are named ``pyspark_…`` for a class ``DefaultSource``
when a session first asks for a data source that it does not know.
"""

from kafka_admin_proto.spark.ingest.source import KafkaCapture as DefaultSource

__all__ = ["DefaultSource"]

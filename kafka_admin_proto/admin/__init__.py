"""An admin client for Kafka clusters, asynchronous and synchronous."""

"""A controller as brokers in processes of their own see it.

- `metadata_log.MetadataLog` has the bytes of the metadata log, and who fetches them.
- `sessions.Sessions` has what heartbeats say, and fences brokers that send none.
- `broker_states` decides what a heartbeat changes.
- `starting` makes the state of a new controller.
- `envelopes` opens the requests that brokers forward.

Nothing here knows sockets. The rules are those of ``KafkaRaftClient``, ``ClusterControlManager``
and ``BrokerHeartbeatManager``.
"""

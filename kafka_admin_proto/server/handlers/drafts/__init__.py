"""KIP-4's drafts by their text: their rules for CreateTopics, and messages beside Kafka's own.

A cluster with ``rules="kip-4b"`` serves the messages of ``kip_4b/`` under the api keys in
``schemas/overlay.json``, which the drafts do not define. TopicMetadata v1 replaces Metadata v1,
since the texts call it the next version of that request. The handlers change the same state as
Kafka's own apis. docs/proposals.md lists each sentence of the texts with its tests.
"""

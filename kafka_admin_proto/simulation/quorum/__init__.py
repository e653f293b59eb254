"""The metadata topic's voters: KIP-595's elections with KIP-516's topic ids.

``state`` has the rules of epochs and votes, which send nothing; ``voter`` is the node that runs
them with the drafts' messages, ``shipped`` answers what Kafka shipped with the same rules.
"""

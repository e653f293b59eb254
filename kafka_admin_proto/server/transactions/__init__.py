"""The transaction coordinators, whose state is the replay of ``__transaction_state``.

The rules are those of ``TransactionCoordinator`` and ``TransactionStateManager`` in Kafka.
"""

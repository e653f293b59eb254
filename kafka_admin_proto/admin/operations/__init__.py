"""What an admin client does with a cluster, a family of operations to each module.

Each module has a mixin over ``Caller`` and the frozen structs that it returns. Items that may fail
one by one carry ``error`` (Kafka's name of it, or the class of the client's own error) and
``message``; both are None where all is well.
"""

"""The operations of an admin client: a room or a module for each thing that they are about.

Each family is a mixin over ``Caller`` with the frozen structs that it returns; ``common`` has the
helpers of several. Items that may fail
one by one carry ``error`` (Kafka's name of it, or the class of the client's own error) and
``message``; both are None where all is well.
"""

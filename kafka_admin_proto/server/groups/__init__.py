"""The group coordinators: state machines whose state is the replay of ``__consumer_offsets``.

They know no sockets; an answer that has to wait is a `replies.Reply` that is sent later.
"""

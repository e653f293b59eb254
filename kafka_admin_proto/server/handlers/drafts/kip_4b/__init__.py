"""The draft of the errors and the admin schema: a message for each command on topics."""

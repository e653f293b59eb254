"""A request, or one item of it, that is answered with an error code."""

from __future__ import annotations

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_codes import sendable_text

#: The text of INVALID_REQUEST when a whole request is refused.
MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)
#: The texts of the codes, where Kafka sends them.
NOT_AUTHORIZED = {
    codes.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    codes.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    codes.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
}
#: The text of UNKNOWN_TOPIC_OR_PARTITION, where Kafka sends it.
NOT_HOSTED = "This server does not host this topic-partition."
#: The texts of the codes of a broker that does not coordinate a group, where Kafka sends them.
NOT_COORDINATING = {
    codes.COORDINATOR_LOAD_IN_PROGRESS: (
        "The coordinator is loading and hence can't process requests."
    ),
    codes.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    codes.NOT_COORDINATOR: "This is not the correct coordinator.",
}
#: The most records that one request of a user may make.
MOST_RECORDS = 10_000
#: The text of POLICY_VIOLATION for a request that makes more.
TOO_MANY_RECORDS = "Unable to perform excessively large batch operation."
#: The text of SECURITY_DISABLED for changes of ACLs.
NO_AUTHORIZER = "No Authorizer is configured."


class ApiFailure(Exception):
    """Kafka's error code and message; None stands for the code's text, which is not sent.

    A message that is longer than a string on the wire is cut.
    """

    def __init__(self, code: int, message: str | None = None) -> None:
        if message is not None:
            message = sendable_text(message)
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"error code {self.code}" + (f": {self.message}" if self.message else "")


class RequestFailure(ApiFailure):
    """A failure of all that a broker sends to the controller in one request."""


class ControllerUnavailable(Exception):
    """A request needs the active controller, and no controller is active."""

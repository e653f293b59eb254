"""A request, or one item of it, that is answered with an error code."""

from __future__ import annotations

UNKNOWN_SERVER_ERROR = -1
UNKNOWN_TOPIC_OR_PARTITION = 3
REQUEST_TIMED_OUT = 7
COORDINATOR_NOT_AVAILABLE = 15
INVALID_TOPIC = 17
TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30
CLUSTER_AUTHORIZATION_FAILED = 31
UNSUPPORTED_SASL_MECHANISM = 33
UNSUPPORTED_VERSION = 35
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_REPLICATION_FACTOR = 38
INVALID_REPLICA_ASSIGNMENT = 39
INVALID_CONFIG = 40
NOT_CONTROLLER = 41
INVALID_REQUEST = 42
POLICY_VIOLATION = 44
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
SECURITY_DISABLED = 54
REASSIGNMENT_IN_PROGRESS = 60
TOPIC_DELETION_DISABLED = 73
ELECTION_NOT_NEEDED = 84
PREFERRED_LEADER_NOT_AVAILABLE = 80
ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
NO_REASSIGNMENT_IN_PROGRESS = 85
RESOURCE_NOT_FOUND = 91
DUPLICATE_RESOURCE = 92
UNACCEPTABLE_CREDENTIAL = 93
INVALID_UPDATE_VERSION = 95
THROTTLING_QUOTA_EXCEEDED = 89
UNKNOWN_TOPIC_ID = 100

#: The text of INVALID_REQUEST when a whole request is refused.
MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)
#: The texts of the codes, where Kafka sends them.
NOT_AUTHORIZED = {
    TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
}
#: The text of SECURITY_DISABLED for changes of ACLs.
NO_AUTHORIZER = "No Authorizer is configured."


class ApiFailure(Exception):
    """Kafka's error code and message; None stands for the code's text, which is not sent."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"error code {self.code}" + (f": {self.message}" if self.message else "")


class ControllerUnavailable(Exception):
    """A request needs the active controller, and no controller is active."""

"""How long the quorum waits, in milliseconds of virtual time."""

#: Kafka's defaults of controller.quorum.election.timeout.ms, .fetch.timeout.ms and
#: .election.backoff.max.ms, and what a candidate backs off at least.
ELECTION_TIMEOUT_MS = 1000
FETCH_TIMEOUT_MS = 2000
BACKOFF_MAX_MS = 1000
BACKOFF_BASE_MS = 100
#: How long a leader keeps a Fetch to which it has nothing new to say.
FETCH_WAIT_MS = 500
#: Until a request that was lost is sent again.
RETRY_MS = 500

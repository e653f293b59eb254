"""Authorization: the rules of Kafka's StandardAuthorizer, and the functions that handlers call."""

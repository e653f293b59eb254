"""Who may do what: the rules of Kafka's StandardAuthorizer, and where handlers ask for them."""

"""What all coordinators do: keep state as the replay of a partition of a topic of Kafka's own."""

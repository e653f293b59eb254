"""What the maintainers run: bring in a Kafka release, generate code, compare with Java, measure."""

"""The draft of the topic commands: AlterTopic, DeleteTopic, TopicMetadata v1."""

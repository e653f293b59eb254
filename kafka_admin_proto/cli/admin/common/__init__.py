"""What all commands for a live cluster share: options, the client, answers, failures, questions."""

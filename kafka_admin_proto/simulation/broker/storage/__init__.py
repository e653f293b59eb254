"""A broker's disk: log directories, logs, and the deletion of folders."""

"""What a broker keeps on its disk: log directories, logs, and when folders go."""

"""Record batches and message sets: their layout, reading, writing and JSON."""

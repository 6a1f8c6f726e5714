"""What a Map does with many items: reading, batching, counting, writing."""

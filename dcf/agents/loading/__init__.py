"""Skills of an agent: loaded and unloaded as one change, counted, on record."""

"""The phrases that say how a procedure goes: conditions, directions, times, retries, transfers."""

"""Skills found by what somebody wants to do."""

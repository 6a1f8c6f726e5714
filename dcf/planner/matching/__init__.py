"""From an objective to a stored procedure or workflow that does it, or to a refusal."""

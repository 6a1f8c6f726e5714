"""From checked sources to the files that run."""

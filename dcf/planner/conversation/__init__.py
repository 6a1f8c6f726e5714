"""A conversation from an objective to an approved workflow, kept as a document."""

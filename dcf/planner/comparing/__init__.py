"""A procedure beside a workflow: what became of each sentence, and what changes with the text."""

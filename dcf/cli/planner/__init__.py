"""``dcf plan`` with an objective: the conversation, the approval, the run, and what came of it."""

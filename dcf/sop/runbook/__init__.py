"""Runbooks as people write them, as drafts: a valid procedure, where every sentence went, and
questions about what was not understood."""

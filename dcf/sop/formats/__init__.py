"""Runbooks in other formats than Markdown, each by a parser of its own, as the same blocks."""

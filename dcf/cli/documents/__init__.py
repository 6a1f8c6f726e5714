"""Commands of ``dcf documents``."""

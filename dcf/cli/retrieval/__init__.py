"""Commands of ``dcf retrieval``."""

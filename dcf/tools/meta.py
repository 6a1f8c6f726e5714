"""Names that travel in tool calls: in their ``_meta``, and in the data of errors."""

from __future__ import annotations

IDEMPOTENCY_KEY = "dcf/idempotency_key"
"""The same for every repetition of one call; a tool that knows it does the work once."""

FENCE = "dcf/fence"
"""The fence of the lease under which the call is made; it only grows."""

NODE = "dcf/node"
"""The node of the memory that the caller works in, as ``DCF_NODE`` names it; there where the
workflow chose it."""

PROGRAMS = "dcf/programs"
"""The programs that the calling skill is permitted to run; only a server that runs commands is told
of them, and runs nothing without."""

UNAVAILABLE = "dcf/unavailable"
"""In an error's data: the server was not reached or is going away; the tool itself did not fail."""

NOT_SENT = "dcf/not_sent"
"""In an error's data: the call surely did not reach the server."""

TOO_LARGE = "dcf/too_large"
"""In an error's data: the answer was larger than this many bytes and was not read."""

"""What the twin raises about its caller's code, never about data: these tests must fail loudly.

No script can catch them with ``pcall``, and they are not ``ServerError``: a real server would have
answered something.
"""

from __future__ import annotations


class Unsupported(NotImplementedError):
    """A command, option or JSON path that a real server knows and the twin does not."""


class UndeclaredKey(LookupError):
    """A script touched a key that it did not declare: Redis Cluster could not run it."""

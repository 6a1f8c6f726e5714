"""Names of secrets: what is called so has its value in the environment, never in a file."""

from __future__ import annotations

import re

_SECRET_NAME = re.compile(
    r"auth|token|api[-_]?key|(^|[-_])key$|secret|cookie|passw|credential", re.IGNORECASE
)


def names_a_secret(name: str) -> bool:
    """Whether something called ``name`` (a header, a variable, an option) usually is a secret."""
    return _SECRET_NAME.search(name) is not None

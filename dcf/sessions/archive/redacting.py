"""Secrets taken out of what is written to an archive."""

from __future__ import annotations

from typing import Any

from dcf.secret_form import value_without_secrets

REDACTED = "[redacted]"


def clean(value: Any) -> Any:
    """A JSON value with ``[redacted]`` where a secret was: by its form, and all of what is the
    value of a member whose name is that of a secret."""
    return value_without_secrets(value, REDACTED)

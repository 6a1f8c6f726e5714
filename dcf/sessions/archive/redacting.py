"""Secrets taken out of what is written to an archive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dcf.secret_form import without_secrets

REDACTED = "[redacted]"


def clean(value: Any, name: str = "") -> Any:
    """A JSON value with ``[redacted]`` where a secret was: by its form, and all of what is the
    value of a member whose ``name`` is that of a secret."""
    if isinstance(value, str):
        text = without_secrets(value, REDACTED)
        return REDACTED if text == value and _is_named(name, value) else text
    if isinstance(value, list):
        return [clean(item, name) for item in value]
    if isinstance(value, Mapping):
        return {without_secrets(key, REDACTED): clean(item, key) for key, item in value.items()}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return REDACTED if _is_named(name, value) else value
    return value


def _is_named(name: str, value: Any) -> bool:
    """Whether a text that gives ``name`` this value would be seen to give away a secret."""
    if not name:
        return False
    assigned, hidden = json.dumps({name: value}), json.dumps({name: REDACTED})
    found = without_secrets(assigned, REDACTED)
    return found != assigned and found.replace('"', "") == hidden.replace('"', "")

"""Literals that look like credentials: a source names a secret, it never holds one."""

from __future__ import annotations

import re

from dcf.secret_name import names_a_secret

_ASSIGNED = re.compile(r"^-{0,2}(?P<name>[A-Za-z][A-Za-z0-9_-]*)[=:](?P<value>.+)$", re.DOTALL)
_QUERY = re.compile(r"[?&](?P<name>[A-Za-z][A-Za-z0-9_.-]*)=(?P<value>[^&#]+)")


def assigned_secret(argument: str) -> str | None:
    """The option to which an argument like ``--token=abc`` assigns a literal, or None."""
    match = _ASSIGNED.match(argument)
    if match and names_a_secret(match["name"]) and "${" not in match["value"]:
        return match["name"]
    return None


def query_secret(address: str) -> str | None:
    """The parameter to which an address like ``…?api_key=abc`` gives a literal, or None."""
    for match in _QUERY.finditer(address):
        if names_a_secret(match["name"]) and "${" not in match["value"]:
            return match["name"]
    return None

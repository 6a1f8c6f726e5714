"""Literals that look like credentials: a source names a secret, it never holds one."""

from __future__ import annotations

import re

from dcf.secret_name import names_a_secret

_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])("
    r"sk-[A-Za-z0-9_-]{16,}"
    r"|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r")"
)
_ASSIGNED = re.compile(r"^-{0,2}(?P<name>[A-Za-z][A-Za-z0-9_-]*)[=:](?P<value>.+)$", re.DOTALL)
_QUERY = re.compile(r"[?&](?P<name>[A-Za-z][A-Za-z0-9_.-]*)=(?P<value>[^&#]+)")


def is_credential(text: str) -> bool:
    """Whether ``text`` holds what only a credential looks like: an API key of a known maker, a
    signed token, a private key."""
    return _SHAPES.search(text) is not None


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

"""Revisions of things of a server that counts none."""

from __future__ import annotations

from dcf.digest import canonical_json, digest

_DIGITS = 13


def revision_of(content: object) -> int:
    """A number that another content has not: it says whether something was changed since it was
    seen, by whomever, not how often. Less than 2^52, which every reader of JSON keeps exactly."""
    return int(digest(canonical_json(content)).removeprefix("sha256:")[:_DIGITS], 16)

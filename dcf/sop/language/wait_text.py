"""Waits in words: ``1 day``, ``until 2026-03-01T09:00:00Z``, ``until \\`due_at\\```."""

from __future__ import annotations

import re
from datetime import datetime

from dcf.sop.condition import Name
from dcf.sop.conduct import Wait
from dcf.sop.language.duration import print_duration, read_duration
from dcf.sop.language.phrase import DOTTED, Unreadable, bare

_BY_NAME = re.compile(rf"`\s*({DOTTED})\s*` seconds?", re.IGNORECASE)
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_HINT = (
    "write `wait 1 day`, `wait until 2026-03-01T09:00:00Z`, or names: wait until `due_at`, wait "
    "`pause` seconds; to wait for a person, write `approval by ...`"
)


def read_wait(text: str) -> Wait:
    """The wait in ``text``, without the word wait before it. Raises ``Unreadable``."""
    text = re.sub(r"^for\s+", "", text.strip().rstrip("."), flags=re.IGNORECASE)
    until = re.match(r"(?:until|till)\s+", text, re.IGNORECASE)
    if until:
        moment = text[until.end() :].strip()
        if moment.startswith("`") and re.fullmatch(DOTTED, bare(moment)):
            return Wait(until=Name(bare(moment)))
        if _is_timestamp(bare(moment)):
            return Wait(until=bare(moment))
        raise Unreadable("SOP_WAIT", f"{moment!r} is no moment to wait for", _HINT)
    named = _BY_NAME.fullmatch(text)
    if named:
        return Wait(seconds=Name(named[1]))
    try:
        return Wait(seconds=read_duration(text))
    except Unreadable as error:
        if re.match(r"[0-9]", text):
            raise
        raise Unreadable("SOP_WAIT", f"wait {text!r}: {error.message}", _HINT) from None


def _is_timestamp(text: str) -> bool:
    if not _TIMESTAMP.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def print_wait(wait: Wait) -> str:
    """As ``read_wait`` reads it."""
    match wait:
        case Wait(seconds=Name(path)):
            return f"`{path}` seconds"
        case Wait(seconds=int() as seconds):
            return print_duration(seconds)
        case Wait(until=Name(path)):
            return f"until `{path}`"
    return f"until {wait.until}"

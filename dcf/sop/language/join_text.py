"""What is kept of names that several branches write: ``Keep every \\`status\\```."""

from __future__ import annotations

import re

from dcf.sop.conduct import KEEPS, Join, Keep
from dcf.sop.language.phrase import NAME, Unreadable, bare, split_list

_JOIN = re.compile(r"(?:the )?(?P<keep>first|last|every)\s+(?P<names>\S.*)", re.IGNORECASE)


def read_joins(text: str) -> tuple[Join, ...]:
    """What stands behind ``Keep``, names separated by commas or ``and``. Raises ``Unreadable``."""
    found = _JOIN.fullmatch(text.strip().rstrip("."))
    if found is None:
        hint = "write Keep the first `name`, Keep the last `name` or Keep every `name`"
        raise Unreadable("SOP_JOIN", f"{text!r} does not say what is kept", hint)
    [keep] = [one for one in KEEPS if one == found["keep"].lower()]
    return tuple(_join(one, keep) for one in split_list(found["names"]))


def _join(name: str, keep: Keep) -> Join:
    if not re.fullmatch(NAME, bare(name)):
        hint = "names are letters, digits and _: Keep every `status`"
        raise Unreadable("SOP_NAME", f"{name!r} is no name that branches write", hint)
    return Join(bare(name), keep)


def print_join(join: Join) -> str:
    """As ``read_joins`` reads it."""
    return f"{'' if join.keep == 'every' else 'the '}{join.keep} `{join.name}`"

"""What a person can answer, in words: ``restarted, replaced or "gave up, or left it"``.

A file of its own: it is read and printed in two forms, and no other phrase has such a list.
"""

from __future__ import annotations

import re

from dcf.sop.language.phrase import Unreadable, bare, quoted, split_at, unquoted

_OR = re.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+")
_PLAIN = re.compile(r"(?!or )(?:[^\W_][\w/-]*)(?: (?!or )[\w/-]+)*")


def read_choices(text: str) -> tuple[str, ...]:
    """Separated by commas or ``or``; one that has such words in it stands in double quotes. Raises
    ``Unreadable``."""
    said = [one for one in split_at(_OR, text.strip().rstrip(".")) if one.strip()]
    if not said:
        raise Unreadable("SOP_EMPTY", f"{text!r} has no choice", "write `Choices: done, skipped`")
    return tuple(map(_choice, said))


def _choice(text: str) -> str:
    text = text.strip()
    if not text.startswith(('"', "“")):
        return bare(text)
    try:
        return unquoted(text)
    except ValueError:
        hint = 'write it on one line between double quotes: "left as it is, or given up"'
        raise Unreadable("SOP_QUOTE", f"{text} is no choice in quotes", hint) from None


def print_choices(choices: tuple[str, ...]) -> str:
    """As ``read_choices`` reads them."""
    return ", ".join(one if _PLAIN.fullmatch(one.lower()) else quoted(one) for one in choices)

"""Texts of others as they may be kept: without secrets and without signs that nobody sees."""

from __future__ import annotations

import regex

from dcf.secret_form import without_secrets

PUT = "[redacted]"
"""Stands where a secret was."""
MOST = 65_536
"""Characters of one text that are looked at: all that is kept of any is much shorter."""

_ANSI = regex.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\))")
# Controls, halves of surrogate pairs, and formats: among these are the marks that turn the
# direction of a text, and tags that models read and people do not.
_UNSEEN = regex.compile(r"(?![\n\t])[\p{Cc}\p{Cs}\p{Cf}]")


def cleaned(text: str) -> str:
    """``text`` in lines, without blanks around it.

    >>> cleaned("\\x1b[31mred\\x1b[0m password=hunter22")
    'red password=[redacted]'
    """
    seen = visible(text[:MOST])
    return without_secrets(seen, PUT).strip()


def one_line(text: str) -> str:
    """The same on one line."""
    return " ".join(cleaned(text).split())


def visible(text: str) -> str:
    """``text`` without colours of terminals and control characters; lines end with ``\\n``."""
    plain: str = _ANSI.sub("", text.replace("\r\n", "\n"))
    shown: str = _UNSEEN.sub("", plain.replace("\r", "\n"))
    return shown

"""Observations out of texts of any length and origin, as they may be kept: without secrets, without
signs that nobody sees, and short."""

from __future__ import annotations

from dataclasses import replace

import regex

from dcf.memory.observation import Artifact, NewObservation
from dcf.secret_form import without_secrets

PUT = "[redacted]"
"""Stands where a secret was."""
MOST = 65_536
"""Characters of one text that are looked at: all that is kept of any is much shorter."""
TITLE_WORDS, TITLE_CHARS = 12, 80
SUBTITLE_WORDS, SUBTITLE_CHARS = 24, 240
FACTS, FACT_CHARS = 20, 500
NARRATIVE_CHARS = 4_000
ARTIFACTS, PATH_CHARS = 50, 1_000

_ANSI = regex.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\))")
# Controls, halves of surrogate pairs, and formats: among these are the marks that turn the
# direction of a text, and tags that models read and people do not.
_UNSEEN = regex.compile(r"(?![\n\t])[\p{Cc}\p{Cs}\p{Cf}]")


def trimmed(new: NewObservation) -> NewObservation:
    """The observation within every limit: secrets and control characters are taken out, what is too
    long is cut, and what says the same twice is left out."""
    lines = (cut(one_line(fact), FACT_CHARS) for fact in new.facts)
    places = (
        Artifact(one.type, one_line(one.path)[:PATH_CHARS], one.action) for one in new.artifacts
    )
    return replace(
        new,
        title=cut(one_line(new.title), TITLE_CHARS, TITLE_WORDS),
        subtitle=cut(one_line(new.subtitle), SUBTITLE_CHARS, SUBTITLE_WORDS),
        facts=tuple(dict.fromkeys(line for line in lines if line))[:FACTS],
        narrative=cut(cleaned(new.narrative), NARRATIVE_CHARS),
        note=cut(cleaned(new.note), NARRATIVE_CHARS),
        concepts=tuple(dict.fromkeys(new.concepts)),
        artifacts=tuple(dict.fromkeys(one for one in places if one.path))[:ARTIFACTS],
    )


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


def cut(text: str, chars: int, words: int | None = None) -> str:
    """The beginning of ``text`` within both limits; an ellipsis says that there was more.

    >>> cut("one two three", 80, 2)
    'one two…'
    """
    short = text
    parts = text.split() if words is not None else []
    if words is not None and len(parts) > words:
        short = " ".join(parts[:words])
    if len(short) > chars or (short != text and len(short) == chars):
        whole, _, rest = short[: chars - 1].rpartition(" ")
        # A last word is left out rather than torn, if not much is lost by that.
        short = whole if whole and len(rest) < chars // 2 else short[: chars - 1]
    return short if short == text else f"{short.rstrip(' ,;:')}…"

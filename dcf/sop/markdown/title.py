"""The line of a step's number: its title, and what follows on the same line."""

from __future__ import annotations

import re

from dcf.sop.language.sentences import split_sentences

_BOLD = re.compile(r"\*\*(?P<title>[^*]+)\*\*[\s.:–—-]*")


def split_title(text: str) -> tuple[str, int]:
    """The title in ``text``, and where the rest begins: the title is what is bold at the beginning,
    or the first sentence, without its full stop or colon."""
    bold = _BOLD.match(text)
    if bold:
        return _bare(bold["title"]), bold.end()
    first = split_sentences(text)[0]
    rest = text[len(first) :]
    return _bare(first), len(text) - len(rest.lstrip())


def _bare(title: str) -> str:
    return title.strip().rstrip(".:").rstrip()

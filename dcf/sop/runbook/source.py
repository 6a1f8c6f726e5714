"""The text of a runbook, whatever format it is written in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcf.problem import Problem
from dcf.sop.limits import MAX_CHARACTERS
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.drafted import NoDraft

_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffe\uffff\ud800-\udfff]")
_UNSEEN = re.compile(
    r"[\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069\x1b\x7f-\x84\x86-\x9f]"
)
_BREAKS = re.compile(r"\r\n|\r|[\x0b\x0c\x85\u2028\u2029]")
_WORD = re.compile(r"[^\W_]")
MARKDOWN = "Markdown"


@dataclass(frozen=True, slots=True)
class Source:
    """``text`` has the lines of the file as people read them: without what only marks something up,
    of DOCX a line for each paragraph. ``blocks`` are what it consists of; None for Markdown and
    YAML, which may be a procedure in our own form. ``front`` is the front matter before them.
    ``problems`` do not keep it from being read."""

    text: str
    file: str = ""
    format: str = MARKDOWN
    blocks: tuple[Block, ...] | None = None
    front: str = ""
    problems: tuple[Problem, ...] = ()


def readable(text: str, file: str) -> str:
    """``text`` without characters that nobody sees, its lines ended by newlines alone. Raises
    ``NoDraft`` for a text that is empty, no text, or too large."""
    text = _BREAKS.sub("\n", text.removeprefix("\ufeff"))
    if len(text) > MAX_CHARACTERS:
        message = f"the text has {len(text):,} characters, over {MAX_CHARACTERS:,}"
        raise no_draft("SOP_LIMIT", message, "split it into several runbooks", file)
    found = _BINARY.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        message = f"the character U+{ord(found[0]):04X} is no text"
        raise no_draft("SOP_CHARACTER", message, "is this a text file in UTF-8?", file, line)
    text = _UNSEEN.sub("", text)
    if not _WORD.search(text):
        hint = "write what is to be done, a step on each line: `1. Check the order`"
        raise no_draft("SOP_EMPTY", "there is not a word in it", hint, file)
    return text


def no_draft(code: str, message: str, hint: str, file: str, line: int | None = 1) -> NoDraft:
    """What is raised where nothing comes of a text."""
    return NoDraft((Problem(code, message, hint=hint, file=file or None, line=line),))

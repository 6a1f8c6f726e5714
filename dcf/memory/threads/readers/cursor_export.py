"""Chats that Cursor exports as Markdown: a title, ``_Exported on … from Cursor (<version>)_``, then
sections that begin with ``---`` and ``**User**`` or ``**Cursor**``. See
docs/reference/transcripts.md for where the format is described.

Nothing in a text is escaped, so a text may have what begins a section. Sections take turns: what
would begin one of whoever speaks already is text. So is what stands in a block of code of a user
that is closed before the answer. A block of Cursor says nothing: it holds files that have blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dcf.memory.thread import NewTurn, Outline
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import title_of
from dcf.memory.threads.readers.tally import Tally
from dcf.memory.threads.readers.text_lines import lines_of

_EXPORTED = re.compile(r"_Exported on .+ from Cursor \(.*\)_")
_ROLES = {"**User**": "user", "**Cursor**": "assistant"}
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ABOUT = 2
"""Lines before the first section: the title, and when it was exported."""


class CursorExport:
    """See the module."""

    name = "cursor_export"

    def recognises(self, path: Path, head: bytes) -> bool:
        lines = head.decode("utf-8-sig", errors="replace").splitlines()
        return len(lines) >= _ABOUT and bool(
            lines[0].startswith("# ") and _EXPORTED.fullmatch(lines[1])
        )

    def pieces(self, path: Path, chunks: Iterable[bytes], tally: Tally) -> Iterator[Piece]:
        source_id, said = str(path), 0
        lines = [line for line, _ in lines_of(chunks)]
        for role, part in _sections(lines):
            text = "\n".join(part).strip("\n")
            if not text.strip() or (not role and text.strip() == "---"):
                continue
            said += 1
            if role:
                yield Said(source_id, NewTurn(role, text))
            else:
                yield from tally.keep_unknown("text before the first section", text, source_id)
        if said:
            yield Ended(Outline(source_id, title=title_of(lines[0].lstrip("# "))))


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Whose each section is, nobody's before the first, and its lines."""
    role, begin = "", _ABOUT
    for at in _headings(lines):
        yield role, lines[begin : _rule(lines, at)]
        role, begin = _ROLES[lines[at]], at + 1
    yield role, lines[begin:]


def _headings(lines: Sequence[str]) -> Iterator[int]:
    """The lines that begin a section, behind its rule."""
    role, at = "", _ABOUT
    while at < len(lines):
        if _rule(lines, at) is not None and _ROLES[lines[at]] != role:
            role = _ROLES[lines[at]]
            yield at
        at = _behind_block(lines, at) if role == "user" else at + 1


def _rule(lines: Sequence[str], at: int) -> int | None:
    """The line of the rule (``---``) before the line ``at``, if that may begin a section: blank
    lines stand around what does."""
    if lines[at] not in _ROLES or lines[at + 1 : at + 2] not in ([""], []):
        return None
    rule = next((one for one in range(at - 1, _ABOUT - 1, -1) if lines[one]), at)
    return rule if rule < at - 1 and lines[rule] == "---" else None


def _behind_block(lines: Sequence[str], at: int) -> int:
    """The line behind the block of code that begins at ``at``; the next line if none begins there,
    or one that a user forgot to close: what closes it then has a language, as the blocks of Cursor
    have, or has no answer behind it."""
    fence = _FENCE.fullmatch(lines[at])
    if fence is None:
        return at + 1
    for end in range(at + 1, len(lines)):
        found = _FENCE.fullmatch(lines[end])
        if found and found[1].startswith(fence[1]):
            inside = any(_rule(lines, one) is not None for one in range(at, end))
            closes = not found[2].strip() and (not inside or _is_answered(lines, end))
            return end + 1 if closes else at + 1
    return at + 1


def _is_answered(lines: Sequence[str], at: int) -> bool:
    """Whether the next section behind ``at`` is of Cursor."""
    headings = (lines[one] for one in range(at, len(lines)) if _rule(lines, one) is not None)
    return _ROLES.get(next(headings, "")) == "assistant"

"""Notes for coding agents: ``AGENTS.md``, ``CLAUDE.md`` and their like, Markdown without a form of
its own. Each section is a turn, known by its headings: one that is edited is followed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dcf.memory.thread import NewTurn, Outline
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import title_of
from dcf.memory.threads.readers.tally import Tally
from dcf.memory.threads.readers.text_lines import lines_of

_NAMES = frozenset(
    {
        *("agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md"),
        *("gemini.md", "copilot-instructions.md", "warp.md", "conventions.md"),
    }
)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_KEPT = 1_000_000
"""Characters of a section; the rest is another."""


class AgentNotes:
    """See the module."""

    name = "agent_notes"

    def recognises(self, path: Path, head: bytes) -> bool:
        return path.name.lower() in _NAMES and b"\0" not in head

    def pieces(self, path: Path, chunks: Iterable[bytes], tally: Tally) -> Iterator[Piece]:
        source_id, title = str(path), ""
        for key, text in _sections(line for line, _ in lines_of(chunks)):
            if text.strip():
                title = title or title_of(text).lstrip("# ")
                yield Said(source_id, NewTurn("notes", text.strip("\n"), key=key))
        yield Ended(Outline(source_id, path.parent.name, title or path.name))


def _sections(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The headings above each section, and its text with its own heading."""
    headings, kept, size, fence = list[str](), list[str](), 0, ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1][0] == fence[0] and len(mark[1]) >= len(fence))):
            fence = "" if fence else mark[1]
        found = None if fence or mark else _HEADING.fullmatch(line)
        if found or size > _KEPT:
            yield " > ".join(filter(None, headings)), "\n".join(kept)
            kept, size = [], 0
        if found:
            level = len(found[1])
            headings = [*headings[: level - 1], *[""] * (level - 1 - len(headings)), found[2] or ""]
        kept.append(line)
        size += len(line)
    yield " > ".join(filter(None, headings)), "\n".join(kept)

"""Files of any of the known formats, read into the pieces of threads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from dcf.memory.errors import DamagedDatabase, LockedDatabase
from dcf.memory.foreign_database import HEADER, is_logged, reading
from dcf.memory.threads.piece import Piece
from dcf.memory.threads.readers.agent_notes import AgentNotes
from dcf.memory.threads.readers.amp_thread import AmpThread
from dcf.memory.threads.readers.beads_issue import BeadsIssue
from dcf.memory.threads.readers.chatgpt import ChatGpt
from dcf.memory.threads.readers.claude_ai import ClaudeAi
from dcf.memory.threads.readers.claude_code import ClaudeCode
from dcf.memory.threads.readers.codex import Codex
from dcf.memory.threads.readers.content import Content, contents, opened
from dcf.memory.threads.readers.cursor_agent import CursorAgent
from dcf.memory.threads.readers.cursor_database import CursorDatabase
from dcf.memory.threads.readers.cursor_export import CursorExport
from dcf.memory.threads.readers.entry import DatabaseFormat, JsonFormat, TextFormat
from dcf.memory.threads.readers.gemini_cli import GeminiCli
from dcf.memory.threads.readers.github_log import GithubLog
from dcf.memory.threads.readers.gui_recording import GuiRecording
from dcf.memory.threads.readers.json_stream import Entry, entries
from dcf.memory.threads.readers.junit import Junit
from dcf.memory.threads.readers.opencode import Opencode
from dcf.memory.threads.readers.tally import Tally

_JSON: tuple[JsonFormat, ...] = (
    ClaudeCode(),
    Codex(),
    GeminiCli(),
    Opencode(),
    AmpThread(),
    BeadsIssue(),
    ChatGpt(),
    ClaudeAi(),
    CursorAgent(),
    GuiRecording(),
)
_TEXT: tuple[TextFormat, ...] = (AgentNotes(), Junit(), GithubLog(), CursorExport())
_DATABASES: tuple[DatabaseFormat, ...] = (CursorDatabase(),)
_ALL: tuple[JsonFormat | TextFormat | DatabaseFormat, ...] = (*_JSON, *_TEXT, *_DATABASES)
FORMATS = MappingProxyType({one.name: one for one in _ALL})
"""By the names that ``transcript`` takes: the source types of their threads."""

_LOOKED_AT = 200
"""Entries of a file in which its format is looked for."""
_HEAD = 8_192

Part: TypeAlias = tuple[str, Iterator[Piece]]
"""A format, and the pieces of what has it: they are read in their order, once."""


@dataclass(slots=True)
class Transcript:
    """The reading of a file: ``parts`` are its contents, more than one for an archive. ``tally`` is
    full when they are read; a file of no known format has no parts and a problem."""

    tally: Tally
    parts: Iterator[Part] = field(default_factory=lambda: iter(()))


@contextmanager
def transcript(
    path: Path, format: str | None = None, *, follow: bool = True
) -> Iterator[Transcript]:
    """The file at ``path``, of a ``format`` of ``FORMATS``, or of the one that it is found to have.

    Raises ``OSError`` for a file that cannot be read. All else is a problem in the tally.
    """
    tally = Tally.of(path)
    with opened(path, follow=follow) as content, ExitStack() as stack:
        yield Transcript(tally, _parts(content, format, tally, stack))


def _parts(content: Content, format: str | None, tally: Tally, stack: ExitStack) -> Iterator[Part]:
    """``stack`` holds what is open until all parts are read."""
    found = False
    for one in contents(content, tally):
        part = _part(one, format, tally, stack)
        if part is not None:
            found = True
            yield part
        elif one is not content:
            tally.leave_out("member of the archive")
    if not found and not any(problem.is_error for problem in tally.problems):
        hint = f"known are: {', '.join(sorted(FORMATS))}"
        message = "the format is not known" if format is None else f"it has no format {format!r}"
        tally.report("transcript-format", message, hint=hint)


def _part(content: Content, format: str | None, tally: Tally, stack: ExitStack) -> Part | None:
    chunks = content.chunks()
    head = next(chunks, b"")
    if head.startswith(HEADER):
        return _database_part(content.path, format, tally, stack)
    for text in _TEXT:
        if text.name == format or (format is None and text.recognises(content.path, head[:_HEAD])):
            return text.name, text.pieces(content.path, chain([head], chunks), tally)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return None
    read = entries(chain([head], chunks), tally)
    begun = list(islice(read, _LOOKED_AT))
    for known in _JSON:
        if known.name == format or (format is None and _is_of(known, begun)):
            return known.name, _pieces(known, content.path, chain(begun, read), tally)
    return None


def _database_part(path: Path, format: str | None, tally: Tally, stack: ExitStack) -> Part | None:
    try:
        connection = stack.enter_context(reading(path, cut=True))
        for known in _DATABASES:
            if known.name == format or (format is None and known.recognises(connection)):
                tally.spread = tally.spread or is_logged(path)
                return known.name, known.pieces(path, connection, tally)
    except (DamagedDatabase, LockedDatabase, sqlite3.Error, OSError) as error:
        tally.report("transcript-database", f"the database cannot be read: {error}", cut=True)
    return None


def _is_of(known: JsonFormat, begun: list[Entry]) -> bool:
    return any(known.recognises(entry.value) for entry in begun)


def _pieces(known: JsonFormat, path: Path, found: Iterator[Entry], tally: Tally) -> Iterator[Piece]:
    reading = known.reading(path, tally)
    for entry in found:
        yield from reading.read(entry)
    yield from reading.end()

"""A document: what a file said when it was read, in pieces that can be cited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.citation import Citation
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is kept. ``path`` is relative to the folder ``project`` where the file lies
    in it. ``pages`` are those of a PDF or the cells of a notebook; ``pieces`` is how many there
    are. ``digest`` is the SHA-256 of the file. Times are in ms since the epoch, UTC. ``problems``
    are what was odd about it."""

    id: str
    project: str
    path: str
    title: str
    format: str
    size: int
    digest: str
    pages: int | None
    pieces: int
    added_at: int
    read_at: int
    problems: tuple[Problem, ...] = ()

    @property
    def citation(self) -> str:
        """Its address."""
        return str(Citation("document", self.id))


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """A part of a document: lines ``first_line`` to ``last_line`` (from 1), or of a ``page``, or
    both. ``headings`` are those that it stands under, the outermost first."""

    document_id: str
    number: int
    path: str
    title: str
    text: str
    headings: tuple[str, ...]
    first_line: int | None
    last_line: int | None
    page: int | None
    citation: str


@dataclass(frozen=True, slots=True)
class PieceChoice:
    """Pieces of a document: all, or those on a ``page``, or those with one of the ``lines`` (first
    and last); of these at most ``limit`` behind the first ``offset``."""

    page: int | None = None
    lines: tuple[int, int] | None = None
    limit: int = 1_000_000
    offset: int = 0


ALL_PIECES = PieceChoice()


def piece_citation(row: Mapping[str, Any]) -> str:
    """The address of the piece in ``row``: its lines, its page where it has none, else the
    document."""
    document_id, page = row["document_id"], row["page"]
    first, last = row["first_line"], row["last_line"]
    if first is not None:
        return str(Citation("document", document_id, "line", number=first, last=last))
    if page is not None:
        return str(Citation("document", document_id, "page", number=page))
    return str(Citation("document", document_id))

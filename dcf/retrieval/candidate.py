"""What may answer a question: logged items, pieces of code and of documents, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.citation import Citation
from dcf.code import CodeHit
from dcf.memory import DocumentPiece
from dcf.retrieval.item import Recalled
from dcf.retrieval.shelves import DocumentHit


@dataclass(frozen=True, slots=True)
class Candidate:
    """One text with its ``place`` (from 1) among those of its own source. One of ``memory``,
    ``code`` and ``document`` is what it is of; ``times`` is how often the same was logged."""

    place: int
    memory: Recalled | None = None
    code: CodeHit | None = None
    document: DocumentHit | None = None
    times: int = 1

    @property
    def text(self) -> str:
        if self.memory is not None:
            return self.memory.item.text
        if self.document is not None:
            return self.document.piece.text
        return self.code.text if self.code else ""

    @property
    def timestamp(self) -> int:
        """When it was logged, ms; 0 for what is as it is now: code and documents."""
        return self.memory.item.timestamp if self.memory else 0

    @property
    def citation(self) -> str:
        """Its address."""
        if self.memory is not None:
            return self.memory.item.citation
        if self.document is not None:
            return self.document.piece.citation
        assert self.code is not None
        lines = (self.code.first_line, self.code.last_line)
        return str(Citation("code", self.code.path, "line", number=lines[0], last=lines[1]))

    @property
    def type(self) -> str:
        """What it is called in answers."""
        return "code_snippet" if self.code else self.source

    @property
    def source(self) -> str:
        """What its place counts in."""
        return "memory" if self.memory else "document" if self.document else "code"

    @property
    def about(self) -> dict[str, Any]:
        """What else is known of it."""
        if self.memory is not None:
            item = self.memory.item
            about = {"id": item.id, "tags": list(item.tags), "source": item.source}
            rest = {"file_path": item.file_path, "timestamp": item.timestamp, "times": self.times}
            return {**about, **rest}
        if self.document is not None:
            piece = self.document.piece
            return {
                "file_path": piece.path,
                "first_line": piece.first_line,
                "last_line": piece.last_line,
                "page": piece.page,
                "title": piece.title,
                "headings": list(piece.headings),
            }
        assert self.code is not None
        lines = {"first_line": self.code.first_line, "last_line": self.code.last_line}
        return {"file_path": self.code.path, **lines, "symbol": self.code.symbol}

    @property
    def own_reason(self) -> str:
        """What its own source says for it."""
        if self.code is not None:
            return "; ".join(self.code.why)
        told = self.memory or self.document
        return told.why if told else ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate as it is answered: ``score`` is between 0 and 1, and may be compared inside of
    one answer; ``why`` says what it is made of."""

    candidate: Candidate
    score: float
    why: tuple[str, ...]


def candidates_of(
    recalled: Sequence[Recalled],
    code: Sequence[CodeHit],
    documents: Sequence[DocumentHit] = (),
) -> tuple[Candidate, ...]:
    """The lists, each the best first. Items that say the same of the same file are one: the
    newest, at the best of their places. Code that stands in a piece of a document is that."""
    same: dict[tuple[str, str | None], Candidate] = {}
    for one in recalled:
        key = (one.item.text, one.item.file_path)
        before = same.get(key)
        if before is None:
            same[key] = Candidate(len(same) + 1, memory=one)
            continue
        newest = max(before.memory or one, one, key=lambda each: each.item.timestamp)
        same[key] = Candidate(before.place, memory=newest, times=before.times + 1)
    return (
        *same.values(),
        *(
            Candidate(place, code=hit)
            for place, hit in enumerate(code, 1)
            if not any(_is_part(hit, one.piece) for one in documents)
        ),
        *(Candidate(place, document=hit) for place, hit in enumerate(documents, 1)),
    )


def _is_part(code: CodeHit, piece: DocumentPiece) -> bool:
    if code.path != piece.path or piece.first_line is None or piece.last_line is None:
        return False
    return piece.first_line <= code.last_line and code.first_line <= piece.last_line

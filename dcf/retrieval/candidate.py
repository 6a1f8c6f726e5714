"""What may answer a question: logged items, observations, turns of threads, playbooks, pieces of
code and of documents, facts of the graph, side by side; and which of it may be told."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcf.citation import Citation
from dcf.code import CodeHit
from dcf.context_form import KINDS as KINDS
from dcf.context_form import Kind as Kind
from dcf.documents import format_of
from dcf.memory import DocumentPiece, Found, PlaybookMatch, ThreadHit
from dcf.retrieval.backend import DocumentHit
from dcf.retrieval.item import Recalled
from dcf.retrieval.retrievers import FactHit, reason_of

_JSON_LINE = re.compile(
    r"""^\s*(?:"source": )?("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"),?$""",
    re.MULTILINE,
)
"""A line of a cell, as a notebook writes it."""

NOT_PERMITTED = "not permitted: no skill that is loaded may be told of this file"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One text with its ``place`` (from 1) among those of its ``kind``, and what that kind's own
    search says for it (``reason``). ``about`` is what else is known of it (``also``: the citations
    of what says the same), ``times`` how often the same was logged. ``timestamp`` is when it was
    logged, said, seen or confirmed, ms; 0 for what is as it is now: code and documents. ``parts``
    are the addresses of all that ``text`` is made of, where that is more than the citation's.
    ``likeness`` is how near the query its own search found it but for words, at most 1: by meaning,
    by the names or lines that it has; None where it compared nothing but words. ``frame`` is its
    place among those that a stack trace in the query names, from 0, the fault's; else None.
    ``outdated`` says why a file no longer says it, where that is known."""

    kind: Kind
    place: int
    text: str
    citation: str
    reason: str
    about: Mapping[str, Any]
    timestamp: int = 0
    tags: tuple[str, ...] = ()
    times: int = 1
    parts: tuple[str, ...] = ()
    likeness: float | None = None
    frame: int | None = None
    outdated: str = ""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of all that is told with it."""
        return self.parts or (self.citation,)

    @property
    def heading(self) -> str:
        """What a model is told above the text: its address, and that it is outdated, if it is."""
        return f"{self.citation} (outdated)" if self.outdated else self.citation

    @property
    def type(self) -> str:
        """What it is called in answers."""
        return "code_snippet" if self.kind == "code" else self.kind


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate as it is answered: ``score`` is between 0 and 1, and may be compared inside of
    one answer; ``why`` says what it is made of. ``relevance``, from 0 to 1, says how well it
    answers, whatever else is there: by the part of the query's words that it says, and by its
    likeness; None where nobody judged it. ``tokens`` is what it costs a model to read, 0 where
    nobody counted; ``left_out`` says why it is not answered, where it is not."""

    candidate: Candidate
    score: float
    why: tuple[str, ...]
    tokens: int = 0
    left_out: str = ""
    relevance: float | None = None


def candidates_of(
    recalled: Sequence[Recalled],
    code: Sequence[CodeHit],
    documents: Sequence[DocumentHit] = (),
    observations: Sequence[Found] = (),
    playbooks: Sequence[PlaybookMatch] = (),
    facts: Sequence[FactHit] = (),
    threads: Sequence[ThreadHit] = (),
    *,
    same: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """The lists, each the best first. Items that say the same of the same file are one: the
    newest, at the best of their places. Code all of which a piece of a document says is that,
    with the address of the code under ``also``; so is code of a file that is the ``same`` (its
    path) as the document, as far as pieces were found of these lines."""
    own_code: list[CodeHit] = []
    told: dict[int, list[CodeHit]] = {}
    for hit in code:
        place = _place_of(hit, documents, is_same=hit.path in same)
        (own_code if place is None else told.setdefault(place, [])).append(hit)
    return (
        *_items(recalled),
        *(_observation(place, found) for place, found in enumerate(observations, 1)),
        *(_thread(place, hit) for place, hit in enumerate(threads, 1)),
        *(_playbook(place, match) for place, match in enumerate(playbooks, 1)),
        *(_code(place, hit) for place, hit in enumerate(own_code, 1)),
        *(_document(place, hit, told.get(place, ())) for place, hit in enumerate(documents, 1)),
        *(_fact(place, hit) for place, hit in enumerate(facts, 1)),
    )


def _items(recalled: Sequence[Recalled]) -> Sequence[Candidate]:
    same: dict[tuple[str, str | None], Candidate] = {}
    for one in recalled:
        key = (one.item.text, one.item.file_path)
        before = same.get(key)
        if before is None:
            same[key] = _item(len(same) + 1, one, 1)
        elif one.item.timestamp > before.timestamp:
            same[key] = _item(before.place, one, before.times + 1)
        else:
            about = {**before.about, "times": before.times + 1}
            same[key] = replace(before, times=before.times + 1, about=about)
    return list(same.values())


def _item(place: int, recalled: Recalled, times: int) -> Candidate:
    item = recalled.item
    about = {
        "id": item.id,
        "tags": list(item.tags),
        "source": item.source,
        "file_path": item.file_path,
        "timestamp": item.timestamp,
        "times": times,
    }
    return Candidate(
        *("memory", place, item.text, item.citation, recalled.why, about),
        timestamp=item.timestamp,
        tags=item.tags,
        times=times,
        likeness=recalled.likeness,
    )


def _observation(place: int, found: Found) -> Candidate:
    about = {"id": found.ref, "tags": list(found.tags), "timestamp": found.at}
    citation = str(Citation("observation", found.ref))
    return Candidate(
        *("observation", place, found.text, citation, reason_of(found), about),
        timestamp=found.at,
        tags=found.tags,
        likeness=found.similarity,
    )


def _thread(place: int, hit: ThreadHit) -> Candidate:
    found, thread_id = hit.found, hit.found.ref.rpartition("/")[0]
    citation = str(Citation("thread", thread_id, "turn", number=found.seq))
    about = {
        "role": found.role,
        "source": hit.source_type,
        "title": hit.title or None,
        "turns": list(hit.turns),
        "timestamp": found.at,
    }
    return Candidate(
        *("thread", place, hit.text, citation, reason_of(found), about),
        timestamp=found.at,
        parts=tuple(str(Citation("thread", thread_id, "turn", number=one)) for one in hit.turns),
        likeness=found.similarity,
    )


def _playbook(place: int, match: PlaybookMatch) -> Candidate:
    one = match.playbook
    about = {
        "id": one.id,
        "owner": one.owner,
        "helped": one.helped,
        "failed": one.failed,
        "stale": match.stale or None,
        "timestamp": one.confirmed_at,
    }
    return Candidate(
        *("playbook", place, match.text, one.citation, match.reason, about),
        timestamp=one.confirmed_at,
        likeness=match.score,
    )


def _code(place: int, hit: CodeHit) -> Candidate:
    lines = {"first_line": hit.first_line, "last_line": hit.last_line}
    about = {"file_path": hit.path, **lines, "symbol": hit.symbol}
    why = "; ".join(hit.why)
    return Candidate(
        *("code", place, hit.text, hit.citation, why, about),
        likeness=hit.likeness,
        frame=hit.frame,
    )


def _document(place: int, hit: DocumentHit, code: Sequence[CodeHit]) -> Candidate:
    """``code`` is what stands in it, too: a line of a stack trace, say, which counts for both."""
    piece = hit.piece
    likenesses = [hit.likeness, *(one.likeness for one in code)]
    about = {
        "file_path": piece.path,
        "first_line": piece.first_line,
        "last_line": piece.last_line,
        "page": piece.page,
        "title": piece.title,
        "headings": list(piece.headings),
        **({"also": [one.citation for one in code]} if code else {}),
    }
    return Candidate(
        *("document", place, piece.text, piece.citation, hit.why, about),
        likeness=max((one for one in likenesses if one is not None), default=None),
        frame=min((one.frame for one in code if one.frame is not None), default=None),
        outdated=hit.outdated,
    )


def _fact(place: int, hit: FactHit) -> Candidate:
    about = {"support": hit.support}
    reason = f"known from {hit.support}"
    return Candidate("fact", place, hit.text, hit.citation, reason, about, timestamp=hit.at)


def _place_of(code: CodeHit, documents: Sequence[DocumentHit], *, is_same: bool) -> int | None:
    """That of the piece of a document that says all of the code: a piece may be older than the
    file, unless it is known to be the same, and one that is known to be outdated hides no code. Of
    several, that of the one with most of its lines."""
    pieces = {
        place: one.piece
        for place, one in enumerate(documents, 1)
        if one.piece.path == code.path and not one.outdated
    }
    said = _one_line(code.text)
    holding = [place for place, piece in pieces.items() if said in _one_line(piece.text)]
    if holding:
        return max(holding, key=lambda place: _shared_lines(code, pieces[place]))
    among_cells = _place_among_cells(code, pieces)
    if among_cells is None and is_same:
        return _place_in_same(code, pieces)
    return among_cells


def _place_among_cells(code: CodeHit, cells: Mapping[int, DocumentPiece]) -> int | None:
    """That of the piece of a notebook that says most of the code, where the pieces together say
    all of it. They have no lines, and their file has in JSON what they say."""
    texts = (json.loads(one) for one in _JSON_LINE.findall(code.text))
    said = frozenset(
        _one_line(line) for text in texts for line in text.splitlines() if line.strip()
    )
    found = {
        place: said.intersection(map(_one_line, piece.text.splitlines()))
        for place, piece in cells.items()
        if piece.first_line is None
    }
    if not said or said.difference(*found.values()):
        return None
    return max(found, key=lambda place: len(found[place]))


def _place_in_same(code: CodeHit, pieces: Mapping[int, DocumentPiece]) -> int | None:
    """That of the best piece with some of the lines, or with none, in a document that is as the
    file is. Source code is not that unless its pieces have all lines: words of identifiers are
    known in code alone. Nor is what a stack trace names: only the line itself answers it."""
    if code.frame is not None or (
        format_of(code.path) == "code" and not _have_all(code, pieces.values())
    ):
        return None
    near = (
        place
        for place, piece in pieces.items()
        if piece.first_line is None or _shared_lines(code, piece) > 0
    )
    return next(near, None)


def _have_all(code: CodeHit, pieces: Iterable[DocumentPiece]) -> bool:
    """All lines of the code. Blank lines are in no piece."""
    there: set[int] = set()
    for piece in pieces:
        if piece.first_line is not None and piece.last_line is not None:
            there.update(range(piece.first_line, piece.last_line + 1))
    lines = enumerate(code.text.split("\n"), code.first_line)
    return all(number in there for number, line in lines if line.strip())


def _one_line(text: str) -> str:
    """``text`` with one blank between its words, before and behind them."""
    return f" {' '.join(text.split())} "


def _shared_lines(code: CodeHit, piece: DocumentPiece) -> int:
    """How many; below 1 where they stand apart."""
    if piece.first_line is None or piece.last_line is None:
        return 0
    return min(code.last_line, piece.last_line) - max(code.first_line, piece.first_line) + 1


def permitted(
    candidates: Sequence[Candidate], files: Sequence[str] | None
) -> tuple[list[Candidate], list[Scored]]:
    """Those that are in ``files`` or about none, and the others, left out. None permits all."""
    if files is None:
        return list(candidates), []
    may: list[Candidate] = []
    refused: list[Scored] = []
    for one in candidates:
        if _may_be_told(one, files):
            may.append(one)
        else:
            refused.append(Scored(one, 0.0, (), left_out=NOT_PERMITTED))
    return may, refused


def is_among(path: str, files: Sequence[str]) -> bool:
    """Whether ``path``, relative to its project, is one of ``files`` or in one of these folders."""
    plain = posixpath.normpath(path)
    if plain.startswith(("../", "/")):
        return False
    named = [posixpath.normpath(one) for one in files]
    return any(one in (".", plain) or plain.startswith(f"{one}/") for one in named)


def _may_be_told(one: Candidate, files: Sequence[str]) -> bool:
    path = one.about.get("file_path")
    return path is None or is_among(path, files)

"""A document with its pieces, as any store keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from dcf.documents import READER, ReadDocument, ReadPiece
from dcf.memory.checking import json_of
from dcf.memory.document import Document, DocumentPiece, piece_citation
from dcf.memory.entities import DOCUMENT, DOCUMENT_PIECE
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file is known by without reading it, and by its content. ``stamp`` is empty where the
    file may change again without another one."""

    size: int
    stamp: str
    digest: str


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A document without secrets, whole: ``stamp`` is that of its ``FileState``, ``reader`` what
    read it."""

    document: Document
    stamp: str
    reader: int
    pieces: tuple[ReadPiece, ...]

    @classmethod
    def of(
        cls, document_id: str, project: str, path: str, file: FileState, read: ReadDocument, at: int
    ) -> KeptDocument:
        """What was read ``at`` (ms), as it may be kept. Raises InvalidEntry."""
        row = DOCUMENT.cleaned(document_row(document_id, project, path, file, read, at))
        pieces = map(DOCUMENT_PIECE.cleaned, piece_rows(document_id, read.pieces))
        return cls(document_of(row), row["stamp"], row["reader"], tuple(map(_piece, pieces)))

    @property
    def state(self) -> FileState:
        """What its file is known by; without a stamp and a digest if it was read otherwise than
        today."""
        return state_of({**asdict(self.document), "stamp": self.stamp, "reader": self.reader})

    @property
    def row(self) -> dict[str, Any]:
        """All but its pieces, by columns."""
        problems = json_of([one.to_dict() for one in self.document.problems])
        about = {**asdict(self.document), "problems": problems}
        return {**about, "stamp": self.stamp, "reader": self.reader}

    def in_place_of(self, before: KeptDocument) -> KeptDocument:
        """This, known as ``before`` was."""
        known = before.document
        return replace(self, document=replace(self.document, id=known.id, added_at=known.added_at))

    def about(self, number: int) -> str:
        """What a piece is found by besides its text: where it stands."""
        return " ".join(
            (self.document.path, self.document.title, *self.pieces[number - 1].headings)
        )

    def piece(self, number: int) -> DocumentPiece:
        """The piece with this number, from 1."""
        about, piece = self.document, self.pieces[number - 1]
        row = {"document_id": about.id, "seq": number, "path": about.path, "title": about.title}
        return piece_of({**row, **asdict(piece), "headings": json_of(piece.headings)})


def document_row(
    document_id: str, project: str, path: str, file: FileState, read: ReadDocument, at: int
) -> dict[str, Any]:
    """What is kept of a document, by columns; secrets may still be in it."""
    return {
        "id": document_id,
        "project": project,
        "path": path,
        "title": read.title,
        "format": read.format,
        **asdict(file),
        "reader": READER,
        "pages": read.pages,
        "pieces": len(read.pieces),
        "problems": json_of([one.to_dict() for one in read.problems]),
        "added_at": at,
        "read_at": at,
    }


def piece_rows(document_id: str, pieces: Sequence[ReadPiece]) -> Iterator[dict[str, Any]]:
    """What is kept of its pieces, by columns; secrets may still be in it."""
    for number, piece in enumerate(pieces, 1):
        headings = json_of(list(piece.headings))
        kept = {**asdict(piece), "headings": headings}
        yield {"document_id": document_id, "number": number, **kept}


def document_of(row: Mapping[str, Any]) -> Document:
    """The document in a row."""
    problems = tuple(Problem(**one) for one in json.loads(row["problems"]))
    known = {one.name: row[one.name] for one in fields(Document) if one.name != "problems"}
    return Document(**known, problems=problems)


def state_of(row: Mapping[str, Any]) -> FileState:
    """What the file of a document in a row is known by (see ``KeptDocument.state``)."""
    if row["reader"] != READER:
        return FileState(row["size"], "", "")
    return FileState(row["size"], row["stamp"], row["digest"])


def piece_of(row: Mapping[str, Any]) -> DocumentPiece:
    """The piece in a row that has the path and the title of its document too."""
    return DocumentPiece(
        document_id=row["document_id"],
        number=row["seq"],
        path=row["path"],
        title=row["title"],
        text=row["text"],
        headings=tuple(json.loads(row["headings"])),
        first_line=row["first_line"],
        last_line=row["last_line"],
        page=row["page"],
        citation=piece_citation(row),
    )


def _piece(row: Mapping[str, Any]) -> ReadPiece:
    known = {one.name: row[one.name] for one in fields(ReadPiece)}
    return ReadPiece(**{**known, "headings": tuple(json.loads(row["headings"]))})

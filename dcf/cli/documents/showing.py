"""``dcf documents list``, ``show`` and ``search``."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.wording import excerpt, moment, one_line
from dcf.cli.retrieval.opening import note_read, open_documents
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import Document, DocumentPiece, PieceChoice
from dcf.problem import Problem, printable
from dcf.retrieval import Freshness
from dcf.search import words
from dcf.secret_form import without_secrets

_EXCERPT = 300
_LINES = re.compile(r"([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?")


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """A document by its id or path, and what of it: a page, some lines, or all."""

    name: str
    page: int | None = None
    lines: tuple[int, int] | None = None


async def list_documents(
    settings: Settings, project: str | None, limit: int, offset: int
) -> Answer:
    """The documents of a project (None: of all), by their paths."""
    async with open_documents(settings) as documents:
        found = await documents.list(project, limit=limit + 1, offset=offset)
    shown, more = found[:limit], len(found) > limit
    fields = {"documents": [document_entry(one) for one in shown], "more": more}
    if not shown:
        return Answer(fields, ["There are no such documents; `dcf documents add` reads some."])
    show: list[Any] = [line for one in shown for line in _heading(one)]
    end = counted(len(shown), "document", "documents")
    return Answer(fields, [*show, f"{end}; --offset {offset + limit} shows more" if more else end])


async def show_document(
    settings: Settings, asked: DocumentQuestion, project: str | None = None
) -> Answer:
    """What a document says, or a part of it. Raises UnknownDocument, UnknownPlace."""
    async with open_documents(settings) as documents:
        document = await documents.get(asked.name, project=project)
        pieces = await documents.pieces(document, PieceChoice(asked.page, asked.lines))
    await note_read(settings, document.project, [document.citation])
    fields = {"document": document_entry(document), "pieces": [piece_entry(one) for one in pieces]}
    show: list[Any] = [*_heading(document), *(line for one in pieces for line in _lines(one))]
    return Answer(fields, show)


async def search_documents(settings: Settings, project: str, query: str, limit: int) -> Answer:
    """Pieces of the project's documents that answer, the best first. Raises BadInput for a query
    without any word."""
    if not words(query):
        hint = "say what is looked for; `dcf documents list` has all documents"
        message = "the query has no word to look for"
        raise BadInput([Problem("cli_documents_query", message, hint=hint, file="QUERY")])
    # As they are kept; an answer tells the question again.
    query = without_secrets(query)
    async with open_documents(settings, searched=True) as documents:
        found = await documents.find(project, query, limit=limit)
        marked = await Freshness().marked(documents, project, found)
    hits = sorted(marked, key=lambda one: bool(one.outdated))
    await note_read(settings, project, [one.piece.citation for one in hits])
    entries = [
        {
            **piece_entry(one.piece),
            "score": one.score,
            "why": one.why,
            "outdated": one.outdated or None,
        }
        for one in hits
    ]
    show: list[Any] = []
    for one in hits:
        under = " > ".join(one.piece.headings)
        place = Text.assemble((_place(one.piece), "bold"), f"  {under}  {one.score:.3f}")
        show += [place, Text(f"  {one.piece.citation}  {one.why}", "dim")]
        show += [Text(f"  {one.outdated}", "yellow")] if one.outdated else []
        show += [Text(f"  {line}") for line in excerpt(one.piece.text, _EXCERPT)]
    return Answer({"query": query, "hits": entries}, show or [f"Nothing was found in {project}."])


def lines_of(text: str) -> tuple[int, int]:
    """The first and the last line that an option names. Raises BadInput."""
    found = _LINES.fullmatch(text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if last < first:
        hint = "a number from 1 on, or two with a dash, the smaller one first: 12, or 12-30"
        problem = Problem("cli_documents_lines", f"{text!r} names no lines", hint=hint)
        raise BadInput([problem.at(file="--lines")])
    return first, last


def document_entry(document: Document) -> dict[str, Any]:
    """A document, for scripts."""
    problems = [one.to_dict() for one in document.problems]
    return {**asdict(document), "problems": problems, "citation": document.citation}


def piece_entry(piece: DocumentPiece) -> dict[str, Any]:
    """A piece, for scripts."""
    return {**asdict(piece), "headings": list(piece.headings)}


def _heading(document: Document) -> list[Text]:
    pages = "" if document.pages is None else counted(document.pages, "page", "pages") + ", "
    pieces = counted(document.pieces, "piece", "pieces")
    about = f"{document.format}, {pages}{pieces}, read {moment(document.read_at)}"
    return [
        Text.assemble((printable(document.path), "bold"), f"  {one_line(document.title)}"),
        Text(f"  {document.citation}  {about}", "dim"),
    ]


def _lines(piece: DocumentPiece) -> list[Text]:
    return [Text(f"{_place(piece)}  {piece.citation}", "dim"), Text(piece.text)]


def _place(piece: DocumentPiece) -> str:
    page = "" if piece.page is None else f" page {piece.page}"
    path = printable(piece.path)
    if piece.first_line is None:
        return f"{path}{page}"
    last = "" if piece.last_line == piece.first_line else f"-{piece.last_line}"
    return f"{path}:{piece.first_line}{last}{page}"

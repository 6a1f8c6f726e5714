"""DOCX, by python-docx."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from dcf.documents.block import Block, BlockKind, Reading, table_lines
from dcf.documents.errors import Corrupt, Encrypted, ReaderMissing, TooMuchText

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""What a file of old Word begins with, and what a password is put around a new one."""
_UNPACKED = 16
"""Bytes of a package for each character that may come of it: XML says much beside the text."""
_WIDEST = 1_000
"""Columns that a cell may span: Word has tables of at most 63."""
_HEADING = "heading "
_AROUND = [
    f"{which}{what}" for what in ("header", "footer") for which in ("first_page_", "", "even_page_")
]
_NO_TITLE = "Word Document"
"""What python-docx says of one that has no properties."""


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """Headings, paragraphs and tables; each paragraph and row is a line. Behind them what stands
    above and below the text of pages. Raises ReaderMissing,
    Encrypted, Corrupt, TooMuchText."""
    document = opened(data, reading.most)
    from docx.table import Table

    title = document.core_properties.title or ""
    reading.title = "" if title == _NO_TITLE else title
    line = 1
    for one in (*document.iter_inner_content(), *around(document)):
        block = _table(one) if isinstance(one, Table) else _paragraph(one)
        if not block.text.strip():
            continue
        lines = block.text.count("\n") + 1
        yield replace(block, first_line=line, last_line=line + lines - 1)
        line += lines


def opened(data: bytes, most: int) -> Document:
    """The document in ``data``, of which at most ``most`` characters may come. Raises
    ReaderMissing, Encrypted, Corrupt, TooMuchText."""
    try:
        import docx
        from docx.opc.exceptions import PackageNotFoundError
    except ImportError as error:
        raise ReaderMissing(format="DOCX", package="python-docx") from error
    _check(data, most)
    try:
        return docx.Document(io.BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise Corrupt(format="docx", reason=_reason(error)) from error


def _reason(error: Exception) -> str:
    if "mode is External" in str(error):
        return "its text is said to be in another file"
    return str(error)


def around(document: Document) -> Iterator[Paragraph | Table]:
    """The headers and footers of a document, each text once. Raises Corrupt."""
    told = set[str]()
    try:
        for section in document.sections:
            for part in (getattr(section, name) for name in _AROUND):
                if part.is_linked_to_previous:
                    continue
                text = "".join(part._element.itertext())
                if text not in told:
                    told.add(text)
                    yield from part.iter_inner_content()
    except KeyError as error:
        raise Corrupt(format="docx", reason=f"a header or footer is missing: {error}") from error


def _check(data: bytes, most: int) -> None:
    """Raises Encrypted, Corrupt, TooMuchText."""
    if data.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise Encrypted()
        raise Corrupt(format="docx", reason="it is a document of Word 97 to 2003")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(one.file_size for one in packed.infolist())
    except zipfile.BadZipFile as error:
        raise Corrupt(format="docx", reason=str(error)) from error
    if size > _UNPACKED * most:
        raise TooMuchText(most=most)


def _paragraph(paragraph: Paragraph) -> Block:
    style = paragraph.style
    name = (style.name or "").lower() if style is not None else ""
    rest = name.removeprefix(_HEADING)
    # The title stands above all headings.
    level = int(rest) + 1 if rest != name and rest.isdecimal() else int(name == "title")
    kind: BlockKind = "heading" if level else "text"
    return Block(kind, paragraph.text, level=level)


def _table(table: Table) -> Block:
    # Each cell is given as often as it has columns.
    widest = max((one.grid_span for row in table.rows for one in row._tr.tc_lst), default=0)
    if widest > _WIDEST:
        raise Corrupt(format="docx", reason=f"a cell of a table spans {widest:,} columns")
    rows = ([_said(cell) for cell in row.cells] for row in table.rows)
    return Block("table", "\n".join(table_lines(rows)), head=2)


def _said(cell: _Cell) -> str:
    """What a cell says, with the tables inside of it."""
    from docx.table import Table

    texts = []
    for one in cell.iter_inner_content():
        if isinstance(one, Table):
            texts += [_said(inner) for row in one.rows for inner in row.cells]
        else:
            texts.append(one.text)
    return " ".join(texts)

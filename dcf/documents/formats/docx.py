"""DOCX, by python-docx."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from dcf.documents.block import Block, BlockKind, Reading, table_lines
from dcf.documents.errors import Corrupt, Encrypted, ReaderMissing, TooMuchText

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""What a file of old Word begins with, and what a password is put around a new one."""
_UNPACKED = 16
"""Bytes of a package for each character that may come of it: XML says much beside the text."""
_NEEDED = ("/officeDocument", "/header", "/footer")
"""How the types of references end whose parts hold text."""
_WIDEST = 1_000
"""Columns that a cell may span: Word has tables of at most 63."""
_UNWRAPPED = ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "fldSimple")
_NOTES = ("/footnotes", "/endnotes")
_SEPARATORS = ("separator", "continuationSeparator")
_HEADING = "heading "
_AROUND = [
    f"{which}{what}" for what in ("header", "footer") for which in ("first_page_", "", "even_page_")
]
_NO_TITLE = "Word Document"
"""What python-docx says of one that has no properties."""


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """Headings, paragraphs, tables, and what stands in boxes; each paragraph and row is a line.
    Behind them what stands above and below the text of pages, and notes. Raises ReaderMissing,
    Encrypted, Corrupt, TooMuchText."""
    document = opened(data, reading)
    title = document.core_properties.title or ""
    reading.title = "" if title == _NO_TITLE else title
    line = 1
    for block in _all_of(document):
        if not block.text.strip():
            continue
        lines = block.text.count("\n") + 1
        yield replace(block, first_line=line, last_line=line + lines - 1)
        line += lines


def _all_of(document: Document) -> Iterator[Block]:
    yield from _blocks(document.iter_inner_content())
    yield from _blocks(around(document))
    yield from (Block("text", note) for note in notes(document))


def _blocks(content: Iterator[Paragraph | Table]) -> Iterator[Block]:
    from docx.table import Table

    for one in content:
        if isinstance(one, Table):
            yield from _table(one)
        else:
            yield _paragraph(one)
            yield from _blocks(boxed(one))


def opened(data: bytes, reading: Reading) -> Document:
    """The document in ``data``, of which at most ``reading.most`` characters may come; parts that
    it refers to and does not have are left out with a warning. What is inserted, or stands in a
    field, is text as any other. Raises ReaderMissing, Encrypted, Corrupt, TooMuchText."""
    try:
        import docx
        from docx.opc.exceptions import PackageNotFoundError
    except ImportError as error:
        raise ReaderMissing(format="DOCX", package="python-docx") from error
    _check(data, reading.most)
    try:
        document = docx.Document(io.BytesIO(_without_lost(data, reading)))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise Corrupt(format="docx", reason=_reason(error)) from error
    _unwrap(document.element)
    return document


def _unwrap(element: Any) -> None:
    """Put what somebody inserted, and what stands in fields of a form, where it belongs:
    python-docx passes it over."""
    from docx.oxml.ns import qn

    for found in list(element.iter(*(qn(f"w:{name}") for name in _UNWRAPPED))):
        for child in list(found):
            found.addprevious(child)
        found.getparent().remove(found)


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
                    _unwrap(part._element)
                    yield from part.iter_inner_content()
    except KeyError as error:
        raise Corrupt(format="docx", reason=f"a header or footer is missing: {error}") from error


def boxed(paragraph: Paragraph) -> Iterator[Paragraph | Table]:
    """What stands in the boxes that are tied to ``paragraph``, each once."""
    from docx.oxml.ns import qn
    from docx.table import Table
    from docx.text.paragraph import Paragraph as Inner

    seen = set[str]()
    for box in paragraph._p.iter(qn("w:txbxContent")):
        said = "".join(one.text or "" for one in box.iter(qn("w:t")))
        # A box in a box is tied to a paragraph of that. Older programs are given the same again.
        if next(box.iterancestors(qn("w:p"))) is not paragraph._p or said in seen:
            continue
        seen.add(said)
        for one in box.iterchildren(qn("w:p"), qn("w:tbl")):
            is_table = one.tag == qn("w:tbl")
            yield Table(one, paragraph._parent) if is_table else Inner(one, paragraph._parent)


def notes(document: Document) -> Iterator[str]:
    """What footnotes and endnotes say."""
    from docx.oxml import parse_xml
    from docx.oxml.ns import qn

    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(_NOTES):
            continue
        for note in parse_xml(relation.target_part.blob):
            paragraphs = (
                "".join(one.text or "" for one in paragraph.iter(qn("w:t")))
                for paragraph in note.iter(qn("w:p"))
            )
            said = " ".join(one.strip() for one in paragraphs if one.strip())
            if said and note.get(qn("w:type")) not in _SEPARATORS:
                yield said


def span(cell: Any) -> int:
    """The columns that a cell takes. Raises Corrupt."""
    columns = int(cell.grid_span)
    if columns > _WIDEST:
        raise Corrupt(format="docx", reason=f"a cell of a table spans {columns:,} columns")
    return columns


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


def _without_lost(data: bytes, reading: Reading) -> bytes:
    """``data`` without the references to parts that it does not have, as to pictures; what cannot
    be done without stays."""
    from docx.opc.oxml import serialize_part_xml
    from docx.opc.packuri import PackURI
    from docx.oxml.parser import parse_xml

    lost: list[str] = []
    changed: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = frozenset(packed.namelist())
        for name in (one for one in names if one.endswith(".rels")):
            references = parse_xml(packed.read(name))
            folder = "/" / PurePosixPath(name).parent.parent
            before = len(lost)
            for one in [*references.iterchildren("{*}Relationship")]:
                if one.get("TargetMode") == "External" or one.get("Type", "").endswith(_NEEDED):
                    continue
                target = PackURI.from_rel_ref(str(folder), one.get("Target", "")).membername
                if target not in names:
                    references.remove(one)
                    lost.append(target)
            if len(lost) > before:
                changed[name] = serialize_part_xml(references)
    if not lost:
        return data
    reading.warn("document_parts", f"it refers to what is not in it: {', '.join(sorted(lost)[:5])}")
    whole = io.BytesIO(data)
    with zipfile.ZipFile(whole, "a") as packed, warnings.catch_warnings():
        # Of several with a name the last one counts.
        warnings.filterwarnings("ignore", "Duplicate name")
        for name, content in changed.items():
            packed.writestr(packed.getinfo(name), content)
    return whole.getvalue()


def _paragraph(paragraph: Paragraph) -> Block:
    style = paragraph.style
    name = (style.name or "").lower() if style is not None else ""
    rest = name.removeprefix(_HEADING)
    # The title stands above all headings.
    level = int(rest) + 1 if rest != name and rest.isdecimal() else int(name == "title")
    kind: BlockKind = "heading" if level else "text"
    return Block(kind, paragraph.text, level=level)


def _table(table: Table) -> Iterator[Block]:
    """Its rows that say something, and behind them the tables inside of it that have columns."""
    inside: list[Block] = []
    rows = [row for row in _rows(table, inside) if any(row)]
    if rows:
        yield Block("table", "\n".join(table_lines(rows)), head=2)
    yield from inside


def _rows(table: Table, inside: list[Block]) -> Iterator[list[str]]:
    """Each row with a text for each of its columns: that of a cell which spans several, or rows
    below it, stands in all of them."""
    from docx.table import _Cell

    above: dict[int, str] = {}
    for row in table.rows:
        texts = [""] * min(row.grid_cols_before, _WIDEST)
        for one in row._tr.tc_lst:
            if _goes_on(one):
                # Above it there may be no cell.
                text = above.get(len(texts), "")
            else:
                text = _said(_Cell(one, table).iter_inner_content(), inside)
            texts += [text] * span(one)
        above = dict(enumerate(texts))
        yield texts


def _goes_on(cell: Any) -> bool:
    """Whether it is part of the one above, and says nothing of its own."""
    return bool(cell.vMerge == "continue")


def _said(content: Iterator[Paragraph | Table], inside: list[Block]) -> str:
    """What stands in a cell or a box, with the words of tables and boxes in it; a table in which
    words stand below and beside each other is added to ``inside``."""
    from docx.table import Table, _Cell

    texts = []
    for one in content:
        if not isinstance(one, Table):
            texts += [one.text, _said(boxed(one), inside)]
            continue
        rows = [[cell for cell in row.tc_lst if not _goes_on(cell)] for row in one._tbl.tr_lst]
        if len(rows) > 1 and max(map(len, rows)) > 1:
            inside += _table(one)
        else:
            cells = (_Cell(cell, one) for row in rows for cell in row)
            texts += [_said(cell.iter_inner_content(), inside) for cell in cells]
    return " ".join(text for text in texts if text)

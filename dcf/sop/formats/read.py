"""The source of a runbook in any format that is read."""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType

from dcf.problem import Problem
from dcf.sop.formats.time_limit import TooSlow, time_limit
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.blocks import mended
from dcf.sop.runbook.front import front_end
from dcf.sop.runbook.source import Source, no_draft, readable
from dcf.text_marks import unmarked

_RST, _ASCIIDOC, _HTML, _DOCX = "reStructuredText", "AsciiDoc", "HTML", "DOCX"
_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((".rst", ".rest"), _RST),
        **dict.fromkeys((".adoc", ".asciidoc", ".asc"), _ASCIIDOC),
        **dict.fromkeys((".html", ".htm", ".xhtml"), _HTML),
        ".docx": _DOCX,
    }
)
_OTHERS: Mapping[str, str] = MappingProxyType(
    {
        ".pdf": "PDF",
        ".doc": "a document of Word 97 to 2003",
        ".odt": "a document of OpenDocument",
        ".rtf": "RTF",
        ".pptx": "a presentation",
        ".xlsx": "a spreadsheet",
    }
)
_BEGINNINGS: Mapping[bytes, str] = MappingProxyType({b"%PDF-": ".pdf", b"\xd0\xcf\x11\xe0": ".doc"})
_PAGE = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype\s+html|<html\b|<ac:)", re.IGNORECASE)
_CHARSET = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_SECONDS = 20.0
"""Processor time that a parser may take; a text of the largest size takes two or three."""
_DECLARES = 2_048
"""Bytes at the beginning of a page in which it may say how it is encoded."""
INSTALL_ASCIIDOCTOR = "install it: apt-get install asciidoctor, or npm install -g asciidoctor"


def read_source(data: bytes, file: str) -> Source:
    """The runbook in ``data``, in the format that the name ``file`` shows. Of Markdown and YAML the
    text alone: ``draft_of`` reads it. Raises ``NoDraft`` for what is no text of its format, is
    empty or too large. Not to be called where an event loop runs."""
    suffix = PurePath(file).suffix.lower()
    beginning = next((one for mark, one in _BEGINNINGS.items() if data.startswith(mark)), suffix)
    if beginning in _OTHERS:
        hint = "save it as DOCX, HTML or Markdown"
        raise no_draft("SOP_FORMAT", f"this is {_OTHERS[beginning]}", hint, file, None)
    format = _FORMATS.get(suffix)
    if format == _DOCX:
        return _docx(data, file)
    text = _decoded(data, file, declares=format == _HTML)
    if format is None and not suffix.startswith((".md", ".markdown", ".y")) and _PAGE.match(text):
        format = _HTML
    if format is None:
        return Source(text, file)
    text = readable(text, file)
    end = front_end(text)
    # What follows stays at its lines.
    body = "\n" * text.count("\n", 0, end) + text[end:]
    return _parsed(Source(body, file, format, front=text[:end]))


def _parsed(source: Source) -> Source:
    """``source`` with its blocks. Raises ``NoDraft`` for a text that is made to do harm."""
    try:
        with time_limit(_SECONDS):
            return _READERS[source.format](source)
    except RecursionError:
        message = f"it nests too deep to be read as {source.format}"
    except TooSlow:
        message = f"to read it as {source.format} takes more than {_SECONDS:g} s"
    raise no_draft("SOP_FORMAT", message, "split it, or save it anew", source.file, None)


def _decoded(data: bytes, file: str, *, declares: bool) -> str:
    data, encoding = unmarked(data)
    declared = _CHARSET.search(data[:_DECLARES]) if declares and not encoding else None
    try:
        return data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if declared is not None and (known := _known(declared[1].decode("ascii", "replace"))):
            return data.decode(known, "replace")
        line = data.count(b"\n", 0, error.start) + 1
        message = f"this is no text in {(encoding or 'UTF-8').upper()} (byte {error.start:,})"
        raise no_draft("SOP_ENCODING", message, "save it as UTF-8", file, line) from None


def _known(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


def _rst(source: Source) -> Source:
    # Loaded when it is needed: docutils is no part of other formats.
    from dcf.sop.formats.rst import read_rst, without_marks

    blocks = mended(read_rst(source.text))
    return replace(source, text=without_marks(source.text), blocks=tuple(blocks))


def _asciidoc(source: Source) -> Source:
    from dcf.sop.formats.asciidoc import NoAsciidoctor, program, read_asciidoc, without_marks

    found = program()
    try:
        if found is None:
            raise NoAsciidoctor("Asciidoctor is not installed")
        blocks = mended(read_asciidoc(source.text, found))
    except NoAsciidoctor as missing:
        message = f"it is read as if it were Markdown: {missing}"
        noted = Problem(
            "SOP_FORMAT",
            message,
            hint=INSTALL_ASCIIDOCTOR,
            severity="warning",
            file=source.file or None,
        )
        body = source.text[source.front.count("\n") :]
        return Source(source.front + body, source.file, problems=(noted,))
    return replace(source, text=without_marks(source.text), blocks=tuple(blocks))


def _html(source: Source) -> Source:
    from dcf.sop.formats.page import Page

    page = Page(source.text)
    blocks = mended(page.blocks)
    if page.title and not any(block.kind == "heading" and block.level == 1 for block in blocks):
        blocks.insert(0, Block("heading", 1, 1, [(1, page.title)], level=1))
    rows = [page.seen.get(line, "") for line in range(1, source.text.count("\n") + 2)]
    return replace(source, text="\n".join(rows), blocks=tuple(blocks))


def _docx(data: bytes, file: str) -> Source:
    from dcf.documents import DocumentProblem

    try:
        page = _docx_page(data, file)
    except DocumentProblem as error:
        raise no_draft("SOP_FORMAT", str(error), error.hint, file, None) from error
    return _parsed(Source(readable(page, file), file, _DOCX))


def _docx_page(data: bytes, file: str) -> str:
    """The document in ``data`` as HTML, a line for each paragraph that has words, made in a process
    of its own. Raises ``dcf.documents.DocumentProblem``."""
    from dcf.documents import Reader

    async def read() -> str:
        async with Reader() as reader:
            return await reader.page(file, "docx", data)

    return asyncio.run(read())


_READERS: Mapping[str, Callable[[Source], Source]] = MappingProxyType(
    {_RST: _rst, _ASCIIDOC: _asciidoc, _HTML: _html, _DOCX: _html}
)

"""PDF, by PDFium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dcf.documents.block import Block, Reading
from dcf.documents.errors import Corrupt, Encrypted, ReaderMissing, Scanned
from dcf.documents.formats.text import paragraphs

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_MOST_PAGES = 20_000
_SHOWN = 20
_WRONG_PASSWORD = 4
"""FPDF_ERR_PASSWORD."""
# What PDFium has in the place of a hyphen that only divides a word at the end of its line, and
# mostly of the end too.
_DIVIDED = re.compile("[\ufffe\x02]\n?")


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The text of each page. Raises ReaderMissing, Encrypted, Scanned, Corrupt."""
    try:
        import pypdfium2
    except ImportError as error:
        raise ReaderMissing(format="PDF", package="pypdfium2") from error
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        # Of a file that fails otherwise the code may be that of the file before.
        if error.err_code == _WRONG_PASSWORD and b"/Encrypt" in data:
            raise Encrypted() from error
        raise Corrupt(format="pdf", reason=str(error)) from error
    reading.pages = len(document)
    if reading.pages > _MOST_PAGES:
        raise Corrupt(format="pdf", reason=f"it claims to have {reading.pages:,} pages")
    reading.title = document.get_metadata_dict().get("Title", "")
    without = []
    for number in range(1, reading.pages + 1):
        text = _text(document, number)
        if not text.strip():
            without.append(number)
        yield from paragraphs(text, None, number)
    if len(without) == reading.pages:
        raise Scanned(pages=reading.pages)
    if without:
        shown = ", ".join(map(str, without[:_SHOWN])) + (" …" if len(without) > _SHOWN else "")
        message = f"{len(without):,} of {reading.pages:,} pages have no text: {shown}"
        reading.warn("document_pages", message, "what stands in pictures there is not found")


def _text(document: PdfDocument, number: int) -> str:
    page = document[number - 1]
    text: str = page.get_textpage().get_text_range().replace("\r\n", "\n")
    page.close()
    return _DIVIDED.sub("", text)

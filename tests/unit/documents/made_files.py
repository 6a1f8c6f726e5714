"""Files of the formats that documents have, made as small as they can be."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence

import docx

PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/'
    '2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
}
"""What a DOCX has beside its text."""
BODY = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body>{}</w:body></w:document>"
)
PARAGRAPH = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"


def docx_file(
    paragraphs: Sequence[tuple[str, str]], table: Sequence[Sequence[str]] = (), title: str = ""
) -> bytes:
    """A DOCX of paragraphs, each with its style, and a table, as Word would write it."""
    document = docx.Document()
    document.core_properties.title = title
    for style, text in paragraphs:
        document.add_paragraph(text, style)
    if table:
        made = document.add_table(rows=0, cols=len(table[0]))
        for row in table:
            for cell, text in zip(made.add_row().cells, row, strict=True):
                cell.text = text
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def raw_docx(document: str) -> bytes:
    """A DOCX with this XML as its text."""
    return packed({**PARTS, "word/document.xml": document})


def pdf_file(pages: Sequence[str | bytes], *, more: str = "", title: str = "") -> bytes:
    """A PDF with lines of text on each page; bytes are a page's content as PDF has it. ``more``
    goes into the trailer."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, page in enumerate(pages):
        content = page if isinstance(page, bytes) else _shown(page)
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
            b"/Contents %d 0 R>>" % (5 + 2 * number),
            b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream"
            % (len(zlib.compress(content)), zlib.compress(content)),
        ]
    if title:
        objects.append(f"<</Title({title})>>".encode())
        more += f"/Info {len(objects)} 0 R"
    return pdf_of(objects, more)


def pdf_of(objects: Sequence[bytes], more: str = "") -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    data, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = f"trailer<</Size {size}/Root 1 0 R{more}>>\nstartxref\n{len(data)}\n%%EOF".encode()
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % size + rows + trailer


def _shown(text: str) -> bytes:
    lines = b" ".join(
        b"(%s) Tj 0 -14 Td" % line.encode("latin-1").replace(b"(", b"\\(").replace(b")", b"\\)")
        for line in text.split("\n")
    )
    return b"BT /F 11 Tf 50 750 Td %s ET" % lines

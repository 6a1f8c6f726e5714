"""Files that were made to do harm, or are damaged."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

from unit.documents.made_files import (
    BODY,
    PARAGRAPH,
    PARTS,
    docx_file,
    packed,
    pdf_file,
    pdf_of,
    raw_docx,
)

OLE = bytes.fromhex("d0cf11e0a1b11ae1")
Hostile = tuple[bytes, str | None]


def hostile_files(canary: str, size: int) -> Mapping[str, Hostile]:
    """The bytes of each by its name, and the code with which it is refused (None: it is read).
    ``canary`` is the path of a file that nothing may read; ``size`` makes them small or large."""
    return {**_docx(canary, size), **_pdf(canary, size), **_texts(canary, size)}


def _docx(canary: str, size: int) -> Mapping[str, Hostile]:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    outside = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{canary}">]>'
    remote = '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/d.dtd">'
    deep = "<w:tbl><w:tr><w:tc>" * size + PARAGRAPH.format("x") + "</w:tc></w:tr></w:tbl>" * size
    whole = docx_file([("Normal", "whole")])
    entity = BODY.format(PARAGRAPH.format("before &x; after"))
    return {
        "bomb.docx": (raw_docx(" " * 20_000_000), "document_much_text"),
        "laughs.docx": (
            raw_docx(f'<!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]>' + entity.replace("&x;", "&l9;")),
            "document_corrupt",
        ),
        # The entity stands for nothing: what is around it is read.
        "entity.docx": (raw_docx(outside + entity), None),
        "remote.docx": (raw_docx(remote + BODY.format(PARAGRAPH.format("text"))), None),
        "deep.docx": (raw_docx(BODY.format(deep)), "document_corrupt"),
        "no-text.docx": (packed(PARTS), "document_corrupt"),
        "empty.docx": (raw_docx(BODY.format("")), "document_empty"),
        "cut.docx": (whole[: len(whole) // 2], "document_corrupt"),
        "turned.docx": (whole[:400] + bytes(400) + whole[800:], "document_corrupt"),
        "not-xml.docx": (raw_docx("<w:document"), "document_corrupt"),
        "climbing.docx": (
            packed({**PARTS, "../../evil.txt": "evil", "word/document.xml": entity[:0]}),
            "document_corrupt",
        ),
        "locked.docx": (
            OLE + bytes(500) + "EncryptedPackage".encode("utf-16-le"),
            "document_encrypted",
        ),
        "old.docx": (OLE + bytes(500), "document_corrupt"),
        "zip.docx": (packed({"a.txt": "a"}), "document_corrupt"),
    }


def _pdf(canary: str, size: int) -> Mapping[str, Hostile]:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]%s>>"
    catalog = b"<</Type/Catalog/Pages 2 0 R>>"
    locked = f"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{'1' * 64}>/U<{'2' * 64}>>>"
    whole = pdf_file(["whole"])
    twice = zlib.compress(inflating(400))
    form = (
        b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>"
        b"/Length 5>>stream\n/X Do\nendstream"
    )
    launch = b"<</S/Launch/F(%s)>>" % canary.encode()
    return {
        "locked.pdf": (pdf_file(["hello"], more=locked), "document_encrypted"),
        "scanned.pdf": (pdf_file([b"0 0 9 9 re f"] * 3), "document_scanned"),
        "cut.pdf": (whole[: len(whole) // 3], "document_corrupt"),
        "noise.pdf": (b"%PDF-1.7\n" + bytes(range(256)) * 40, "document_corrupt"),
        "no-pages.pdf": (
            pdf_of([catalog, b"<</Type/Pages/Count 0/Kids[]>>"]),
            "document_corrupt",
        ),
        "circle.pdf": (
            pdf_of([catalog, b"<</Type/Pages/Count 2/Kids[2 0 R 2 0 R]>>"]),
            "document_corrupt",
        ),
        "claims.pdf": (
            pdf_of([catalog, b"<</Type/Pages/Count 2147483647/Kids[3 0 R]>>", page % b""]),
            "document_scanned",
        ),
        "flate.pdf": (
            pdf_of(
                [
                    catalog,
                    b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
                    page % b"/Contents 4 0 R",
                    b"<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream"
                    % (len(twice), twice),
                ]
            ),
            "document_deadly",
        ),
        "itself.pdf": (
            pdf_of(
                [
                    catalog,
                    b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
                    page % b"/Resources<</XObject<</X 4 0 R>>>>/Contents 4 0 R",
                    form,
                ]
            ),
            "document_scanned",
        ),
        "deep.pdf": (
            pdf_of([catalog, b"<</Type/Pages/Kids" + b"[" * 50 * size + b">>"]),
            "document_corrupt",
        ),
        "launch.pdf": (
            pdf_file(["text"]).replace(b"/Catalog", b"/Catalog/OpenAction" + launch),
            None,
        ),
    }


def inflating(megabytes: int) -> bytes:
    """So many zeros, packed by repeating what one megabyte of them becomes."""
    packer = zlib.compressobj(9)
    head = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    one = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + one * (megabytes - 1) + packer.flush()


def _texts(canary: str, size: int) -> Mapping[str, Hostile]:
    parts = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(20 * size)
    )
    include = f'<iframe src="file://{canary}"></iframe><p>text</p>'.encode()
    xml = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{canary}">]><p>text &x;</p>'.encode()
    odd = {"cells": [{"source": 7, "outputs": [None, {"text": {}}]}, {"source": ["a", 1]}]}
    return {
        "nested.html": (b"<div>" * 20 * size + b"text", None),
        "attributes.html": (b"<a " + b"a='" * 10 * size + b"><p>text", None),
        "comments.html": (b"<!--" * 10 * size, "document_empty"),
        "include.html": (include, None),
        "entity.xhtml": (xml, None),
        "references.html": (b"<p>text&#0;&#xD800;&#99999999999;&bogus;</p>", None),
        "quotes.md": (b">" * 5 * size + b" text", None),
        "lists.md": (b"- " * size + b"text", None),
        "brackets.md": (b"[" * 20 * size, "document_empty"),
        "rules.md": (b"| a |\n| - |\n" * size, None),
        "nested.ipynb": (b'{"cells":' + b"[" * 200 * size, "document_deep"),
        "odd.ipynb": (json.dumps(odd).encode(), None),
        "no-cells.ipynb": (b'{"cells": {"a": 1}}', "document_corrupt"),
        "number.ipynb": (b'{"cells": [' + b"9" * 50 * size + b"]}", "document_corrupt"),
        "nested.eml": (b"From: a@b.c\n" + parts + b"text", "document_deep"),
        "charset.eml": (b"From: a@b.c\nContent-Type: text/plain; charset=no-such\n\nt\xff", None),
        "header.eml": (b"Subject: " + b"=?utf-8?q?a?= " * size + b"\n\ntext", None),
        "nul.csv": (b"a,b\n1,\0\n", "document_binary"),
        "wide.csv": (b"a," * 20 * size + b"\n" + b"1," * 20 * size, None),
        "quote.csv": (b'a,b\n"' + b"x,\n" * 5 * size, None),
        "half.txt": ("a\ud800b".encode("utf-16-le", "surrogatepass"), "document_binary"),
        "marked.txt": (b"\xff\xfe" + "a\ud800b".encode("utf-16-le", "surrogatepass"), None),
        "line.txt": (b"a" * 1000 * size, None),
        "nothing.txt": (b" \n\t\n", "document_empty"),
        "deep.py": (b"(" * 50 * size + b"x", None),
    }

"""What of each format is kept, and where it is said to stand."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
import zipfile

import docx
import pytest
from unit.documents.made_files import BODY, PARAGRAPH, PARTS, docx_file, packed, pdf_file, raw_docx

from dcf.documents import FORMATS, DocumentProblem, ReadDocument, ResourceLimits, format_of
from dcf.documents.errors import Corrupt
from dcf.documents.formats import text as text_format
from dcf.documents.formats.docx_page import page
from dcf.documents.piece import LONGEST
from dcf.documents.worker import read


def document(name: str, data: bytes | str, **limits: int) -> ReadDocument:
    """As the process reads it."""
    content = data.encode() if isinstance(data, str) else data
    return read(name, str(format_of(name)), content, ResourceLimits(**limits))


def places(read: ReadDocument) -> list[tuple[object, ...]]:
    """Where each piece stands, under which heading, and how it begins."""
    return [
        (one.first_line, one.last_line, one.page, one.headings[-1:], one.text.split("\n")[0])
        for one in read.pieces
    ]


def test_every_format_has_a_parser_and_an_ending() -> None:
    from dcf.documents.formats import parser

    assert all(callable(parser(one)) for one in FORMATS)
    assert [format_of(one) for one in ("a/README", "a.MD", "a.tar.gz", "a.png")] == [
        "text",
        "markdown",
        None,
        None,
    ]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.py"])
def test_too_much_text_is_refused_before_secrets_are_looked_for(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(
        text_format, "without_secrets", lambda text, **_: looked.append(text) or text
    )
    with pytest.raises(DocumentProblem, match="more than 1,000 characters"):
        document(name, "tea. " * 201, characters=1_000)
    assert looked == []
    assert document(name, "tea. " * 90, characters=1_000).pieces and len(looked) == 1


def test_much_of_html_is_no_text() -> None:
    assert document("a.html", f"<p class='{'x' * 2_000}'>Tea.</p>", characters=1_000).pieces


def test_markdown_is_cut_at_headings_and_cites_lines() -> None:
    read = document(
        "a.md",
        "---\nowner: ann\n---\n# Pumps\n\nA pump.\n\n```\n# no heading\n```\n\n"
        "Seals\n-----\n\nLeak.\n",
    )
    assert read.title == "Pumps"
    assert places(read) == [
        (1, 3, None, (), "---"),
        (4, 10, None, ("Pumps",), "# Pumps"),
        (12, 15, None, ("Seals",), "Seals"),
    ]
    assert "# no heading" in read.pieces[1].text


def test_headings_in_lists_and_quotations_begin_pieces_too() -> None:
    read = document(
        "a.md", "1. ### Why?\n\n    So.\n\n2. ### How?\n\n    Thus.\n\n> # End\n> it is\n"
    )
    assert [(one.first_line, one.last_line, one.headings) for one in read.pieces] == [
        (1, 3, ("Why?",)),
        (5, 7, ("How?",)),
        (9, 10, ("End",)),
    ]


def test_headings_without_text_take_no_time() -> None:
    began = time.process_time()
    document("a.html", "<h1>x" * 12_000)
    assert time.process_time() - began < 1


def test_a_long_table_is_cut_with_its_columns_named_in_each_piece() -> None:
    rows = [f"| part {n} | {n} Euro |" for n in range(200)]
    read = document("a.md", "\n".join(["# Prices", "", "| part | price |", "| - | - |", *rows]))
    assert len(read.pieces) > 2
    for one in read.pieces[1:]:
        assert one.text.startswith("| part | price |\n| - | - |\n| part ")
        assert len(one.text) <= LONGEST
    # The row of part 150 stands in line 155 of the file, and in the piece that cites it.
    (found,) = (one for one in read.pieces if "| part 150 |" in one.text)
    assert found.first_line is not None and found.last_line is not None
    assert found.first_line <= 155 <= found.last_line < found.first_line + 80


def test_csv_names_columns_and_cites_lines_also_of_cells_with_several() -> None:
    rows = "".join(f'tea {n};"1\n2"\n' for n in range(30))
    read = document("a.csv", f"name;size\n{rows}")
    assert read.pieces[0].text.startswith("| name | size |\n| --- | --- |\n| tea 0 | 1 2 |")
    assert all("| name | size |" in one.text for one in read.pieces)
    # 20 rows of two lines each, from line 2 on.
    assert [(one.first_line, one.last_line) for one in read.pieces] == [(2, 61)]
    assert document("b.tsv", "a\tb\n").pieces[0].text == "| a | b |\n| --- | --- |"
    # What others in this process may read stays.
    assert csv.field_size_limit() >= 131_072


def test_html_is_what_is_seen_of_it() -> None:
    read = document(
        "a.html",
        "<html><head><title>Shop</title><style>p {}</style></head><body>\n"
        "<h1>Tea</h1>\n<p>Green <b>tea</b><br>is &amp; stays\ngreen.</p><script>x()</script>\n"
        "<table><tr><th>kind</th><th>g</th></tr>\n<tr><td>a|b</td><td>5</td></tr></table>\n"
        "<h2>Cups</h2><pre>a\n  b</pre></body>",
    )
    assert read.title == "Shop"
    assert places(read) == [
        (2, 6, None, ("Tea",), "Tea"),
        (7, 8, None, ("Cups",), "Cups"),
    ]
    assert "Green tea is & stays green." in read.pieces[0].text
    assert "| kind | g |\n| --- | --- |\n| a\\|b | 5 |" in read.pieces[0].text
    assert "a\n  b" in read.pieces[1].text


@pytest.mark.parametrize(
    ("html", "rows"),
    [
        ("<tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4", ["a | b", "1 | 2", "3 | 4"]),
        ("<thead><tr><td>a<td>b<tbody><tr><td>1<td>2", ["a | b", "1 | 2"]),
        ("<tr><td>a<td>b<td>c<tr><td><td>2<td>3", ["a | b | c", " | 2 | 3"]),
        ("<tr><td>a<td>b<td>c<tr><td colspan=2>1<td>3", ["a | b | c", "1 | 1 | 3"]),
        ("<tr><td>a<td>b<tr><td rowspan=2>1<td>2<tr><td>4", ["a | b", "1 | 2", "1 | 4"]),
        ("<tr><td>a<td>b<tr><td>1<td rowspan=2>2<tr><td>3<tr>", ["a | b", "1 | 2", "3 | 2"]),
        ("<tr><td colspan=9>a<tr><td>1<td>2", ["a | a", "1 | 2"]),
        (
            "<tr><td>a<td>b<tr><td rowspan=0>1<td>2<tr><td>4<tbody><tr><td>5<td>6",
            ["a | b", "1 | 2", "1 | 4", "5 | 6"],
        ),
        ("<tr><td>a<td>b<tr><td colspan=x>1<td rowspan=-1>2", ["a | b", "1 | 2"]),
    ],
)
@pytest.mark.parametrize("end", ["</table>", ""])
def test_columns_of_an_html_table_are_what_its_cells_say(
    html: str, rows: list[str], end: str
) -> None:
    """HTML Standard, 13.1.2.4 (end tags that may be omitted) and 4.9.12 (forming a table)."""
    (piece,) = document("a.html", f"<p>Tea.\n<table><caption>Of x\n{html}{end}").pieces
    said, caption, table = piece.text.split("\n\n")
    head, rule, *below = table.split("\n")
    assert (said, caption, rule) == ("Tea.", "Of x", "|" + " --- |" * (rows[0].count("|") + 1))
    assert [head, *below] == [f"| {row} |" for row in rows]
    assert (piece.first_line, piece.last_line) == (1, 3)


def test_words_in_cells_of_an_html_table_stay_apart_and_inner_tables_keep_their_columns() -> None:
    inner = "<table><tr><th>user</th><th>password</th></tr><tr><td>ann</td><td>hunter2-Xk29</td>"
    html = (
        "<table><tr><td>To</td><td><p>The zebra invoice</p><p>is <b>d</b>ue</p>\n"
        f"<ul><li>now</li></ul>{inner}</tr></table>thanks</td></tr></table><p>Bye"
    )
    (piece,) = document("a.html", html).pieces
    assert piece.text.split("\n\n") == [
        "| To | The zebra invoice is due now thanks |\n| --- | --- |",
        "| user | password |\n| --- | --- |\n| ann | [redacted: password] |",
        "Bye",
    ]
    # One that has no columns is words of its cell, which the column around it is about.
    html = f"<table><tr><td>password<tr><td><table><tr><td>hunter2-Xk29</table>{inner}"
    (piece,) = document("a.html", html).pieces
    assert "hunter2" not in piece.text
    letter = document(
        "a.eml",
        "From: a@b.c\nContent-Type: text/html\n\n<table><tr><td><table><tr><td>Your invoice"
        "<tr><td><table><tr><td>Order 4711<td colspan=2>Total <b>30</b> EUR</table></table>",
    )
    assert letter.pieces[0].text.endswith("| Your invoice Order 4711 Total 30 EUR |\n| --- |")


def test_a_notebook_has_a_page_for_each_cell() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Fit\n", "\n", "A line."]},
        {
            "cell_type": "code",
            "source": "fit(x)",
            "outputs": [{"text": ["slope 2\n"]}, {"data": {"text/plain": "'done'"}}],
        },
    ]
    read = document("a.ipynb", json.dumps({"cells": cells}))
    assert (read.title, read.pages) == ("Fit", 2)
    assert places(read) == [
        (None, None, 1, ("Fit",), "# Fit"),
        (None, None, 2, ("Fit",), "fit(x)"),
    ]
    assert read.pieces[1].text == "fit(x)\n\nslope 2\n\n'done'"
    error = {"output_type": "error", "ename": "NoFit", "evalue": "singular"}
    cells[1]["outputs"] = [error | {"traceback": ["\x1b[0;31mIn fit", "line 3\x1b[0m"]}, error]
    (_, code) = document("a.ipynb", json.dumps({"cells": cells})).pieces
    assert code.text == "fit(x)\n\nNoFit: singular\nIn fit\nline 3\n\nNoFit: singular"


def test_a_letter_is_read_once_and_its_attachments_are_named() -> None:
    read = document(
        "a.eml",
        "From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: =?utf-8?q?Caf=C3=A9?=\n"
        'X-Spam: no\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="m"\n\n'
        '--m\nContent-Type: multipart/alternative; boundary="a"\n\n'
        "--a\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
        "VGhlIGNhZsOpIG9wZW5zLg==\n--a\nContent-Type: text/html\n\n"
        "<p>The caf&eacute; <i>opens</i></p>\n--a--\n"
        "--m\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=menu.pdf\n\n"
        "x\n--m--\n",
    )
    assert read.title == "Café"
    assert read.pieces[0].text == (
        "From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: Café\n\n"
        "The café opens.\n\nAttachments: menu.pdf"
    )
    both = "".join(
        f"--a\nContent-Type: text/{kind}\n\n{text}\n"
        for kind, text in (("plain", "We open."), ("html", "<p>We <b>open</b>.<p>Ring twice."))
    )
    kind = 'Content-Type: multipart/alternative; boundary="a"'
    letter = document("c.eml", f"From: a@b.c\n{kind}\n\n{both}--a--\n")
    assert letter.pieces[0].text == "From: a@b.c\n\nWe open.\n\nRing twice."
    only = "From: a@b.c\nContent-Type: text/html\n\n<p>Only <i>here</i></p>"
    assert document("b.eml", only).pieces[0].text == "From: a@b.c\n\nOnly here"


@pytest.mark.parametrize("charset", ["nobody", "idna", "punycode", "undefined", "utf\0-8"])
def test_a_letter_in_a_character_set_of_no_texts_is_read_as_utf_8(charset: str) -> None:
    body = f'Content-Type: text/plain; charset="{charset}"\nContent-Transfer-Encoding: 8bit'
    letter = document("a.eml", f"From: a@b.c\n{body}\n\nThe café opens.")
    assert letter.pieces[0].text == "From: a@b.c\n\nThe café opens."
    named = f"Content-Disposition: attachment; filename*={charset}''caf%C3%A9.pdf"
    parts = (
        f"--m\nContent-Type: text/plain; charset*={charset}''utf-8\n\nHi\n--m\n{named}\n\nx\n--m--"
    )
    letter = document(
        "b.eml", f"From: a@b.c\nContent-Type: multipart/mixed; boundary=m\n\n{parts}\n"
    )
    assert letter.pieces[0].text == "From: a@b.c\n\nHi\n\nAttachments: café.pdf"


def test_a_pdf_cites_pages_and_says_which_have_no_text() -> None:
    pages = ["The valve (closed)\nturns.", b"0 0 9 9 re f", "It opens."]
    read = document("a.pdf", pdf_file(pages, title="Valves"))
    assert (read.title, read.pages) == ("Valves", 3)
    assert places(read) == [
        (None, None, 1, (), "The valve (closed)"),
        (None, None, 3, (), "It opens."),
    ]
    (problem,) = read.problems
    assert problem.code == "document_pages" and "1 of 3 pages" in problem.message
    assert problem.severity == "warning"


def test_a_word_that_a_line_of_a_pdf_divides_is_one() -> None:
    read = document("a.pdf", pdf_file(["The confi-\ndence is high."]))
    assert read.pieces[0].text == "The confidence is high."


def test_headers_and_footers_of_a_docx_stand_behind_its_text() -> None:
    made = docx.Document()
    made.add_paragraph("We sow.")
    made.sections[0].header.paragraphs[0].text = "Secret plan"
    made.sections[0].footer.paragraphs[0].text = "Version 3"
    made.add_section()
    stream = io.BytesIO()
    made.save(stream)
    (piece,) = document("a.docx", stream.getvalue()).pieces
    assert piece.text.split("\n\n") == ["We sow.", "Secret plan", "Version 3"]


def test_docx_keeps_headings_tables_and_tables_inside_of_tables() -> None:
    written = [
        ("Title", "Report"),
        ("Heading 1", "Pumps"),
        ("Normal", "A pump moves water."),
        ("Heading 2", "Seals"),
        ("Normal", "Seals leak."),
    ]
    read = document("a.docx", docx_file(written, [["part", "price"], ["seal", "3"]], "Plant"))
    assert read.title == "Plant"
    assert [(one.first_line, one.last_line, one.headings) for one in read.pieces] == [
        (1, 3, ("Report", "Pumps")),
        (4, 8, ("Report", "Pumps", "Seals")),
    ]
    assert read.pieces[1].text.endswith("| part | price |\n| --- | --- |\n| seal | 3 |")
    inner = f"<w:tbl><w:tr><w:tc>{PARAGRAPH.format('within')}</w:tc></w:tr></w:tbl>"
    outer = f"<w:tbl><w:tr><w:tc>{inner}<w:p/></w:tc></w:tr></w:tbl>"
    assert "within" in document("b.docx", raw_docx(BODY.format(outer))).pieces[0].text


def test_what_is_inserted_or_stands_in_fields_boxes_and_notes_of_a_docx_is_read() -> None:
    """ECMA-376, part 1, 17.13.5.18 (ins), 17.5.2 (sdt), 17.16.19 (fldSimple), 17.11 (notes)."""
    run = "<w:r><w:t>{}</w:t></w:r>"
    cell = f"<w:tc>{PARAGRAPH.format('in a cell')}</w:tc>"
    box = (
        f"<w:r><w:pict><w:txbxContent>{PARAGRAPH.format('in a box')}<w:tbl><w:tr>"
        f"{cell}</w:tr></w:tbl></w:txbxContent></w:pict></w:r>"
    )
    body = (
        f"<w:p>{run.format('Pay ')}<w:ins w:id='1'>{run.format('nothing')}</w:ins>"
        f"<w:del w:id='2'><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
        f"<w:sdt><w:sdtContent>{PARAGRAPH.format('in a form')}</w:sdtContent></w:sdt>"
        f"<w:p><w:fldSimple w:instr='REF a'>{run.format('in a field')}</w:fldSimple>"
        f"{box * 2}</w:p><w:tbl><w:tr><w:tc><w:p>{box}</w:p></w:tc></w:tr></w:tbl>"
    )
    notes = (
        f'<w:footnote w:type="separator">{PARAGRAPH.format("a line")}</w:footnote>'
        f"<w:footnote>{PARAGRAPH.format('in a') + PARAGRAPH.format('note')}</w:footnote>"
    )
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = f'<Relationship Id="r1" Type="{office}" Target="footnotes.xml"/>'
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    data = packed(
        {
            **PARTS,
            "[Content_Types].xml": PARTS["[Content_Types].xml"].replace(
                "<Override ",
                '<Default Extension="xml" ContentType="application/xml"/><Override ',
                1,
            ),
            "word/document.xml": BODY.format(body),
            "word/footnotes.xml": BODY.format(notes)
            .replace("w:document", "w:footnotes")
            .replace("<w:body>", "")
            .replace("</w:body>", ""),
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}">{relation}'
            "</Relationships>",
        }
    )
    (piece,) = document("a.docx", data).pieces
    assert piece.text.split("\n\n") == [
        "Pay nothing",
        "in a form",
        "in a field",
        "in a box",
        "| in a cell |\n| --- |",
        "| in a box in a cell |\n| --- |",
        "in a note",
    ]
    # As a page for dcf.sop it says the same.
    shown = re.sub(r"<[^>]*>", " ", "".join(page(data, 1_000_000))).split()
    assert shown == re.sub(r"[|-]", " ", piece.text).split()


def test_a_docx_whose_picture_is_missing_is_read_and_says_so() -> None:
    made = io.BytesIO(docx_file([("Normal", "We sow.")]))
    rels = "word/_rels/document.xml.rels"
    with zipfile.ZipFile(made, "a") as archive:
        told = archive.read(rels).decode()
        picture = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
        lost = "".join(
            f'<Relationship Id="rIdX{number}" Type="{picture}" Target="{target}"/>'
            for number, target in enumerate(("media/image1.png", "NULL", "../gone/a.png"))
        )
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(rels, told.replace("</Relationships>", f"{lost}</Relationships>"))
    read = document("a.docx", made.getvalue())
    assert [one.text for one in read.pieces] == ["We sow."]
    (problem,) = read.problems
    assert problem.severity == "warning" and problem.code == "document_parts"
    assert problem.message.endswith(": gone/a.png, word/NULL, word/media/image1.png")


def test_cells_of_a_docx_that_go_on_below_say_the_same_in_each_row() -> None:
    """ECMA-376, part 1, 17.4.84: w:vMerge without a value goes on from the cell above."""

    def cell(text: str, about: str = "") -> str:
        return f"<w:tc><w:tcPr>{about}</w:tcPr>{PARAGRAPH.format(text)}</w:tc>"

    def table(*rows: str) -> list[str]:
        made = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
        read = document("a.docx", raw_docx(BODY.format(f"<w:tbl>{made}</w:tbl>")))
        return read.pieces[-1].text.split("\n")

    begun, on, two = '<w:vMerge w:val="restart"/>', "<w:vMerge/>", '<w:gridSpan w:val="2"/>'
    before = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
    assert table(
        cell("of", on) + cell("user") + cell("password"),
        cell("shop", begun) + cell("ann") + cell("Hunter22xk"),
        cell("", on) + cell("bob") + cell("Hunter22xl"),
        f"{before}{cell('all', two)}",
    ) == [
        "|  | user | password |",
        "| --- | --- | --- |",
        "| shop | ann | [redacted: password] |",
        "| shop | bob | [redacted: password] |",
        "|  | all | [redacted: password] |",
    ]
    # Each row asked the one above it.
    merged = [cell("a"), cell("shop", begun), *[cell("", on)] * 3_000]
    assert table(*merged)[-1] == "| shop |"

    def within(*rows: str) -> str:
        inner = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
        return f"<w:tc><w:tbl>{inner}</w:tbl><w:p/></w:tc>"

    # A table inside of a cell says each of its cells once, and stands behind where it has columns.
    assert table(cell("x"), within(*merged))[2:] == ["| a shop |"]
    assert table(within(cell("", on) + cell("first"))) == ["| first |", "| --- |"]
    secret = cell("user") + cell("password"), cell("ann") + cell("Hunter22xk")
    assert table(cell("shops"), within(*secret)) == [
        "| shops |",
        "| --- |",
        "",
        "| user | password |",
        "| --- | --- |",
        "| ann | [redacted: password] |",
    ]


def test_code_is_cut_at_its_definitions() -> None:
    read = document(
        "a.py", "import os\n\n\ndef open_valve():\n    return os\n\n\nclass A:\n    x = 1\n"
    )
    assert [(one.first_line, one.last_line) for one in read.pieces] == [(1, 3), (4, 5), (8, 9)]
    assert read.pieces[1].text == "def open_valve():\n    return os"


def test_secrets_are_taken_out_before_a_text_is_cut_and_lines_stay_what_they_are() -> None:
    key = "\n".join(
        ["-----BEGIN RSA PRIVATE KEY-----", *["A" * 64] * 40, "-----END RSA PRIVATE KEY-----"]
    )
    read = document("a.txt", f"first\n\n{key}\n\npassword = hunter22hunter\n\nlast")
    text = "\n".join(one.text for one in read.pieces)
    assert "AAAA" not in text and "hunter22" not in text
    assert "[redacted: private key]" in text
    assert read.pieces[-1].last_line == 48
    table = document("a.html", "<table><tr><td>DB_PASSWORD=hunter22hunter</td></tr></table>")
    assert "hunter22" not in table.pieces[0].text


@pytest.mark.parametrize(
    ("name", "data", "code", "said"),
    [
        ("a.txt", b"a\0b", "document_binary", "NUL at byte 1"),
        ("a.md", b" \n", "document_empty", "no text"),
        ("a.pdf", pdf_file([b"0 0 9 9 re f"] * 2), "document_scanned", "2 pages"),
        ("a.docx", b"PK no", "document_corrupt", "not a zip file"),
        ("a.txt", b"word " * 30, "document_much_text", "more than 100 characters"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(
    name: str, data: bytes, code: str, said: str
) -> None:
    with pytest.raises(DocumentProblem) as refused:
        document(name, data, characters=100)
    assert refused.value.code == code
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": "a1"}] * 101})),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": "b2"}] * 101})),
        ("a.html", "<h1>a1</h1>b2" * 101),
        ("a.md", "# a1\n\nb2\n\n" * 101),
    ],
)
def test_a_document_of_very_many_pieces_is_refused_whatever_its_format(
    name: str, data: str
) -> None:
    with pytest.raises(DocumentProblem, match="more than 100 pieces") as refused:
        document(name, data, pieces=100)
    assert refused.value.code == "document_many_pieces"
    assert refused.value.hint
    assert len(document(name, data, pieces=101).pieces) == 101


@pytest.mark.parametrize(
    ("module", "name", "package"),
    [("pypdfium2", "a.pdf", "pypdfium2"), ("docx", "a.docx", "python-docx")],
)
def test_a_reader_that_is_not_installed_is_named_with_what_installs_it(
    module: str, name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DocumentProblem, match=f"package {package}") as refused:
        document(name, b"")
    assert refused.value.code == "document_reader_missing"
    assert "documents" in refused.value.hint


def test_what_is_odd_in_a_file_keeps_nobody_from_the_rest() -> None:
    """UTF-32, and outputs of a notebook that are none."""
    assert document("a.txt", "tea is hot".encode("utf-32")).pieces[0].text == "tea is hot"
    cells = [{"cell_type": "code", "source": "x=1", "outputs": 5}]
    assert document("a.ipynb", json.dumps({"cells": cells})).pieces[0].text == "x=1"


def test_a_cell_that_spans_a_hundred_million_columns_is_refused_at_once() -> None:
    """Each of them took a place: 30 s of processor time for a file of 1 kB."""
    wide = '<w:tcPr><w:gridSpan w:val="99999999"/></w:tcPr>' + PARAGRAPH.format("wide")
    table = f"<w:tbl><w:tr><w:tc>{wide}</w:tc></w:tr></w:tbl>"
    with pytest.raises(Corrupt, match="spans 99,999,999 columns"):
        document("a.docx", raw_docx(BODY.format(table)))


def test_the_passwords_of_a_table_are_in_no_piece() -> None:
    rows = "name,url,username,password\nShop,https://h,ann,Hunter22xk\n"
    table = "<tr><th>User</th><th>Password</th></tr><tr><td>ann</td><td>Hunter22xk</td></tr>"
    marked = "| User | Password |\n| --- | --- |\n| ann | Hunter22xk |\n"
    files = {
        "a.csv": rows,
        "b.csv": "api_key\nA1b2C3d4Hunter22xk\n",
        "a.html": f"<table>{table}</table>",
        "b.html": "<table><tr><th>User<th>Password<tr><td>ann<td>Hunter22xk</table>",
        "c.html": "<table><tr><td>User<td>Password<tr><td><td>Hunter22xk",
        "d.html": "<table><caption>Of us<tr><td>User<td>Password<td>x<tr><td>ann<td>Hunter22xk",
        "a.md": marked,
        "b.md": f"{marked}| bob |\n| cy | Hunter22yl | y |\n",
    }
    for name, text in files.items():
        (piece,) = document(name, text).pieces
        assert "unter22" not in piece.text and "[redacted: " in piece.text


def test_two_tables_beside_each_other_are_two() -> None:
    """The first row of the second one says what its columns are."""
    first = "<table><tr><th>password</th></tr><tr><td>Hunter22xk</td></tr></table>"
    head = "<tr><th>host</th><th>user</th><th>password</th></tr>"
    row = "<tr><td>db1.example</td><td>ann</td><td>Hunter33yl</td></tr>"
    (piece,) = document("a.html", f"{first}<table>{head}{row}</table><p>last").pieces
    assert piece.text.split("\n\n") == [
        "| password |\n| --- |\n| [redacted: password] |",
        "| host | user | password |\n| --- | --- | --- |\n"
        "| db1.example | ann | [redacted: password] |",
        "last",
    ]


def test_bytes_that_are_no_utf8_are_a_warning_with_their_line() -> None:
    read = document("a.txt", "café\ntw".encode() + b"\xff\n")
    assert read.pieces[0].text == "café\ntw�"
    assert "line 2" in read.problems[0].message
    latin = document("a.txt", "one\nThe café costs 3 €.".encode("cp1252"))
    assert latin.pieces[0].text == "one\nThe café costs 3 €."
    assert "line 2" in latin.problems[0].message and "Windows-1252" in latin.problems[0].message
    assert document("b.txt", "\ufeffone".encode("utf-16-le")).pieces[0].text == "one"

"""Runbooks in other formats than Markdown become drafts that lose no word, at the right lines.

What needs Asciidoctor runs where the program is found; ``make soak`` installs it and runs it
anywhere (tests/soak/test_asciidoc.py).
"""

from __future__ import annotations

import re
import stat
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from runbook_files import ASCIIDOC, HTML, RST, STEPS, STORED, docx, docx_of

from dcf.documents.formats.docx_page import page
from dcf.sop import Draft, NoDraft, check, draft_of, outcome, read_source
from dcf.sop.formats.asciidoc import program

_FILES = {"a.rst": RST, "a.adoc": ASCIIDOC, "a.html": HTML, "stored.html": STORED, "a.docx": docx()}
_LINES = {
    "a.rst": [12, 16, 18, 19, 21],
    "a.adoc": [8, 14, 15, 16, 17],
    "a.html": [9, 11, 12, 13, 14],
    "stored.html": [5, 9, 9, 9, 10],
    "a.docx": [4, 6, 7, 8, 9],
}

_NO_PROGRAM = "Asciidoctor is not installed: tests/soak/test_asciidoc.py installs it"


def _drafted(text: str | bytes, file: str) -> Draft:
    return draft_of(read_source(text if isinstance(text, bytes) else text.encode(), file))


@pytest.mark.parametrize("file", _FILES)
def test_the_same_runbook_in_each_format_has_the_same_steps_at_its_lines(file: str) -> None:
    if file.endswith(".adoc") and program() is None:
        pytest.skip(_NO_PROGRAM)
    found = _drafted(_FILES[file], file)
    assert not found.questions
    steps = list(found.sop.all_steps())
    assert [(one.number, one.title) for one in steps[:5]] == STEPS
    assert [one.line for one in steps[:5]] == _LINES[file]
    assert [one.text for one in steps[0].commands] == ["openssl genrsa -out new.pem 4096"]
    (rule,) = found.sop.guardrails
    assert rule.text.lower().endswith("never do step 3 before all gateways run.")
    # The decision behind step 3 leads to the section of the rollback.
    back = next(one for one in steps if one.title == "Put the old key back")
    branch = outcome(found)["branches"][0]
    assert (branch["step"], branch["to"]) == ("4", back.number)
    assert not [one for one in check(found.sop) if one.is_error]


def test_asciidoc_without_its_program_is_read_as_markdown_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = _drafted(ASCIIDOC, "a.adoc")
    (warning,) = found.problems
    assert "as if it were Markdown: Asciidoctor is not installed" in warning.message
    assert "apt-get install asciidoctor" in warning.hint and "npm install" in warning.hint
    assert any("Log in" in one.text for one in found.sentences)


@pytest.mark.parametrize(
    ("script", "says"),
    [("exit 3", "ended with 3"), ("while :; do echo xxxxxxxxxxxxxxxxxxxxxxx; done", "wrote more")],
)
def test_a_program_that_fails_or_writes_without_end_is_named(
    script: str, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("dcf.sop.formats.asciidoc._MOST", 100_000)
    fake = tmp_path / "asciidoctor"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    (warning,) = _drafted(ASCIIDOC, "a.adoc").problems
    assert says in warning.message


def test_what_sphinx_adds_to_restructuredtext_keeps_its_text_and_reads_no_file() -> None:
    text = (
        "T\n=\n\n.. tab-set::\n\n   .. tab-item:: Ubuntu\n\n      1. Run :command:`apt`\n\n"
        ".. code-block:: bash\n   :caption: Empty it\n\n   kubectl drain $NODE\n\n"
        ".. include:: /etc/hostname\n\n.. raw:: html\n\n   <b>kept</b>\n\n"
        ":weird:`role text` and |version|.\n"
    )
    found = _drafted(text, "a.rst")
    said = "\n".join(one.text for one in found.sentences)
    for words in ("Ubuntu", "`apt`", "Empty it", "kubectl drain", "<b>kept</b>", "role text"):
        assert words in said
    assert ".. include:: /etc/hostname" in said and "version" in said
    assert [one.name for one in found.sop.inputs] == ["node"]


def test_what_wikis_show_around_a_page_is_told_and_is_no_step() -> None:
    found = _drafted(HTML, "a.html")
    assert "Edit this page" not in " ".join(one.title for one in found.sop.all_steps())
    (told,) = (one for one in found.sentences if "Edit this page" in one.text)
    assert (told.line, told.place) == (3, "note")
    assert "color" not in " ".join(one.text for one in found.sentences)


def test_a_table_of_steps_is_read_with_rows_of_several_lines() -> None:
    html = (
        "<h1>Go</h1><h2>Steps</h2>\n<table><tr><th>Step</th>\n<th>Owner</th></tr>\n"
        "<tr><td>Check the node<ul><li>twice</li></ul></td>\n<td>DBA</td></tr></table>"
    )
    rst = (
        "Go\n==\n\nSteps\n-----\n\n+-------+-------+\n| Step  | Owner |\n+=======+=======+\n"
        "| Check | DBA   |\n| twice |       |\n+-------+-------+\n"
    )
    for text, file in ((html, "t.html"), (rst, "t.rst")):
        found = _drafted(text, file)
        (step,) = found.sop.steps
        assert step.title.startswith("Check") and step.role == "DBA"
        words = Counter(" ".join(one.text for one in found.sentences).split())
        assert words["DBA"] == words["Owner"] == 1


def test_what_explains_places_in_asciidoc_code_is_no_step_and_no_part_of_the_command() -> None:
    if program() is None:
        pytest.skip(_NO_PROGRAM)
    text = (
        "= Go\n\n. Apply it\n+\n[source,bash]\n----\nkubectl apply -f a.yaml <1>\n----\n"
        "+\n<1> Delete it later\n. Look at it\n"
    )
    found = _drafted(text, "a.adoc")
    assert [one.title for one in found.sop.all_steps()] == ["Apply it", "Look at it"]
    assert [one.text for one in found.sop.steps[0].commands] == ["kubectl apply -f a.yaml"]
    (told,) = (one for one in found.sentences if "Delete it later" in one.text)
    assert (told.line, told.place) == (10, "note")


def test_a_table_of_the_order_in_which_things_are_restored_has_the_steps() -> None:
    head = "Begin\n=====\n\n.. list-table:: The order of services\n   :header-rows: 1\n\n"
    rows = "".join(
        f"   * - {number}\n     - {what}\n"
        for number, what in (("Priority", "Services"), ("1", "Network"), ("10", "Database"))
    )
    found = _drafted(head + rows, "a.rst")
    assert [(one.title, one.line) for one in found.sop.steps] == [("Network", 9), ("Database", 11)]


def test_a_label_in_the_typeface_of_code_is_no_command() -> None:
    page = (
        "<style>.meta { font-family: monospace }</style><h1>Go</h1><p>What you need.</p>\n"
        "<p><span class='meta'>generated today</span></p><h2>Steps</h2><ol><li>Do it</li></ol>"
    )
    assert [one.title for one in _drafted(page, "a.html").sop.steps] == ["Do it"]


def test_circled_numbers_begin_items() -> None:
    found = _drafted("# Go\n\n① Drain the node\n② Restart it\n", "a.md")
    assert [(one.title, one.line) for one in found.sop.steps] == [
        ("Drain the node", 3),
        ("Restart it", 4),
    ]


@pytest.mark.parametrize(
    ("classes", "is_rule"),
    [
        ("alert alert-info", False),
        ("alert alert-danger", True),
        ("confluence-information-macro confluence-information-macro-warning", True),
        ("confluence-information-macro confluence-information-macro-information", False),
        ("hint hint-warning", True),
        ("theme-admonition theme-admonition-tip alert alert--success", False),
    ],
)
def test_the_kind_of_a_callout_is_the_one_that_its_classes_name(
    classes: str, is_rule: bool
) -> None:
    page = f"<ol><li>Do it</li></ol><div class='{classes}'><p>The disk is slow.</p></div>"
    assert bool(_drafted(page, "a.html").sop.guardrails) == is_rule


def test_myst_directives_labels_and_references_are_read() -> None:
    text = (
        "# Rotate\n\n## Steps\n\n````{tab-set}\n```{tab-item} Ubuntu\n1. Start it\n```\n````\n\n"
        "```{code-block} bash\n:linenos:\nkubectl drain $NODE\n```\n\n"
        "2. If it fails, {ref}`go back <undo>`\n\n(undo)=\n## Rollback\n\n1. Put it back\n"
    )
    found = _drafted(text, "a.md")
    assert not found.questions
    steps = {one.title: one for one in found.sop.all_steps()}
    assert [one.text for one in steps["Start it"].commands] == ["kubectl drain $NODE"]
    branch = outcome(found)["branches"][0]
    assert branch["to"] == steps["Put it back"].number


@pytest.mark.parametrize(
    ("front", "file"),
    [
        (
            '{\n  "title": "Rotate a key",\n  "owner": "identity"\n}\n\n1. Do it\n',
            "a.md",
        ),
        ("---\ntitle: Rotate a key\nowner: identity\n---\n\n1. Do it\n", "a.rst"),
        ("---\ntitle: Rotate a key\nowner: identity\n---\n<ol><li>Do it</li></ol>", "a.html"),
    ],
)
def test_front_matter_gives_title_and_owner(front: str, file: str) -> None:
    found = _drafted(front, file)
    (step,) = found.sop.steps
    assert (found.sop.title, step.title, step.role) == ("Rotate a key", "Do it", "identity")
    assert front.split("\n")[step.line - 1].endswith(("Do it", "Do it</li></ol>"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings_and_all_line_ends_are_read(encoding: str) -> None:
    found = _drafted(RST.replace("\n", "\r\n").encode(encoding), "a.rst")
    assert [one.line for one in found.sop.all_steps()][:5] == _LINES["a.rst"]


def test_a_page_is_read_in_the_encoding_that_it_declares() -> None:
    page = '<meta charset="iso-8859-1"><ol><li>Prüfe den Knoten</li></ol>'.encode("latin-1")
    assert _drafted(page, "a.html").sop.steps[0].title == "Prüfe den Knoten"


@pytest.mark.parametrize(
    ("data", "file", "says", "line"),
    [
        (b"T\n\xff\xfe\xfdx", "a.rst", "no text in UTF-8", 2),
        (b"%PDF-1.7 x", "a.md", "PDF", None),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.docx", "Word 97", None),
        (docx()[:2_000], "a.docx", "cannot be read", None),
        (b"PK\x03\x04", "a.docx", "cannot be read", None),
        (b"\n\n<p> </p>", "a.html", "not a step", None),
        (b"a\n" * 600_000, "a.rst", "over 1,000,000", 1),
        (b"\0\0\0", "a.html", "U+0000", 1),
        (
            "".join(" " * 2 * at + "- a\n\n" for at in range(400)).encode(),
            "a.rst",
            "too deep",
            None,
        ),
    ],
)
def test_what_cannot_be_read_is_one_error(
    data: bytes, file: str, says: str, line: int | None
) -> None:
    try:
        found = _drafted(data, file)
    except NoDraft as refused:
        (problem,) = refused.problems
        assert says in problem.message and problem.line == line and problem.file == file
    else:
        assert not found.sentences


def test_a_text_that_takes_its_parser_the_square_of_its_size_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dcf.sop.formats.read._SECONDS", 0.2)
    with pytest.raises(NoDraft, match=r"takes more than 0\.2 s"):
        _drafted("<p>x</p>" + "<a " * 100_000, "a.html")


_WORDS = st.lists(st.text("abcdxyz", min_size=2, max_size=7), min_size=1, max_size=6).map(" ".join)
_RST_PIECES = st.sampled_from(
    [
        "{}\n\n",
        "{}\n====================================================\n\n",
        "#. {}\n",
        "* {}\n\n",
        "  - {}\n",
        "**{}** {{}}\n\n",
        ".. note:: {}\n\n",
        ".. unknown:: {}\n\n   more\n\n",
        ".. code-block:: bash\n\n   {}\n\n",
        ":field: {}\n\n",
        "    {}\n\n",
        "{}::\n\n  code\n\n",
        "`{}`_ and ``literal``\n",
        ":ref:`{}` :role:`of\n text`\n\n",
        "+------+\n| {}\n",
        "term\n  {}\n\n",
        "| {}\n",
        ".. [#] {}\n",
        "=\n{}\n",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_RST_PIECES, _WORDS), min_size=1, max_size=12))
def test_no_word_of_any_restructuredtext_is_lost(rows: list[tuple[str, str]]) -> None:
    text = "Begin\n\n" + "".join(piece.format(words) for piece, words in rows)
    found = _drafted(text, "any.rst")
    assert not [one for one in check(found.sop) if one.is_error]
    assert not Counter(_said(" ".join(words for _, words in rows))) - _sentences(found)
    assert all(1 <= one.line <= one.last_line <= text.count("\n") + 1 for one in found.sentences)


_STYLES = st.sampled_from(
    ["Normal", "Title", "Heading 1", "Heading 3", "List Bullet", "List Number", "Quote", "table"]
)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(_STYLES, _WORDS), min_size=1, max_size=12))
def test_no_word_of_any_docx_is_lost_or_said_twice(rows: list[tuple[str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        # The same reader, without starting its process for each of them.
        patched.setattr(
            "dcf.sop.formats.read._docx_page", lambda data, _: "\n".join(page(data, 1_000_000))
        )
        found = _drafted(docx_of(rows), "any.docx")
    assert not [one for one in check(found.sop) if one.is_error]
    assert _sentences(found) == Counter(_said(" ".join(words for _, words in rows)))


_ASCIIDOC_PIECES = st.sampled_from(
    [
        "{}\n\n",
        "== {}\n\n",
        ". {}\n",
        "* {}\n",
        "** {}\n",
        "NOTE: {}\n\n",
        "[WARNING]\n====\n{}\n====\n\n",
        "----\n{}\n----\n\n",
        "{}:: more\n\n",
        "|===\n|{} |b\n\n|c\n|d\n|===\n\n",
        "// {}\n\n",
        "include::{}[]\n\n",
        "*{}* and `mono`\n\n",
    ]
)


@pytest.mark.skipif(program() is None, reason=_NO_PROGRAM)
@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(_ASCIIDOC_PIECES, _WORDS), min_size=4, max_size=12))
def test_no_word_of_any_asciidoc_is_lost(rows: list[tuple[str, str]]) -> None:
    text = "= Begin\n\n" + "".join(piece.format(words) for piece, words in rows)
    found = _drafted(text, "any.adoc")
    assert not found.problems
    assert not Counter(_said(" ".join(words for _, words in rows))) - _sentences(found)
    assert all(1 <= one.line <= one.last_line <= text.count("\n") + 1 for one in found.sentences)


_TAGS = ("p", "li", "ul", "ol", "div", "b", "code", "pre", "td", "tr", "table", "h2", "dt", "dd")
_MARKUP = st.one_of(
    st.sampled_from([f"<{name}>" for name in _TAGS]),
    st.sampled_from([f"</{name}>" for name in _TAGS]),
    st.sampled_from(
        ["<br>", "\n", "<div class='admonition warning'>", "<nav>", "</nav>", "<a href=#x>"]
    ),
)


@settings(max_examples=100, deadline=None)
@example(["<table>", "<li>", "<li>"])
@given(st.lists(st.one_of(_MARKUP, _WORDS), min_size=1, max_size=40))
def test_no_word_of_any_html_is_lost_or_said_twice(parts: list[str]) -> None:
    text = "<h1>Begin</h1>" + " ".join(parts)
    found = _drafted(text, "any.html")
    assert not [one for one in check(found.sop) if one.is_error]
    wanted = Counter(_said(" ".join(one for one in parts if not one.startswith("<"))))
    assert _sentences(found) - Counter({"Begin": 1}) == wanted


def _said(text: str) -> list[str]:
    return re.findall(r"[^\W_\d]{2,}", re.sub(r"\]\(#x\)", "", text))


def _sentences(found: Draft) -> Counter[str]:
    return Counter(word for one in found.sentences for word in _said(one.text))

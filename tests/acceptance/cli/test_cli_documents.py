"""`dcf documents`: from files to an answer with its citation, and what is refused."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from dcf_user import Dcf
from memory_user import MemoryUser
from unit.documents.made_files import docx_file, pdf_file

from dcf.cli.entry import run_command


def said(dcf: Dcf, *arguments: object, code: int = 0) -> str:
    """What a command says, where it ends with ``code``."""
    done = dcf(*arguments)
    assert done.code == code, done
    return done.out + done.err


def answered(dcf: Dcf, *arguments: object, code: int = 0) -> dict[str, Any]:
    """The document that it answers scripts with."""
    done = dcf(*arguments, "--json")
    assert done.code == code, done
    answer: dict[str, Any] = done.json
    return answer


def test_who_is_shown_and_removes_what_is_noted(
    memory: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> Any:
        assert run_command([*words, "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    (memory.folder / "tea.md").write_text("# Tea\n\nGreen tea is picked in spring.\n")
    (memory.folder / "tea.py").write_text("def pick_tea():\n    pass\n")
    run("documents", "add", "tea.md", "--root", ".")
    (hit,) = run("documents", "search", "when is tea picked?", "--root", ".")["hits"]
    run("retrieval", "documents", "when is tea picked?", "--root", ".")
    document = run("documents", "show", "tea.md", "--root", ".")["document"]["citation"]
    run("open", hit["citation"])
    indexed = run("retrieval", "index", "--root", ".")
    assert (indexed["root"], indexed["files"], indexed["added"]) == (str(memory.folder), 2, 2)
    code = run("retrieval", "code", "pick tea", "--wait", "--root", ".")["hits"]
    run("open", "dcf://code/tea.py/line/1-2")
    assert run("documents", "remove", "tea.md", "--root", ".")["still_code"] == ["tea.md"]
    assert {one["path"] for one in code} == {"tea.md", "tea.py"}

    told = run("retrieval", "audit", "--root", ".")["accesses"]
    assert [(one["operation"], one["ids"]) for one in reversed(told)] == [
        ("read", [hit["citation"]]),
        ("read", [hit["citation"]]),
        ("read", [document]),
        ("read", [document]),
        ("read", [f"dcf://code/{one['path']}/line/{one['lines']}" for one in map(lines, code)]),
        ("read", ["dcf://code/tea.py/line/1-2"]),
        ("delete", [document]),
    ]
    assert {one["project"] for one in told} == {str(memory.folder)}
    memory.patch.setenv("DCF_AUDIT_READS", "0")
    run("retrieval", "code", "pick tea", "--root", ".")
    assert len(run("retrieval", "audit", "--root", ".")["accesses"]) == len(told)


def test_what_is_outside_of_the_project_is_read_where_it_is_named_and_the_answer_says_so(
    memory: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, notes = memory.folder / "shop", memory.folder / "notes"
    for folder in (shop, notes):
        folder.mkdir()
        (folder / "tea.md").write_text(f"Tea of the {folder.name}.\n")
    (shop / "link").symlink_to(notes)
    root = ("--root", str(shop))

    assert run_command(["documents", "add", str(shop), *root]) == 0
    assert "outside of" not in capsys.readouterr().out
    assert run_command(["documents", "add", str(shop / "link"), *root, "--json"]) == 2
    refused = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in refused["problems"]] == ["document_link"]
    assert refused["outside"] == []
    assert run_command(["documents", "add", str(notes), *root]) == 0
    assert f"{notes} is outside of {shop}: whoever may ask" in capsys.readouterr().out
    assert run_command(["documents", "add", str(notes), *root, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outside"] == [str(notes)]


def test_where_nothing_is_found_and_what_is_not_read_is_named(
    memory: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str, code: int = 0) -> str:
        assert run_command(["retrieval", *words]) == code
        told = capsys.readouterr()
        return told.out + told.err

    memory.patch.setenv("COLUMNS", "500")
    shop = memory.folder / "shop"
    shop.mkdir()
    for command in ("code", "context", "documents"):
        assert f"Nothing was found in {shop}" in run(command, "tea", "--root", str(shop))
    (shop / "tea.png").write_bytes(b"\x89PNG")
    assert run_command(["documents", "add", str(shop), "--root", str(shop)]) == 0
    assert "no known format: tea.png" in capsys.readouterr().out
    memory.patch.setenv("HOME", str(shop.resolve()))
    memory.patch.chdir(shop)
    for command in ("code", "context"):
        assert "holds everything" in run(command, "tea", code=2)
    assert "Nothing was found" in run("code", "coffee", "--root", ".")


def test_a_question_comes_from_stdin_and_one_without_a_word_is_said_to_be(
    memory: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str, code: int = 0) -> str:
        memory.patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"price of coffee\n")))
        assert run_command([*words, "--root", "."]) == code
        told = capsys.readouterr()
        return told.out + told.err

    memory.patch.setenv("COLUMNS", "200")
    rows = [
        "| item | price in euros | where |",
        "| --- | --: | --- |",
        r"| coffee | 4 | bar \| door |",
    ]
    (memory.folder / "prices.md").write_text("# Prices\n\nOf\ntoday.\n\n" + "\n".join(rows) + "\n")
    run("documents", "add", "prices.md")
    shown = [
        "  # Prices Of today.",
        "  item    price in euros  where",
        "  ------  --------------  ----------",
        "  coffee  4               bar | door",
    ]
    for command in (("documents", "search"), ("retrieval", "documents"), ("retrieval", "context")):
        assert "\n".join(shown) in run(*command, "-")
    assert "prices.md:1-" in run("retrieval", "code", "-")
    for command in (("documents", "search"), ("retrieval", "documents")):
        assert "the query has no word to look for" in run(*command, "!!!", code=2)
    run("retrieval", "log", "Coffee is late.")
    told = run("retrieval", "context", "!!!")
    assert "Coffee is late." in told and "warning: the query has no word to look for" in told


def test_what_is_removed_is_told_where_it_is_still_found(
    memory: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    (memory.folder / "tea.md").write_text("# Tea\n\nGreen tea is picked in spring.\n")
    (memory.folder / "plan.docx").write_bytes(docx_file([("Normal", "We sow.")]))
    for ignored, told in (("", "still found as code: tea.md; what .gitignore"), ("tea.md", None)):
        (memory.folder / ".gitignore").write_text(ignored)
        assert run_command(["documents", "add", "tea.md", "plan.docx", "--root", "."]) == 0
        capsys.readouterr()
        assert run_command(["documents", "remove", "tea.md", "plan.docx", "--root", "."]) == 0
        out = capsys.readouterr().out
        assert told in out if told else "still" not in out


def lines(hit: dict[str, Any]) -> dict[str, Any]:
    first, last = hit["first_line"], hit["last_line"]
    return {"path": hit["path"], "lines": first if first == last else f"{first}-{last}"}


def test_documents_are_added_found_and_opened(dcf: Dcf) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none"}
    root = dcf.folder / "shop"
    root.mkdir()
    (root / "tea.md").write_text(
        "# Tea\n\nGreen tea is picked in spring.\n\n## Price\n\nIt is 3.\n"
    )
    (root / "valve.pdf").write_bytes(pdf_file(["The pump.", "The valve closes at 90 degrees."]))
    (root / "plan.docx").write_bytes(docx_file([("Heading 1", "Plan"), ("Normal", "We sow.")]))
    (root / "scan.pdf").write_bytes(pdf_file([b"0 0 9 9 re f"]))
    (root / "broken.docx").write_bytes(b"PK no")

    answer = answered(dcf, "documents", "add", root, "--root", root, code=2)
    outcomes = {one["path"]: one["outcome"] for one in answer["files"]}
    assert outcomes == {
        "broken.docx": "refused",
        "plan.docx": "added",
        "scan.pdf": "refused",
        "tea.md": "added",
        "valve.pdf": "added",
    }
    # All that is wrong, not the first of it, and nothing that was whole is lost.
    assert {(one["file"], one["code"]) for one in answer["problems"]} == {
        ("broken.docx", "document_corrupt"),
        ("scan.pdf", "document_scanned"),
    }

    found = answered(dcf, "documents", "search", "when does the valve close?", "--root", root)
    hit = found["hits"][0]
    assert (hit["path"], hit["page"]) == ("valve.pdf", 2)
    assert hit["citation"].endswith("/page/2")
    opened = said(dcf, "open", hit["citation"])
    assert "The valve closes at 90 degrees." in opened and "The pump." not in opened

    wrong = said(dcf, "documents", "remove", "plan.docx", "nor.md", "no.md", "--root", root, code=2)
    assert "nor.md" in wrong and "no.md" in wrong


def test_what_is_not_there_is_said_with_what_to_do(dcf: Dcf) -> None:
    missing = said(dcf, "documents", "add", "no.md", "nor-this.pdf", code=2)
    assert "no.md" in missing and "nor-this.pdf" in missing and "documents remove" in missing
    assert "names no lines" in said(dcf, "documents", "show", "a.md", "--lines", "9-3", code=2)


def test_documents_are_kept_where_the_backend_says(dcf: Dcf) -> None:
    folder = dcf.folder / "items"
    dcf.env |= {"DCF_EMBEDDER": "none", "MEM_BACKEND": "file", "MEM_PATH": str(folder)}
    root = dcf.folder / "shop"
    root.mkdir()
    (root / "tea.md").write_text("# Tea\n\nGreen tea is picked in spring.\n")
    assert "added tea.md: markdown, 1 piece" in said(dcf, "documents", "add", root, "--root", root)
    (kept,) = folder.glob("documents-*/document-*.json")
    asked = answered(dcf, "retrieval", "context", "when is tea picked?", "--root", root)
    (found,) = [one for one in asked["context"] if one["type"] == "document"]
    assert found["citation"] == f"dcf://document/{kept.stem}/line/1-3"
    assert "picked in spring" in said(dcf, "open", found["citation"])
    assert answered(dcf, "documents", "list", "--all")["documents"][0]["path"] == "tea.md"

    kept.write_text("torn")
    told = said(dcf, "documents", "list", "--root", root)
    assert f"{kept} is damaged" in told and "There are no such documents" in told

    dcf.env |= {"MEM_BACKEND": "memory"}
    assert "MEM_BACKEND=memory keeps all in a service" in said(
        dcf, "documents", "add", root, "--root", root, code=1
    )
    dcf.env |= {"MEM_BACKEND": "postgres", "DATABASE_URL": "postgresql://ada:pw@127.0.0.1:1/shop"}
    assert "cannot be reached" in said(dcf, "documents", "add", root, "--root", root, code=3)
    dcf.env |= {"MEM_BACKEND": "cloud"}
    assert "'cloud' is no backend" in said(dcf, "open", found["citation"], code=2)

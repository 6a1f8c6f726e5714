"""Questions about documents are their headings, which nothing finds any more."""

from __future__ import annotations

from benchmarks.document_questions import questions, score, without_headings

TEXT = """# All about tea

Words.

## When is it picked?

In spring.

```
## Where is no heading?
```

## Summary

All of it.

2. ### Where is it kept?

   In a tin.

## When is it drunk?
## When is it sold?
"""
FILES = {"a.md": TEXT, "b.md": "# When is it sold?\n\nNever.\n"}


def test_a_heading_asks_if_it_has_words_and_a_section_and_stands_once() -> None:
    asked = list(questions(FILES, ""))
    assert [(one.path, one.first, one.last, one.text) for one in asked] == [
        ("a.md", 1, 4, "All about tea"),
        ("a.md", 5, 12, "When is it picked?"),
        ("a.md", 17, 20, "Where is it kept?"),
    ]
    assert [one.first for one in questions(FILES, "When is it picked?")] == [5, 17]
    changed = {"a.md": TEXT.replace("In spring", "In May")}
    digests = [one.digest for one in questions(changed, "")]
    assert digests[0] == asked[0].digest and digests[1] != asked[1].digest


def test_what_is_searched_has_numbers_where_headings_stood() -> None:
    lines = without_headings(FILES, "")["a.md"].split("\n")
    assert [lines[row - 1] for row in (1, 5, 17, 21)] == ["# 1", "## 5", "2. ### 17", "## 21"]
    assert "## Where is no heading?" in lines and len(lines) == len(TEXT.split("\n"))
    begun = without_headings(FILES, "When is it picked?")
    assert begun["a.md"].split("\n") == ["", "", "", "", *lines[4:]] and begun["b.md"][:3] == "# 1"


async def test_what_answers_is_below_the_heading() -> None:
    asked = list(questions(FILES, ""))
    found = await score(without_headings(FILES, ""), asked, "none")
    assert (found.questions, found.k) == (3, 5)
    assert list(found.peers) == ["plain FTS5", "BM25", "ripgrep"]

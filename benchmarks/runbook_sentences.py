"""Which lines of a runbook have sentences, found without the product.

Markdown is read by markdown-it: paragraphs, headings and items are cut into sentences, a row of a
table and a command block are one each. In other formats each line with words is one, without the
lines that are marks of the format alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt

from benchmarks.runbook_outcome import Lines

_MARKDOWN = MarkdownIt("commonmark").enable("table")
_WORD = re.compile(r"[^\W_]")
_SENTENCE_ENDS = re.compile(r"(?<=[^\d\s][.!?])[*_`\")]*\s+|(?<=[。！？])")
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\s*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MARKS = {
    # Attributes, block attributes and comments; directives without words, their options, targets.
    "adoc": re.compile(r"^\s*(:[\w-]+:.*|\[[^\]]*\]|//.*|include::.*|\|===.*)$"),
    "rst": re.compile(r"^\s*(\.\. _.*|\.\. [\w-]+::( *[\w-]+)?|:[\w-]+:(?!`).*)$"),
}
_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<[^>]+>", re.DOTALL | re.IGNORECASE)


def sentences(text: str, suffix: str) -> list[Lines]:
    """The sentences of a text by lines; ``suffix`` is that of its file, such as ``.adoc``."""
    text = text.replace("\r\n", "\n")
    if suffix == ".html":
        return list(_lines_with_words(_blanked(_HIDDEN, text).split("\n")))
    marks = _MARKS.get(suffix.removeprefix("."))
    if marks is not None:
        lines = ("" if marks.match(line) else line for line in text.split("\n"))
        return list(_lines_with_words(lines))
    return list(_of_markdown(_blanked(_COMMENT, _blanked(_FRONT_MATTER, text))))


def lost(text: str, suffix: str, placed: Iterable[Lines]) -> list[Lines]:
    """The sentences with a line that no placed sentence covers."""
    covered = {line for one in placed for line in range(one.line, one.last + 1)}
    lines = text.split("\n")
    return [
        one
        for one in sentences(text, suffix)
        if any(
            line not in covered and _WORD.search(lines[line - 1])
            for line in range(one.line, one.last + 1)
        )
    ]


def _of_markdown(text: str) -> Iterator[Lines]:
    in_table = False
    for token in _MARKDOWN.parse(text):
        if token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        if token.map is None:
            continue
        first, after = token.map[0] + 1, token.map[1]
        if token.type == "fence":
            if _WORD.search(token.content):
                yield Lines(line=first + 1, last_line=first + token.content.count("\n"))
        elif token.type in ("tr_open", "code_block", "html_block"):
            content = "\n".join(text.split("\n")[first - 1 : after])
            if _WORD.search(_blanked(_HIDDEN, content)):
                yield Lines(line=first, last_line=after)
        elif token.type == "inline" and not in_table:
            yield from _cut(token.content, first)


def _cut(content: str, first: int) -> Iterator[Lines]:
    """The sentences of a paragraph that begins at a line."""
    begin = 0
    for end in [*(found.end() for found in _SENTENCE_ENDS.finditer(content)), len(content)]:
        sentence = content[begin:end].rstrip()
        if _WORD.search(sentence):
            line = first + content.count("\n", 0, begin)
            yield Lines(line=line, last_line=line + sentence.count("\n"))
        begin = end


def _lines_with_words(lines: Iterable[str]) -> Iterator[Lines]:
    return (Lines(line=at) for at, line in enumerate(lines, 1) if _WORD.search(line))


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text with what matches blanked, at the same lines."""
    return pattern.sub(lambda found: re.sub(r"[^\n]+", " ", found[0]), text)

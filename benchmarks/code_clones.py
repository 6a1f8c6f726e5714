"""Labelled questions about TypeScript and Go: the comment above a function asks for it.

It is taken out of what is searched. ``code_clones.json`` lists repositories, commits and
licences; no text of them is here."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import tree_sitter_go
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from benchmarks.clones import Clone, file_of
from benchmarks.code_corpus import Question, asked_of, chosen_of

_LIST = Path(__file__).with_suffix(".json")
LANGUAGES = ("typescript", "go")
_ENDINGS = {"typescript": ".ts", "go": ".go"}
# Tests and generated declarations say little, and are in no answer that anybody looks for.
_LEFT_OUT = re.compile(
    r"(?:_test\.go|\.(?:test|spec|d)\.ts|(?:^|/)test\.ts)$|(?:^|/)(?:tests?|testdata|__tests__)/"
)
_FUNCTIONS = {
    "go": "[(function_declaration) (method_declaration)] @function",
    "typescript": "[(function_declaration) (method_definition)"
    " (lexical_declaration (variable_declarator value: [(arrow_function) (function_expression)]))]"
    " @function",
}
_MARKS = re.compile(r"^\s*(?:/\*\*?|\*(?!/)|//)[ \t]?|\s*\*+/\s*$")
_TAGS = re.compile(r"\{@\w+\s+([^}]*)\}")
_SUMMARY = re.compile(r"^\s*@(?:summary|description)\b\s*")


def write_clones(language: str, clones: Path, folder: Path, count: int) -> tuple[Question, ...]:
    """As ``write_corpus``, of the repositories of ``language``, whose clones are ``owner/name``
    below ``clones``, bare or not. Raises ``subprocess.CalledProcessError`` where one is not there
    or does not have the commit."""
    each = [list(_copied(language, clones, folder, one)) for one in repositories(language)]
    return chosen_of(each, count)


def repositories(language: str) -> Iterator[Clone]:
    """Those that are listed."""
    for one in json.loads(_LIST.read_text(encoding="utf-8"))[language]:
        yield Clone(one["repository"], one["commit"])


def _copied(language: str, clones: Path, folder: Path, of: Clone) -> Iterator[Question]:
    clone, name = clones / of.repository, of.repository.replace("/", "-")
    for path, text in _files(clone, of.commit, _ENDINGS[language]):
        data = text.encode()
        spans: list[tuple[int, int]] = []
        for question, comments in _documented(language, data, f"{name}/{path}"):
            spans += [(one.start_byte, one.end_byte) for one in comments]
            if question.text:
                yield question
        to = folder / name / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(_without(data, spans))


def _files(clone: Path, commit: str, ending: str) -> Iterator[tuple[str, str]]:
    listed = subprocess.run(
        ["git", "-C", clone, "ls-tree", "-r", "-z", "--name-only", commit],
        capture_output=True,
        check=True,
    )
    for path in listed.stdout.decode().split("\0"):
        if path.endswith(ending) and not _LEFT_OUT.search(path):
            yield path, file_of(clone, commit, path).decode("utf-8", "replace")


def _documented(language: str, data: bytes, path: str) -> Iterator[tuple[Question, list[Node]]]:
    """Functions with a comment right above them; what asks nothing has an empty text."""
    parser, query = _parser(language)
    for node in QueryCursor(query).captures(parser.parse(data).root_node).get("function", ()):
        # A comment stands above what exports a function.
        outer = node.parent if node.parent and node.parent.type == "export_statement" else node
        comments = list(_above(outer))
        if not comments:
            continue
        name = _name(node)
        said = _said(comments).removeprefix(f"{name} ") if language == "go" else _said(comments)
        text = asked_of(said) if _lines(node) > 1 else ""
        yield Question(text, path, name, outer.start_point[0] + 1, node.end_point[0] + 1), comments


@cache
def _parser(language: str) -> tuple[Parser, Query]:
    pointer = (
        tree_sitter_go.language()
        if language == "go"
        else tree_sitter_typescript.language_typescript()
    )
    grammar = Language(pointer)
    return Parser(grammar), Query(grammar, _FUNCTIONS[language])


def _above(node: Node) -> Iterator[Node]:
    row, before = node.start_point[0], node.prev_sibling
    while before is not None and before.type == "comment" and before.end_point[0] >= row - 1:
        yield before
        row, before = before.start_point[0], before.prev_sibling


def _name(node: Node) -> str:
    inner = node.named_children[0] if node.type == "lexical_declaration" else node
    name = inner.child_by_field_name("name")
    return (name.text or b"").decode() if name is not None else ""


def _lines(node: Node) -> int:
    return node.end_point[0] - node.start_point[0]


def _said(comments: Iterable[Node]) -> str:
    """The text of comments, the lowest given first, without marks and links. Where one has a
    ``@summary`` or ``@description``, that is it."""
    texts = [(one.text or b"").decode("utf-8", "replace") for one in comments][::-1]
    lines = [_MARKS.sub("", _MARKS.sub("", line)) for text in texts for line in text.splitlines()]
    at = next((number for number, line in enumerate(lines) if _SUMMARY.match(line)), None)
    if at is not None:
        lines = [_SUMMARY.sub("", lines[at]), *lines[at + 1 :]]
    return _TAGS.sub(r"\1", "\n".join(lines)).strip()


def _without(data: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """All lines stay where they are."""
    kept = bytearray(data)
    for start, end in sorted(set(spans), reverse=True):
        kept[start:end] = b"\n" * data.count(b"\n", start, end)
    return bytes(kept)

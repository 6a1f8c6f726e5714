"""Labelled questions about code: a docstring asks for its function, from which it was taken out."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcf.search import opening

_SHORTEST, _LONGEST = 5, 60
"""Words of a question: shorter ones ask for nothing, longer ones are manuals."""
_DIRECTIVE = re.compile(r"^\s*(?:[:@]\w+|>>>|\.\. |Args|Arguments|Parameters|Returns|Raises|-{3,})")


@dataclass(frozen=True, slots=True)
class Question:
    """``text`` is the first sentence of the docstring of the function ``name`` (qualified) in the
    file ``path`` of the corpus, where it stands at the lines ``first_line`` to ``last_line``."""

    text: str
    path: str
    name: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class _Documented:
    name: str
    first_line: int
    last_line: int
    docstring: ast.Expr
    text: str


def write_corpus(
    places: Iterable[tuple[str, Path]], folder: Path, count: int
) -> tuple[Question, ...]:
    """Copy the Python files of ``places`` (a name for each) into ``folder`` without the docstrings
    of their functions and classes, and give ``count`` questions about them, evenly from all places;
    always the same ones. Questions whose text two functions share are left out."""
    each = [list(_copied(name, place, folder)) for name, place in places]
    return chosen_of(each, count)


def chosen_of(each: Sequence[Sequence[Question]], count: int) -> tuple[Question, ...]:
    """``count`` of the questions of several places, evenly; always the same ones, without those
    whose text two functions share."""
    texts = Counter(question.text for found in each for question in found)
    shared = {text for text, times in texts.items() if times > 1}
    share = -(-count // len(each))
    chosen = [
        question
        for found in each
        for question in _sample([one for one in found if one.text not in shared], share)
    ]
    return tuple(_sample(chosen, count))


def _sample(questions: Sequence[Question], count: int) -> list[Question]:
    """By a digest: no choice of anybody, and no order of files."""
    return sorted(questions, key=_digest)[:count]


def _digest(question: Question) -> bytes:
    return hashlib.sha256(f"{question.path}:{question.name}".encode()).digest()


def _copied(name: str, place: Path, folder: Path) -> Iterator[Question]:
    for source in sorted(place.rglob("*.py")):
        path = f"{name}/{source.relative_to(place).as_posix()}"
        text = source.read_text(encoding="utf-8", errors="replace")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        found = list(_documented(tree, ""))
        lines = _without(text.split("\n"), [one.docstring for one in found])
        to = folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text("\n".join(lines), encoding="utf-8")
        for one in found:
            if one.text:
                yield Question(one.text, path, one.name, one.first_line, one.last_line)


def _documented(node: ast.AST, around: str) -> Iterator[_Documented]:
    """All functions and classes with a docstring. Only functions outside of functions, with a body
    of their own and a docstring that says something, have a text."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _documented(inner, around)
            continue
        name = f"{around}.{inner.name}" if around else inner.name
        first = inner.body[0]
        is_said = isinstance(first, ast.Expr) and ast.get_docstring(inner) is not None
        if is_said and isinstance(first, ast.Expr):
            in_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            asks = not isinstance(inner, ast.ClassDef) and not in_function and len(inner.body) > 1
            text = asked_of(ast.get_docstring(inner) or "") if asks else ""
            begins = min([inner.lineno, *(one.lineno for one in inner.decorator_list)])
            yield _Documented(name, begins, inner.end_lineno or begins, first, text)
        yield from _documented(inner, name)


def asked_of(docstring: str) -> str:
    """The first sentence, in one line; empty where it is no question."""
    lines: list[str] = []
    for line in docstring.strip().split("\n"):
        if not line.strip() or _DIRECTIVE.match(line):
            break
        lines.append(line.strip())
    text = opening(" ".join(lines))
    return text if _SHORTEST <= len(text.split()) <= _LONGEST else ""


def _without(lines: list[str], docstrings: Iterable[ast.Expr]) -> list[str]:
    """The lines with ``...`` in place of docstrings; all other lines stay where they are."""
    for one in docstrings:
        first, last = one.lineno - 1, (one.end_lineno or one.lineno) - 1
        head = lines[first].encode()[: one.col_offset].decode()
        tail = lines[last].encode()[one.end_col_offset :].decode()
        lines[first : last + 1] = [f"{head}...{tail}", *[""] * (last - first)]
    return lines

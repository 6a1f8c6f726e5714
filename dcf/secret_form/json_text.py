"""JSON that is kept as it is written while some of its texts and numbers are replaced."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from dcf.secret_form.naming import LABELS, VALUE
from dcf.secret_form.view import Bit, View

_TOKEN = re.compile(
    r'(?P<text>"[^"\\]*+(?>(?:\\.[^"\\]*+)*)")(?P<name>\s*+:)?|(?P<number>-?\d[\d.eE+-]*+)|[{}\[\]]'
)
_BEGINS = re.compile(r'\s*+[{\["]')
_BLANK = re.compile(r"\s*+")
_OF_CELLS = frozenset({"source", "text", "ename", "evalue", "traceback"})
_SIGNS = re.compile(r"[^\\]+|(?:\\u[0-9a-fA-F]{4}){1,2}|\\.")
_DECODER = json.JSONDecoder(strict=False)


def is_json(text: str) -> bool:
    """Whether ``text`` is JSON, or several documents of it as in JSON Lines, and has texts."""
    at = 0
    if not _BEGINS.match(text):
        return False
    begins_with_text = text.lstrip().startswith('"')
    try:
        while at < len(text):
            end = _DECODER.raw_decode(text, _after_blanks(text, at))[1]
            at = _after_blanks(text, end)
            # Texts side by side are cells of a table.
            if begins_with_text and at < len(text) and "\n" not in text[end:at]:
                return False
    except (ValueError, RecursionError):
        return False
    return True


def in_json(text: str, replace: Callable[[Any, str | None], Any]) -> str:
    """``text``, which is JSON, with ``replace(value, name)`` in place of each text and number that
    it changes. ``name`` is that of the member whose value it is or in whose list it stands, empty
    where there is none; it is None for what is a name itself. Behind ``"name": "A"`` the member
    ``value`` of an object is called A."""
    name = ""
    labels: list[str] = []

    def token(hit: re.Match[str]) -> str:
        nonlocal name
        if hit["text"] is None and hit["number"] is None:
            name = "" if hit[0] != "[" else name
            if hit[0] == "{":
                labels.append("")
            elif hit[0] == "}":
                labels.pop()
            return hit[0]
        written = hit["text"] or hit["number"]
        value = json.loads(written, strict=False)
        if hit["name"]:
            name = value
        elif labels and name in LABELS and isinstance(value, str):
            labels[-1] = value
        called = labels[-1] if labels and name == VALUE and labels[-1] else name
        changed = replace(value, None if hit["name"] else called)
        if changed == value:
            return hit[0]
        # A newline inside of a text, which JSON does not allow, is one behind it.
        lines = "\n" * written.count("\n")
        return json.dumps(changed, ensure_ascii=written.isascii()) + lines + (hit["name"] or "")

    return _TOKEN.sub(token, text)


def is_notebook(text: str) -> bool:
    """Whether ``text``, which is JSON, is a notebook of Jupyter (nbformat 4)."""
    return '"cell_type"' in text and '"cells"' in text


def cells_of_notebook(text: str) -> View:
    """What the cells of ``text``, which is a notebook, say and printed: a list of texts is one text
    in parts; others stand in lines of their own."""
    return View(_bits_of_cells(text))


def _bits_of_cells(text: str) -> Iterator[Bit]:
    name, ended = "", True
    for hit in _TOKEN.finditer(text):
        if hit["text"] is None or hit["name"]:
            name = json.loads(hit["text"], strict=False) if hit["name"] else name
            if not ended:
                yield Bit("\n")
            ended = True
        elif name in _OF_CELLS or name.startswith("text/"):
            for part in _SIGNS.finditer(text, hit.start("text") + 1, hit.end("text") - 1):
                said = part[0]
                if said.startswith("\\"):
                    said = json.loads(f'"{said}"', strict=False)
                yield Bit(said, *part.span())
                ended = said.endswith("\n")


def _after_blanks(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at

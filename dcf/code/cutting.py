"""The text of a file in pieces, by the language that its path tells."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.code.language import has_grammar, language_of
from dcf.code.piece import Piece, pieces
from dcf.code.python_symbols import python_parsed
from dcf.code.symbols import parsed
from dcf.problem import Problem

_PARSED = 1_048_576
"""Characters: a longer text is cut by lines. A person writes none; a program's has one line."""


def cut(path: str, text: str) -> tuple[Sequence[Piece], list[Problem]]:
    """The pieces of ``text``, and what is odd about it. Without its grammar, or if it is very
    long, it is cut by lines."""
    language = language_of(path)
    if language is None:
        return pieces(text, ()), []
    if len(text) > _PARSED:
        message = f"it has over {_PARSED:,} characters and is cut by lines, not by definitions"
        return pieces(text, ()), [Problem("code_file_long", message, "", "", "warning", path)]
    if has_grammar(language):
        found = parsed(text, language)
    elif language == "python":
        found = python_parsed(text)
    else:
        return pieces(text, ()), []
    odd = []
    if found.error_line is not None:
        message = f"it is no {language} from here on; what can be read of it is searched"
        line = found.error_line
        odd.append(Problem("code_syntax", message, "", "", "warning", path, line))
    return pieces(text, found.symbols), odd

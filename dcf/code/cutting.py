"""The text of a file in pieces, by the language that its path tells."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.code.language import has_grammar, language_of
from dcf.code.piece import Piece, pieces
from dcf.code.python_symbols import python_parsed
from dcf.code.symbol import Symbol
from dcf.code.symbols import parsed
from dcf.problem import Problem
from dcf.secret_form import is_credential, without_secrets

_TABLES = (".csv", ".tsv")
_PARSED = 1_048_576
"""Characters: a longer text is cut by lines. A person writes none; a program's has one line."""


def cut(path: str, text: str) -> tuple[Sequence[Piece], list[Problem]]:
    """The pieces of ``text`` without its secrets, which leave each line where it is, and what is
    odd about it. Without its grammar, or if it is very long, it is cut by lines."""
    # The program is parsed as it is written: what takes the place of a secret may be no program.
    told = shown(path, text)
    language = language_of(path)
    if language is None:
        return pieces(told, ()), []
    if len(text) > _PARSED:
        message = f"it has over {_PARSED:,} characters and is cut by lines, not by definitions"
        return pieces(told, ()), [Problem("code_file_long", message, "", "", "warning", path)]
    if has_grammar(language):
        found = parsed(text, language)
    elif language == "python":
        found = python_parsed(text)
    else:
        return pieces(told, ()), []
    odd = []
    if found.error_line is not None:
        message = f"it is no {language} from here on; what can be read of it is searched"
        line = found.error_line
        odd.append(Problem("code_syntax", message, "", "", "warning", path, line))
    return pieces(told, found.symbols if told == text else _named(found.symbols)), odd


def shown(path: str, text: str) -> str:
    """``text``, which is that of the file at ``path``, without its secrets; each line stays where
    it is."""
    is_table = path.lower().endswith(_TABLES)
    return without_secrets(text, keep_lines=True, is_table=is_table)


def _named(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Those that have a name which may be told."""
    return [one for one in symbols if not is_credential(one.qualified_name)]

"""Texts that a command is given: as they stand, from a file, or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from dcf.cli.trouble import BadInput
from dcf.problem import Problem


def given_text(text: str) -> str:
    """``text``, or what stands on standard input for ``-``, without the line end behind it."""
    return _decoded(sys.stdin.buffer.read(), "-").removesuffix("\n") if text == "-" else text


def file_text(file: str) -> str:
    """The text of ``file``, or of standard input for ``-``. Raises BadInput."""
    if file == "-":
        return given_text("-")
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        hint = "name a text file, or - for standard input"
        raise BadInput([Problem("CLI_TEXT", message, hint=hint, file=file)]) from error
    return _decoded(data, file)


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem(
            "CLI_TEXT", "not UTF-8 text", hint="save it as UTF-8", file=name, line=line
        )
        raise BadInput([problem]) from error

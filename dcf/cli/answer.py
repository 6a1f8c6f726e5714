"""What a command answers: for scripts one JSON document, for people text."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcf.cli.exits import OK
from dcf.cli.visible import visible


@dataclass(frozen=True, slots=True)
class ErrorNote:
    """``code`` is stable, ``message`` says what is wrong, ``hint`` what would help; ``details``
    are for people, scripts find them in other fields."""

    code: str
    message: str
    hint: str = ""
    details: tuple[str, ...] = ()

    def to_json(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "hint": self.hint}


@dataclass(frozen=True, slots=True)
class Answer:
    """``fields`` join ``status`` and ``error`` in the JSON document; ``show`` are what people see
    (anything rich can print), on stdout. With ``as_data`` they get the JSON document instead: it is
    what they asked for."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    show: Sequence[Any] = ()
    status: str = "ok"
    error: ErrorNote | None = None
    exit_code: int = OK
    as_data: bool = False

    def to_json(self) -> dict[str, Any]:
        """``{status, error, …}``; ``error`` is None or ``{code, message, hint}``."""
        error = self.error.to_json() if self.error else None
        return {"status": self.status, "error": error, **self.fields}


def present(answer: Answer, *, as_json: bool) -> None:
    """Print ``answer``: with ``as_json``, or as data, exactly one JSON document on stdout."""
    if as_json or answer.as_data:
        text = json.dumps(answer.to_json(), ensure_ascii=False, indent=2)
        # Bytes that were no UTF-8, as in a file's name, are written as JSON escapes them.
        sys.stdout.write(text.encode(errors="backslashreplace").decode() + "\n")
        sys.stdout.flush()
    else:
        _show(answer.show)
    if answer.error is not None:
        # Plain text: what went wrong may hold brackets that would read as markup.
        lines = [f"error: {answer.error.message}", *answer.error.details]
        sys.stderr.write(visible("\n".join(lines)) + "\n")
        if answer.error.hint:
            sys.stderr.write(f"  hint: {visible(answer.error.hint)}\n")


def _show(parts: Sequence[Any]) -> None:
    if not parts:
        return
    from rich.text import Text

    from dcf.cli.screen import Screen

    console = Screen(as_json=False).human
    for part in parts:
        # Text is never wrapped: what is copied, or redirected to a file, must stay what it is.
        console.print(part, markup=False, soft_wrap=isinstance(part, str | Text))

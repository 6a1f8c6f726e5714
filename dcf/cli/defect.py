"""An error that nobody foresaw: short on the screen, complete in a log."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from control_plane.embedded import data_home
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.secret_form import without_secrets


def report_defect(error: Exception, env: Mapping[str, str]) -> Answer:
    """The answer; the traceback goes to ``logs/dcf.log``, with ``DCF_DEBUG=1`` to stderr too."""
    text = "".join(traceback.format_exception(error))
    if env.get("DCF_DEBUG"):
        sys.stderr.write(text)
    log = data_home(env) / "logs" / "dcf.log"
    hint = f"this is a defect of DCF; the traceback is in {log}"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        _append(log, f"{datetime.now(UTC).isoformat()} {_called(sys.argv[1:])}\n{text}\n")
    except OSError as refused:
        hint = f"this is a defect of DCF; DCF_DEBUG=1 shows the traceback ({log}: {refused})"
    message = f"unexpected {type(error).__name__}: {error}"
    note = ErrorNote("unexpected", message, hint)
    return Answer(status="error", error=note, exit_code=FAILED)


def _called(arguments: Sequence[str]) -> str:
    """The command and the names of its options. Their values, and what is not named, are texts of
    persons, who may be forgotten, and secrets."""
    options = [one.partition("=")[0] for one in arguments if one.startswith("--")]
    return " ".join(["dcf", *arguments[:1], *options])


def _append(log: Path, text: str) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as file:
        # One that an older DCF made could be read by all.
        os.fchmod(descriptor, 0o600)
        file.write(without_secrets(text))

"""An error that nobody foresaw: short on the screen, complete in a log."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime

from control_plane.embedded import data_home
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED


def report_defect(error: Exception, env: Mapping[str, str]) -> Answer:
    """The answer; the traceback goes to ``logs/dcf.log``, with ``DCF_DEBUG=1`` to stderr too."""
    text = "".join(traceback.format_exception(error))
    if env.get("DCF_DEBUG"):
        sys.stderr.write(text)
    log = data_home(env) / "logs" / "dcf.log"
    hint = f"this is a defect of DCF; the traceback is in {log}"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now(UTC).isoformat()} {sys.argv}\n{text}\n")
    except OSError as refused:
        hint = f"this is a defect of DCF; DCF_DEBUG=1 shows the traceback ({log}: {refused})"
    message = f"unexpected {type(error).__name__}: {error}"
    note = ErrorNote("unexpected", message, hint)
    return Answer(status="error", error=note, exit_code=FAILED)

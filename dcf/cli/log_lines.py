"""Logs as lines of JSON: ``{"at", "level", "logger", "message"}``, times in UTC."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


class JsonLines(logging.Formatter):
    """One record, one line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr(level: str) -> None:
    """DCF's own records from ``level`` on, and warnings of libraries, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for room in ("dcf", "control_plane"):
        logging.getLogger(room).setLevel(level.upper())

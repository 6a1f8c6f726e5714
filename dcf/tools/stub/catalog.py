"""The configuration file kept fresh while the stub runs."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.tools.document import parse_text, placed
from dcf.tools.errors import InvalidDocument
from dcf.tools.stub.config import StubConfig, build_config

_log = logging.getLogger(__name__)

Signature = tuple[int, int, int]
"""Inode, modification time in nanoseconds, size: changes with every way of writing a file."""


class Catalog:
    """The tools of a configuration file, read again when the file changes.

    A file that is broken or gone leaves the tools as they were; ``problems`` then says why.
    Raises ``InvalidDocument`` when even the first reading fails.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: tuple[Problem, ...] = ()
        self._seen = _signature(path)
        content = _read(path)
        self._digest = _digest(content)
        self._config = _build(content, path)

    def current(self) -> StubConfig:
        """The newest configuration that was valid. One ``stat`` when nothing changed."""
        signature = _signature(self.path)
        if signature != self._seen or signature is None:
            self._seen = signature
            self._reload()
        return self._config

    def _reload(self) -> None:
        try:
            content = _read(self.path)
            if _digest(content) == self._digest and not self.problems:
                return
            config = _build(content, self.path)
        except InvalidDocument as invalid:
            if invalid.problems != self.problems:
                _log.error(
                    "the tools stay as they were; the new configuration is wrong: %s", invalid
                )
            self.problems = invalid.problems
            return
        self._digest, self._config, self.problems = _digest(content), config, ()
        _log.info("%s was read again", self.path)


def _signature(path: Path) -> Signature | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        problem = Problem(
            "TOOL_STUB_MISSING",
            f"the stub's configuration cannot be read: {error.strerror or error}",
            hint="write it with `dcf skills generate`",
        )
        raise InvalidDocument([problem.at(file=str(path))]) from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _build(content: bytes, path: Path) -> StubConfig:
    text = content.decode("utf-8", errors="replace")
    try:
        config, problems = build_config(parse_text(text, path, "TOOL_STUB"))
    except RecursionError:
        deep = Problem("TOOL_STUB_SYNTAX", "its values are nested too deep")
        raise InvalidDocument([deep.at(file=str(path))]) from None
    if problems:
        raise InvalidDocument(placed(problems, path, text))
    return config

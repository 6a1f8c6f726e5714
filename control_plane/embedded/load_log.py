"""The log of a server that loads alone, read as it grows."""

from __future__ import annotations

from pathlib import Path

_LOADED = b"Ready to accept connections"


class LoadLog:
    """What a server logs to ``path`` from byte ``start`` on. What was read is not read again."""

    def __init__(self, path: Path, start: int) -> None:
        self._path = path
        self._at = start
        self._last = b""
        self._done = False

    def says_loaded(self) -> bool:
        """Whether the server has said that its data is loaded. One whose log was cut or removed may
        have said so there, and is taken at its word: else it would be waited for as long as it
        lives."""
        if not self._done:
            self._done = self._look()
        return self._done

    def _look(self) -> bool:
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._at:
                    return True
                file.seek(self._at)
                new = file.read()
        except FileNotFoundError:
            return True
        self._at += len(new)
        text = self._last + new
        # It may be cut anywhere, also within these words.
        self._last = text[-len(_LOADED) :]
        return _LOADED in text

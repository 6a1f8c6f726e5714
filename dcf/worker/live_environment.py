"""The environment of a process that outlives its stub tool server."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_STUB_URL = "DCF_STUB_URL"


class LiveEnvironment:
    """Variables, of which ``DCF_STUB_URL`` is what ``ask`` says at the moment; without it, they are
    as they were given.

    A stub that starts, or starts again, may get another port.
    """

    def __init__(self, given: Mapping[str, str], ask: Callable[[], str] | None) -> None:
        self._given = given
        self._ask = ask

    def stub_url(self) -> str | None:
        """Where the stub is now."""
        return self._given.get(_STUB_URL) if self._ask is None else self._ask()

    def now(self) -> Mapping[str, str]:
        """All variables, as they are now."""
        return self._given if self._ask is None else {**self._given, _STUB_URL: self._ask()}

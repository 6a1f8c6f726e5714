"""The settings of an agent that a command line can give."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from dcf.cli.memory.given_text import file_text
from dcf.cli.model_check import named_troubles, spelling_troubles
from dcf.cli.settings import EMBEDDERS, Settings
from dcf.cli.trouble import BadInput
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Those that were given; None: left as it is, or the default. ``system`` is a file. An empty
    ``model`` or ``embedder`` is none of its own."""

    description: str | None = None
    model: str | None = None
    embedder: str | None = None
    system: str | None = None
    context_window: int | None = None
    parallel_tool_calls: bool | None = None
    enable_sleeptime: bool | None = None

    def fields(self) -> dict[str, Any]:
        """The fields of an agent that were given. Raises BadInput: for a model or an embedder that
        there cannot be, and for the file."""
        given = {name: getattr(self, name) for name in self.__slots__}
        known = {name: value for name, value in given.items() if value is not None}
        problems = [*self._model_problems(), *self._embedder_problems()]
        if problems:
            raise BadInput(problems)
        if self.system is not None:
            known["system"] = file_text(self.system)
        for name in ("model", "embedder"):
            if name in known:
                known[name] = known[name] or None
        return known

    def warnings(self, settings: Settings) -> list[str]:
        """What the model still lacks before it can be asked: a package, an address, a key."""
        found = named_troubles(self.model, settings) if self.model else []
        return [f"warning: {self.model} cannot be asked yet: {one.message}" for one in found]

    def _model_problems(self) -> list[Problem]:
        return spelling_troubles(self.model, "--model") if self.model else []

    def _embedder_problems(self) -> list[Problem]:
        if not self.embedder or self.embedder in EMBEDDERS:
            return []
        close = get_close_matches(self.embedder, EMBEDDERS, n=1)
        meant = f"did you mean {close[0]}? " if close else ""
        hint = f"{meant}one of {', '.join(EMBEDDERS)}"
        message = f"{self.embedder!r} is no embedder"
        return [Problem("CLI_EMBEDDER", message, hint=hint, file="--embedder")]

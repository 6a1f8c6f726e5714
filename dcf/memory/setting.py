"""Where the memory is and what of it stands before an agent, as the environment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from dcf.memory.context.packing import Budget
from dcf.memory.database import ACCESS_DAYS, Source
from dcf.memory.errors import WrongVariables

ContextMode: TypeAlias = Literal["off", "index", "full"]
CONTEXT_MODES: tuple[ContextMode, ...] = get_args(ContextMode)
_MOST = 1_000_000


class BadAccessSetting(WrongVariables):
    """{text}."""

    code = "memory_access_setting"


class BadContextSetting(WrongVariables):
    """{text}."""

    code = "memory_context_setting"


@dataclass(frozen=True, slots=True)
class ContextSetting:
    """What of the observations stands before an agent: nothing, their ``index``, or details too
    (``full``), of the last ``days``; tokens of each, and rows of the index, at most."""

    mode: ContextMode = "index"
    index_tokens: int = 800
    details_tokens: int = 3_000
    rows: int = 50
    days: int = 90

    @property
    def budget(self) -> Budget:
        """The most that it may take."""
        if self.mode == "off":
            return Budget(0, 0, 0)
        details = self.details_tokens if self.mode == "full" else 0
        return Budget(details, self.index_tokens, self.rows)

    @property
    def full_budget(self) -> Budget:
        """The most that what somebody asked for may take, whatever the mode."""
        return Budget(self.details_tokens, self.index_tokens, self.rows)

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> ContextSetting:
        """``DCF_CONTEXT`` and, for its numbers, ``DCF_CONTEXT_INDEX``, ``_DETAILS``, ``_ROWS`` and
        ``_DAYS``. Raises BadContextSetting with all that is wrong."""
        wrong: dict[str, str] = {}
        said = (environment.get("DCF_CONTEXT") or "index").lower()
        mode: ContextMode = next((one for one in CONTEXT_MODES if one == said), "off")
        if mode != said:
            wrong["DCF_CONTEXT"] = f"is {said!r}, not one of {', '.join(CONTEXT_MODES)}"
        setting = cls(
            mode,
            whole_number(environment, "DCF_CONTEXT_INDEX", 800, wrong),
            whole_number(environment, "DCF_CONTEXT_DETAILS", 3_000, wrong),
            whole_number(environment, "DCF_CONTEXT_ROWS", 50, wrong),
            whole_number(environment, "DCF_CONTEXT_DAYS", 90, wrong),
        )
        if wrong:
            raise BadContextSetting(wrong)
        return setting


def project_of_runs(generated: Path | None) -> str:
    """The project of the runs and sessions that are worked on with the skills in ``generated``: the
    folder in which they were generated; empty without any."""
    return "" if generated is None else str(generated.resolve().parent)


def source_of(environment: Mapping[str, str], home: Path) -> Source:
    """The memory of the DCF home ``home``: ``memory.db`` in it, or the file that ``DCF_MEMORY``
    names; encrypted with ``DCF_MEMORY_KEY``, if that is not empty. ``DCF_FSYNC=always`` makes each
    commit wait for the disk; ``DCF_ACCESS_DAYS`` says how long reads of nodes stay on record.
    Raises UnusableKey, BadAccessSetting."""
    return Source(
        path=Path(environment.get("DCF_MEMORY") or home / "memory.db").expanduser().absolute(),
        key=environment.get("DCF_MEMORY_KEY") or None,
        power_safe=environment.get("DCF_FSYNC") == "always",
        access_days=access_days(environment),
    )


def access_days(environment: Mapping[str, str]) -> int:
    """``DCF_ACCESS_DAYS``: how many days it stays on record who read entries of nodes; 0 is not at
    all. Raises BadAccessSetting."""
    wrong: dict[str, str] = {}
    days = whole_number(environment, "DCF_ACCESS_DAYS", ACCESS_DAYS, wrong)
    if wrong:
        raise BadAccessSetting(wrong)
    return days


def whole_number(
    environment: Mapping[str, str],
    name: str,
    default: int,
    wrong: dict[str, str],
    *,
    least: int = 0,
    most: int = _MOST,
) -> int:
    """The number that a variable says; of one that is wrong the default, and it is noted in
    ``wrong``."""
    text = (environment.get(name) or str(default)).strip()
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
    if is_number and least <= int(text) <= most:
        return int(text)
    wrong[name] = f"is {text!r}, not a whole number from {least} to {most:,}"
    return default

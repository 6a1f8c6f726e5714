"""What is known about an embedded server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far a starting server has read its data: ``share`` 0 to 1, and its own estimate."""

    share: float
    eta_seconds: int


OnProgress = Callable[[LoadProgress], None]


@dataclass(frozen=True, slots=True)
class Status:
    """``responding`` is False for a process that lives but does not answer (or not yet). ``died``
    says that none lives, and that nobody stopped the last one."""

    data_dir: Path
    running: bool = False
    responding: bool = False
    died: bool = False
    pid: int | None = None
    url: str | None = field(default=None, repr=False)
    version: str | None = None
    modules: Mapping[str, str] = field(default_factory=dict)
    loading: bool = False
    memory_bytes: int | None = None

    @property
    def json_version(self) -> str | None:
        """The version of the JSON module, if it is loaded."""
        return self.modules.get("rejson")

"""Where logged items and documents are kept, as the environment says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from dcf.problem import Problem
from dcf.retrieval.postgres_store import fault_of_url

Backend: TypeAlias = Literal["memory", "file", "sqlite", "postgres"]
_DATABASE = "DATABASE_URL"


@dataclass(frozen=True, slots=True)
class BackendSetting:
    """``path`` is the file of the backend sqlite or the folder of the backend file, None where
    nobody names one; ``database`` the URL of the backend postgres."""

    backend: Backend = "sqlite"
    path: Path | None = None
    database: str = field(default="", repr=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> tuple[BackendSetting, tuple[Problem, ...]]:
        """From MEM_BACKEND, MEM_PATH and DATABASE_URL; with all that cannot be used."""
        problems: list[Problem] = []
        backend = env.get("MEM_BACKEND") or "sqlite"
        if backend not in get_args(Backend):
            hint = f"one of {', '.join(get_args(Backend))}"
            problems.append(_problem("MEM_BACKEND", f"{backend!r} is no backend", hint))
        database = env.get(_DATABASE) or ""
        fault = fault_of_url(database) if backend == "postgres" else None
        if fault:
            hint = "as in postgresql://USER:PASSWORD@HOST:5432/DATABASE"
            message = f"it names no database: {fault}" if database else "is not set"
            problems.append(_problem(_DATABASE, message, hint))
        path = Path(env["MEM_PATH"]) if env.get("MEM_PATH") else None
        return cls(cast("Backend", backend), path, database), tuple(problems)


def _problem(name: str, message: str, hint: str) -> Problem:
    return Problem("CLI_RETRIEVAL", message, hint=hint, file=name)

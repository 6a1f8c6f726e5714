"""A tool of the stub and its cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jsonschema import Draft202012Validator

from dcf.tools.stub.matching import Match

ErrorMode = Literal["throw", "timeout", "http_500", "flaky"]
ERROR_MODES: tuple[ErrorMode, ...] = ("throw", "timeout", "http_500", "flaky")
DEFAULT_CASE = "default"
"""The name under which the default response of a tool is counted."""


@dataclass(frozen=True, slots=True)
class Case:
    """One prepared answer. Latency in milliseconds; ``flaky_rate`` from 0 to 1."""

    case_id: str
    match: Match
    response: Any = None
    latency_ms: float | None = None
    error_mode: ErrorMode | None = None
    flaky_rate: float = 0.1
    seed: int | None = None
    error_code: str | None = None
    weight: float = 0


@dataclass(frozen=True, slots=True)
class StubTool:
    """One tool of one server. ``cases`` stand in the order in which they are tried.

    ``rps`` is the highest number of answers in a second, 0 for no limit.
    """

    server_id: str
    name: str
    description: str
    params_schema: dict[str, Any]
    result_schema: dict[str, Any] | None
    params: Draft202012Validator
    result: Draft202012Validator | None
    default_response: Any
    rps: float
    latency_ms: float
    cases: tuple[Case, ...]

    @property
    def key(self) -> str:
        """The tool's name in metrics: ``server:tool``."""
        return f"{self.server_id}:{self.name}"

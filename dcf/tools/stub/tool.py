"""A tool of the stub, its cases, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dcf.schema import Schema
from dcf.tools.stub.matching import Match

ErrorMode = Literal["throw", "timeout", "http_500", "flaky"]
ERROR_MODES: tuple[ErrorMode, ...] = ("throw", "timeout", "http_500", "flaky")
DEFAULT_CASE = "default"
"""The name under which the default response of a tool is counted."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One prepared answer. Latency in milliseconds; ``flaky_rate`` from 0 to 1.

    Of a reply that fails, ``response`` says more of the error.
    """

    response: Any = None
    latency_ms: float | None = None
    error_mode: ErrorMode | None = None
    flaky_rate: float = 0.1
    error_code: str | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """``replies`` has one, or the steps of a sequence: each call with the same arguments gets the
    next one; after the last it stays there, or begins again (``cycles``).

    ``arguments`` are what a test calls the case with, when its author says so.
    """

    case_id: str
    match: Match
    replies: tuple[Reply, ...]
    cycles: bool = False
    weight: float = 0
    arguments: dict[str, Any] | None = None

    def reply(self, turn: int) -> Reply:
        """The answer to the call that ``turn`` others came before."""
        count = len(self.replies)
        return self.replies[turn % count if self.cycles else min(turn, count - 1)]


@dataclass(frozen=True, slots=True)
class StubTool:
    """One tool of one server. ``cases`` stand in the order in which they are tried.

    ``rps`` is the highest number of answers in a second, 0 for no limit. ``original_name`` is what
    the tool was called before the earlier generator made its name safe.
    """

    server_id: str
    name: str
    description: str
    params_schema: dict[str, Any]
    result_schema: dict[str, Any] | None
    params: Schema
    result: Schema | None
    default_response: Any
    rps: float
    latency_ms: float
    cases: tuple[Case, ...]
    original_name: str | None = None
    idempotent: bool = False

    @property
    def key(self) -> str:
        """The tool's name in metrics: ``server:tool``."""
        return f"{self.server_id}:{self.name}"

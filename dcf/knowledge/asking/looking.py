"""Queries with the server's limit of time, and what is said when they reach it."""

from __future__ import annotations

from typing import Any

from dcf.knowledge.asking.errors import QuestionTooWide
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.errors import GraphRefused

LIMIT_MS = 5_000
"""So long a question may take, as long as the embedded server lets it."""
_TIMED_OUT = "timed out"


async def look(graph: GraphConnection, what: str, text: str, **parameters: Any) -> list[list[Any]]:
    """The rows of a query; ``what`` names the question in the error. Raises QuestionTooWide, and
    whatever ``GraphConnection.read`` raises."""
    try:
        return await graph.read(text, timeout_ms=LIMIT_MS, **parameters)
    except GraphRefused as error:
        raise _explained(error, what) from error


async def look_fast(
    graph: GraphConnection, what: str, text: str, **parameters: Any
) -> list[list[Any]]:
    """As ``look``, by ``GraphConnection.rows``: for thousands of rows of scalars."""
    try:
        return await graph.rows(text, **parameters)
    except GraphRefused as error:
        raise _explained(error, what) from error


def _explained(error: GraphRefused, what: str) -> GraphRefused | QuestionTooWide:
    if _TIMED_OUT in error.message:
        return QuestionTooWide(limit_ms=LIMIT_MS, what=what)
    return error

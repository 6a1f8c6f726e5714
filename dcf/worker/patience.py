"""Waiting for a Redis that is away, or refuses, where without it nothing may be done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from control_plane import Disconnected, Lease
from dcf import workflow
from dcf.worker.lease_lost import LeaseLost

_T = TypeVar("_T")


async def patiently(lease: Lease, act: Callable[[], Awaitable[_T]]) -> _T:
    """``dcf.workflow.patiently``. Raises LeaseLost in the end: nothing can be put on record, so
    nothing can be called."""
    try:
        return await workflow.patiently(lease, act)
    except Disconnected as error:
        raise LeaseLost(error.code) from error

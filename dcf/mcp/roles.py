"""Roles: who a client is, and so which tools it is shown."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["planner", "worker", "conductor", "companion", "reflector", "strategist", "coder"]

ROLES: tuple[Role, ...] = get_args(Role)
WITHOUT_REDIS: frozenset[Role] = frozenset({"coder"})
"""Roles whose tools need nothing but the memory and the files of a project: a coding agent asks
what is known, and logs."""

"""Roles: who a client is, and so which tools it is shown."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["planner", "worker", "conductor", "companion", "reflector", "strategist"]

ROLES: tuple[Role, ...] = get_args(Role)

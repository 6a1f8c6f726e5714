"""One module for each family of tools. Each has a tuple ``FAMILY`` of its tools."""

from __future__ import annotations

FAMILIES: tuple[str, ...] = (
    "planning",
    "planner",
    "reflection",
    "control_plane",
    "leases",
    "hints",
    "calls",
    "runs",
    "documents",
    "files",
    "agents",
    "messages",
    "memory",
    "recall",
    "observations",
    "retrieval",
    "discovery",
    "skills",
    "authoring",
    "skill_testing",
    "complexity",
    "approvals",
    "budgets",
    "sessions",
    "companions",
    "companion_work",
    "delegation",
    "session_tasks",
    "strategist",
)
"""The modules, in the order in which clients see their tools. A new family adds its name."""

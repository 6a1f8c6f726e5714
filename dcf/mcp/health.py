"""Whether the server can do its work: Redis answers, the generated skills can be read."""

from __future__ import annotations

import asyncio
from typing import Any

from control_plane import ControlPlaneError, refused_now
from dcf.mcp.catalogue import load_catalogue
from dcf.mcp.platform import Platform
from dcf.skills import SkillError
from dcf.tools import InvalidDocument

_LIMIT_S = 3.0


async def health(platform: Platform) -> dict[str, Any]:
    """``{status, error, redis, skills, tools, warnings?}``; status is ``ok`` or ``degraded``."""
    redis, skills = await asyncio.gather(_redis(platform), _skills(platform))
    errors = [part["error"] for part in (redis, skills) if part["error"] is not None]
    warnings = platform.skills.warnings()
    return {
        **({"warnings": warnings} if warnings else {}),
        "status": "degraded" if errors else "ok",
        "error": "; ".join(errors) or None,
        "redis": redis["status"],
        "skills": skills["status"],
        "skill_count": skills.get("count", 0),
        "tools": len(load_catalogue().tools()),
    }


async def _redis(platform: Platform) -> dict[str, Any]:
    try:
        async with asyncio.timeout(_LIMIT_S):
            refused = await refused_now(platform.backend)
    except (ControlPlaneError, TimeoutError):
        # What exactly is wrong may name hosts, and this is said to anybody.
        return {"status": "down", "error": "redis: it does not answer"}
    if refused is not None:
        return {"status": "refusing", "error": f"redis: {refused.sentence}"}
    return {"status": "ok", "error": None}


async def _skills(platform: Platform) -> dict[str, Any]:
    try:
        catalog = await platform.catalog()
        await platform.skills.rules()
    except SkillError as error:
        return {"status": "unreadable", "error": f"skills: {error.code}"}
    except InvalidDocument as invalid:
        codes = ", ".join(sorted({problem.code for problem in invalid.problems}))
        return {"status": "unreadable", "error": f"skills: {codes}"}
    faults = platform.skills.faults()
    if faults:
        return {
            "status": "outdated",
            "error": f"skills: {'; '.join(faults)}",
            "count": len(catalog),
        }
    return {"status": "ok", "error": None, "count": len(catalog)}

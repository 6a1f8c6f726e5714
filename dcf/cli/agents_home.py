"""Where agents live, looked at before anything is started that needs it."""

from __future__ import annotations

import time

from control_plane.embedded import Check
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput


async def demand_agents_home(settings: Settings) -> None:
    """The memory can be opened, the user's templates can be read, and the runtime is one that there
    is. Raises a MemoryProblem, and BadInput with all that is wrong with the templates."""
    from dcf.agents import runtime_named
    from dcf.agents.templates import InvalidTemplate, templates
    from dcf.memory import Memory, random_id, source_of

    runtime_named(settings.env)
    if settings.templates is not None:
        try:
            templates(settings.templates)
        except InvalidTemplate as invalid:
            raise BadInput(invalid.problems) from invalid
    source = source_of(settings.env, settings.home)
    async with Memory.open(source, clock=_now_ms, new_id=random_id):
        return


def runtime_check(settings: Settings) -> Check:
    """Whether the agents' runtime is one that there is."""
    from dcf.agents import runtime_named
    from dcf.agents.letta import LettaSettings

    name = "agents' runtime"
    try:
        found = runtime_named(settings.env)
    except LettaSettings as wrong:
        return Check(name, False, str(wrong), wrong.hint)
    return Check(name, True, found, required=False)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000

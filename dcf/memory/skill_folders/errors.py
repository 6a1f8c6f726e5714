"""What can go wrong with the skills of agents."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.errors import MemoryProblem


class UnknownSkills(MemoryProblem):
    """Agent {agent_id} does not know the skill {names}.{near}"""

    code = "memory_unknown_skill"
    hint = "`dcf memory skills` lists what it knows; a folder is taken in by a sync"

    def __init__(self, agent_id: str, names: Sequence[str], known: Sequence[str] = ()) -> None:
        self.names, self.known = tuple(names), tuple(known)
        near = f" It knows: {', '.join(known[:20])}." if known else ""
        super().__init__(agent_id=agent_id, names=", ".join(names), near=near)


class SkillsTooLarge(MemoryProblem):
    """With {names} the loaded skills would have {size:,} bytes; their block has {limit:,}."""

    code = "memory_skills_too_large"
    hint = "unload others first ({loaded}), or move parts of the skill to its references/"

    def __init__(self, names: Sequence[str], size: int, limit: int, loaded: Sequence[str]) -> None:
        self.loaded = tuple(loaded)
        self.hint = type(self).hint.format(loaded=", ".join(loaded) or "none is loaded")
        super().__init__(names=", ".join(names), size=size, limit=limit)

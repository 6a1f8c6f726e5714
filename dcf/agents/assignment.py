"""What a worker asks of an agent: one task, its input and the skills loaded for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from dcf.agents.models import Allowance
    from dcf.agents.notes import Notes
    from dcf.memory import TurnFence
    from dcf.skills import Manifest

JSON: TypeAlias = Any
"""None, bool, int, float, str, list of JSON or dict from str to JSON."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One Task state, ready to be worked on.

    ``state`` is the state's name, ``instructions`` what its author wrote for the agent (may be
    empty), ``input`` the effective task input. ``skills`` are the loaded manifests in the order
    in which the state names them, ``needed`` those that they depend on. ``tool_name`` narrows the
    task to a single declared tool. ``model`` names what shall think (None: what the runtime has),
    ``allowance`` is what it may spend (None: no limit), ``timeout_s`` how long it may take.
    ``observed`` is what was seen at earlier times, ``found`` what was found for it in the project's
    files and records (both may be empty).
    ``notes`` are what its branch of the work wrote down, where it may read and write them.
    ``fence`` is the authority of a turn that is taken for it (None: the agent has no other work).
    """

    state: str
    instructions: str
    input: JSON
    skills: tuple[Manifest, ...]
    tool_name: str | None = None
    needed: tuple[Manifest, ...] = ()
    model: str | None = None
    allowance: Allowance | None = None
    timeout_s: float | None = None
    fence: TurnFence | None = None
    observed: str = ""
    found: str = ""
    notes: Notes | None = None

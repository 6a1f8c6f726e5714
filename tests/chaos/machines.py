"""What is run: machines whose Tasks take effect, each once, and some that kill their workers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

KEEPER = "keeper"
"""The name of an agent that is there already."""
_AGENTS = 0.4
# So early that its end falls into a short campaign, and not the first, so that it has neighbours.
_FIRST_POISON = 3
_BINDINGS: tuple[dict[str, Any], ...] = (
    # They stay, so that their turns can be looked at.
    {"lifecycle": {"mode": "ephemeral", "destroy_on_end": False}},
    {"lifecycle": {"mode": "pooled", "reuse_key": "desk"}},
    {"lifecycle": {"mode": "existing"}, "agent_ref": {"name": KEEPER}},
)


@dataclass(frozen=True, slots=True)
class Order:
    """A run that is submitted. ``effects`` are the paths of the Tasks that take effect in it,
    ``turns`` those of Tasks that agents do; ``poison`` is the path of the one that kills its
    workers, or None."""

    id: str
    definition: dict[str, Any]
    effects: tuple[str, ...]
    poison: str | None = None
    turns: tuple[str, ...] = ()


def make_order(number: int, rng: random.Random, poison_share: float) -> Order:
    """A chain, a Map or branches; Tasks of agents; or a poison Task. Where there is to be poison,
    an early one is poison for certain: a short campaign has some too."""
    id_ = f"chaos-{number}"
    is_poison = rng.random() < poison_share
    if is_poison or (poison_share and number == _FIRST_POISON):
        task = {"Type": "Task", "Resource": rng.choice(("die", "leave")), "End": True}
        return Order(id_, {"StartAt": "Poison", "States": {"Poison": task}}, (), "Poison")
    if rng.random() < _AGENTS:
        definition, turns = _agents(rng)
        return Order(id_, definition, (), turns=turns)
    kind = rng.choice((_chain, _map, _branches))
    definition, effects = kind(rng)
    return Order(id_, definition, effects)


def _effect(rng: random.Random, **more: Any) -> dict[str, Any]:
    for_s = round(rng.choice((0.02, 0.1, 0.4, 1.5)), 2)
    return {"Type": "Task", "Resource": "effect", "Parameters": {"for_s": for_s}, **more}


def _chain(rng: random.Random) -> tuple[dict[str, Any], tuple[str, ...]]:
    names = [f"T{number}" for number in range(rng.randint(2, 5))]
    states = {name: _effect(rng, Next=after) for name, after in pairwise(names)}
    states["Pause"] = {"Type": "Wait", "Seconds": 1, "Next": names[0]}
    states[names[-1]] = _effect(rng, End=True)
    return {"StartAt": "Pause", "States": states}, tuple(names)


def _map(rng: random.Random) -> tuple[dict[str, Any], tuple[str, ...]]:
    count = rng.randint(2, 6)
    state = {
        "Type": "Map",
        "ItemsPath": "$.items",
        "MaxConcurrency": 3,
        "ItemProcessor": {"StartAt": "T", "States": {"T": _effect(rng, End=True)}},
        "End": True,
    }
    items = {"Type": "Pass", "Result": {"items": list(range(count))}, "Next": "Each"}
    definition = {"StartAt": "Items", "States": {"Items": items, "Each": state}}
    return definition, tuple(f"Each[{number}]/T" for number in range(count))


def _branches(rng: random.Random) -> tuple[dict[str, Any], tuple[str, ...]]:
    count = rng.randint(2, 3)
    names = [f"T{number}" for number in range(count)]
    branches = [{"StartAt": name, "States": {name: _effect(rng, End=True)}} for name in names]
    state = {"Type": "Parallel", "Branches": branches, "Next": "Last"}
    definition = {"StartAt": "All", "States": {"All": state, "Last": _effect(rng, End=True)}}
    return definition, (*(f"All[{number}]/{name}" for number, name in enumerate(names)), "Last")


def _agents(rng: random.Random) -> tuple[dict[str, Any], tuple[str, ...]]:
    names = [f"A{number}" for number in range(rng.randint(1, 3))]
    states = {name: _turn(rng, Next=after) for name, after in pairwise(names)}
    states[names[-1]] = _turn(rng, End=True)
    return {"StartAt": names[0], "States": states}, tuple(names)


def _turn(rng: random.Random, **more: Any) -> dict[str, Any]:
    # Many Tasks share the one agent, and each waits for its turn: fewer of them.
    [binding] = rng.choices(_BINDINGS, (5, 4, 1))
    given = {"agent_template_ref": {"name": "worker"}, "skills": [], **binding}
    return {"Type": "Task", "AgentBinding": given, **more}

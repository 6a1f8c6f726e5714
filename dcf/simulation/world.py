"""Worlds that can be simulated under a seed: the project's own, and those of users' machines."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Protocol

from dcf.simulation.server import Sabotage
from dcf.simulation.simulator import simulate, trace_lines
from dcf.simulation.verdict import Verdict
from dcf.simulation.violation import Guarantee


class World(Hashable, Protocol):
    """What a seed is about; ``options`` name it on the command line. It can be sent to other
    processes, and compared."""

    @property
    def options(self) -> str: ...

    def simulate(
        self,
        seed: int,
        *,
        steps: int,
        sabotage: Sabotage | None = None,
        until: Collection[Guarantee] = (),
    ) -> Verdict:
        """See ``simulator.simulate``."""
        ...

    def lines(self, seed: int, steps: int) -> dict[str, set[int]]:
        """See ``simulator.trace_lines``."""
        ...


@dataclass(frozen=True, slots=True)
class OwnWorld:
    """Made-up workflows, and whatever else the guarantees are about."""

    options: str = ""

    def simulate(
        self,
        seed: int,
        *,
        steps: int,
        sabotage: Sabotage | None = None,
        until: Collection[Guarantee] = (),
    ) -> Verdict:
        """See ``World``."""
        return simulate(seed, steps=steps, sabotage=sabotage, until=until)

    def lines(self, seed: int, steps: int) -> dict[str, set[int]]:
        """See ``World``."""
        return trace_lines(seed, steps=steps)


OWN = OwnWorld()

"""What an expression may look at while it is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeAlias

from dcf.asl.payload import JSON
from dcf.asl.timestamp import parse_timestamp


class Scope:
    """The data an expression reads.

    JSONPath: ``$`` is ``data``, ``$$`` is ``context``, ``$name`` one of ``variables``. One scope
    serves one step; the step points ``data`` at the input, then at the result, then at the output.
    JSONata: ``$states`` is ``states`` {input, context, and once they exist result, errorOutput},
    ``$name`` one of ``variables``.
    ``random()`` is the caller's generator or, without one, a generator seeded from the visit's
    ``identity`` (its context where it has none), so that the same visit always draws the same
    numbers. ``stages``, where somebody looks, records
    what each stage of the data flow gave (``note``).
    """

    __slots__ = ("_identity", "_rng", "context", "data", "salt", "stages", "states", "variables")

    def __init__(
        self,
        data: JSON,
        context: dict[str, Any],
        variables: Mapping[str, JSON],
        rng: Random | None = None,
        salt: str = "",
        identity: str = "",
    ) -> None:
        self.data = data
        self.context = context
        self.variables = variables
        self.states: dict[str, JSON] = {"input": data, "context": context}
        self.stages: dict[str, JSON] | None = None
        self.salt = salt
        self._rng = rng
        self._identity = identity

    def note(self, stage: str, value: JSON) -> None:
        """Record what a stage gave, e.g. ``afterInputPath``, when somebody looks."""
        if self.stages is not None:
            self.stages[stage] = value

    def moment_ms(self) -> int:
        """When the state was entered, in ms since the epoch: what expressions take for now.

        The context says it; without it time stands at 0, for nothing here looks at a clock.
        """
        state, execution = self.context.get("State") or {}, self.context.get("Execution") or {}
        entered = parse_timestamp(state.get("EnteredTime") or execution.get("StartTime"))
        return int((entered or 0.0) * 1000)

    def random(self) -> Random:
        if self._rng is None:
            self._rng = Random(_visit_seed(self._identity, self.context, self.salt))
        return self._rng


def _visit_seed(identity: str, context: dict[str, Any], salt: str) -> str:
    execution = context.get("Execution") or {}
    state = context.get("State") or {}
    item = (context.get("Map") or {}).get("Item") or {}
    if identity:
        return "\x1f".join((identity, str(item.get("Index")), salt))
    parts = (
        execution.get("Id"),
        state.get("Name"),
        state.get("EnteredTime"),
        state.get("RetryCount"),
        item.get("Index"),
        salt,
    )
    return "\x1f".join(str(part) for part in parts)


Expression: TypeAlias = Callable[[Scope], JSON]
"""A compiled path, template or intrinsic; raises EvaluationError only."""


def constant(value: JSON) -> Expression:
    """An expression that always gives ``value``."""

    def read(_: Scope) -> JSON:
        return value

    return read

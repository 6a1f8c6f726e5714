"""Variables that a state reads where its own ``Assign`` has not taken effect yet."""

from __future__ import annotations

from collections.abc import Set

from dcf.asl.checks.variable_references import evaluated_texts, reads_of
from dcf.asl.checks.variable_rules import assigned_by
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_texts import Way, pointer_of


def warn_early(state: Node, jsonata: bool, elsewhere: Set[str]) -> None:
    """Warn of each variable that ``Output`` or ``Assign`` reads and only this state assigns.

    ``state`` is entered once at most; ``elsewhere`` has the variables that other states assign,
    which may have a value already.
    """
    own = assigned_by(state, jsonata) - elsewhere
    if not own:
        return
    for way, key, text in evaluated_texts(state):
        if not _is_told_at_the_end(way):
            continue
        for name in reads_of(way, key, text, jsonata):
            if name in own:
                message = f"`${name}` is not assigned yet: `Assign` takes effect in the next state"
                hint = f"write what `Assign` gives to `{name}` here too"
                place = pointer_of(state, way)
                state.findings.warning("ASL_VARIABLE_TOO_EARLY", place, message, hint)


def _is_told_at_the_end(way: Way) -> bool:
    at: Way | None = way
    while at is not None:
        at, step = at
        if step in ("Output", "Assign"):
            return True
    return False

"""Variables along the scopes of a definition: read before anything assigns them, or hidden.

AWS accepts both (it was recorded to accept the second, though its developer guide says otherwise);
where a definition runs they are undefined, or another value than meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from dcf.asl.checks.early_reads import warn_early
from dcf.asl.checks.loops import looping_states
from dcf.asl.checks.map_rules import processor_config
from dcf.asl.checks.variable_references import reads
from dcf.asl.checks.variable_rules import assigned_by, assignments
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_tree import inner_machines, speaks_jsonata, states_of

_NOTHING: Set[str] = frozenset()


def check_scopes(root: Node) -> None:
    """Warn of every variable that nothing assigns, and of every one that hides an outer one."""
    waiting: list[tuple[Node, Set[str]]] = [(root, _NOTHING)]
    while waiting:
        machine, outer = waiting.pop()
        waiting.extend(_check_machine(machine, outer, root))


def _check_machine(machine: Node, outer: Set[str], root: Node) -> Iterator[tuple[Node, Set[str]]]:
    named = states_of(machine)
    states = named.values()
    looping = looping_states(named)
    own: set[str] = set()
    several: set[str] = set()
    for state in states:
        assigned = assigned_by(state, speaks_jsonata(state, root))
        several |= own & assigned
        own |= assigned
    elsewhere = several | outer if outer else several
    visible = own | outer if outer else own
    for name, state in named.items():
        jsonata = speaks_jsonata(state, root)
        if outer and own:
            _check_hiding(state, jsonata, outer)
        if name not in looping:
            warn_early(state, jsonata, elsewhere)
        for place, variable in reads(state, jsonata):
            if variable not in visible:
                message = f"no state assigns the variable `${variable}` where this one can read it"
                hint = "assign it with `Assign` in a state before this one"
                state.findings.warning("ASL_VARIABLE_NEVER_ASSIGNED", place, message, hint)
        # The children of a distributed Map are executions of their own: they see nothing of ours.
        distributed = processor_config(state)[0] == "DISTRIBUTED"
        for inner in inner_machines(state):
            yield inner, _NOTHING if distributed else visible


def _check_hiding(state: Node, jsonata: bool, outer: Set[str]) -> None:
    for name, pointer in assignments(state, jsonata):
        if name in outer:
            message = f"`${name}` is also assigned in the machine around this one"
            hint = "use another name: what is assigned here ends with this machine"
            state.findings.warning("ASL_VARIABLE_HIDDEN", pointer, message, hint)

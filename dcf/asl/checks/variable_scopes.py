"""Variables along the scopes of a definition: read before anything assigns them, or assigned twice.

AWS accepts the first; where a definition runs they are undefined. Of the second its developer guide
(workflow-variables, Variable scope) says that an inner scope cannot assign a name that an outer one
assigns anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TypeAlias

from dcf.asl.checks.early_reads import warn_early
from dcf.asl.checks.loops import looping_states
from dcf.asl.checks.map_rules import processor_config
from dcf.asl.checks.variable_references import reads
from dcf.asl.checks.variable_rules import assigned_by, assignments
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_tree import inner_machines, speaks_jsonata, states_of

_NOTHING: Set[str] = frozenset()

_Inner: TypeAlias = tuple[Node, Set[str], Set[str]]
"""A machine, the variables of the machines around it that it sees, and those they all assign."""


def check_scopes(root: Node) -> None:
    """Warn of each variable that nothing assigns; report each that an outer machine assigns too."""
    waiting: list[_Inner] = [(root, _NOTHING, _NOTHING)]
    while waiting:
        machine, outer, taken = waiting.pop()
        waiting.extend(_check_machine(machine, outer, taken, root))


def _check_machine(machine: Node, outer: Set[str], taken: Set[str], root: Node) -> Iterator[_Inner]:
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
        if taken and own:
            _check_taken(state, jsonata, taken)
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
            yield inner, _NOTHING if distributed else visible, own | taken


def _check_taken(state: Node, jsonata: bool, taken: Set[str]) -> None:
    for name, pointer in assignments(state, jsonata):
        if name in taken:
            message = f"`${name}` is also assigned in a machine around this one"
            hint = "use another name: what is assigned here ends with this machine"
            state.findings.error("ASL_VARIABLE_TAKEN", pointer, message, hint)

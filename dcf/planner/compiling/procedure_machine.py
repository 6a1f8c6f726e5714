"""The machine of a whole procedure: inputs become variables, and outputs are put together."""

from __future__ import annotations

from dcf.planner.compiling.expression import Names, literal, member_name, or_null, value_of, wrapped
from dcf.planner.compiling.known import Known
from dcf.planner.compiling.step_list import weave_list
from dcf.planner.compiling.variables import Scope
from dcf.planner.compiling.weaving import State, Weaving
from dcf.sop import Value


def weave(weaving: Weaving) -> State:
    """``{StartAt, States}`` of the procedure."""
    sop = weaving.sop
    inputs = {one.name for one in sop.inputs}
    scope = Scope().inside("", inputs | weaving.written(sop.steps), weaving.perhaps_null())
    begin = {scope.variables[one.name]: wrapped(_taken(one)) for one in sop.inputs}

    def outputs(names: Names, known: Known) -> State:
        found: State = {}
        for one in sop.outputs:
            if one.name in scope.variables:
                value = value_of(one.name, names)
                found[one.name] = wrapped(value if one.name in known else or_null(value))
        return found

    return weave_list(
        weaving, sop.steps, scope, frozenset(inputs), begin, "Take the inputs", outputs
    )


def _taken(value: Value) -> str:
    """How an input is taken from what the run is given: its default, or null, if it is not."""
    taken = f"$states.input.{member_name(value.name)}"
    if value.required and value.default is None:
        return taken
    return f"$exists({taken}) ? {taken} : {literal(value.default)}"

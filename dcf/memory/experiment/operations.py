"""What a caller can ask of an experiment's memory: one table for Python, MCP and HTTP.

A method says once what an operation is: its name, its arguments with their help, its answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from dcf.memory.experiment.experiment import ExperimentMemory
from dcf.memory.experiment.shapes import Answer


@dataclass(frozen=True, slots=True)
class Operation:
    """``call`` gets the memory of the experiment, and the arguments by name. ``writes``: it refuses
    arguments that it does not know, rather than to do something else than was asked. ``of_caller``:
    it tells who calls from then on, so it is for callers that are alone with their server."""

    name: str
    call: Callable[..., Awaitable[Answer]]
    writes: bool = False
    of_caller: bool = False


async def _set_current_node(
    experiment: ExperimentMemory,
    node_id: Annotated[str | None, "The node; null: that of ARI_CURRENT_NODE_ID."] = None,
) -> Answer:
    """Say in which node you work from now on: you write to that one alone. Answers {ok,
    current_node}."""
    experiment._set_current_node(node_id)
    return {"ok": True, "current_node": experiment.current_node}


_IT = ExperimentMemory
OPERATIONS: Mapping[str, Operation] = {
    one.name: one
    for one in (
        *(
            Operation(call.__name__, call, writes=True)
            for call in (
                _IT.add_memory,
                _IT.add_experiment_result,
                _IT.add_failure_case,
                _IT.add_procedure_memory,
                _IT.add_reflection,
                _IT.add_reproducibility_event,
                _IT.consolidate_node_memory,
                _IT.clear_node_memory,
                _IT.purge_checkpoint,
                _IT.seed_core_memory,
                _IT.change_experiment_context,
                _IT.bulk_import,
                _IT.backup,
                _IT.restore,
                _IT.react_add,
            )
        ),
        *(
            Operation(call.__name__, call)
            for call in (
                _IT.search_memory,
                _IT.search_research_memory,
                _IT.get_verified_context,
                _IT.get_node_memory,
                _IT.bulk_get_node_memory,
                _IT.list_all_nodes,
                _IT.get_experiment_context,
                _IT.react_search,
                _IT.react_get_all,
                _IT.list_react_entries,
                _IT.audit_memory,
                _IT.access_log,
                _IT.health,
            )
        ),
        Operation("_set_current_node", _set_current_node, writes=True, of_caller=True),
    )
}

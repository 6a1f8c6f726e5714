"""Whether a state can still move, by its documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from control_plane import StateDocument, Store, keys


def is_alive(document: StateDocument, documents: Mapping[str, StateDocument]) -> bool:
    """Whether every join above is open, and of the round that ``document`` belongs to. What is left
    of a closed one can change nothing; it is tidied up at the end of the run."""
    round_ = document.round
    for path, _ in reversed(keys.enclosing_joins(document.path)):
        parent = documents.get(path)
        if parent is None or parent.join is None:
            return False
        if not parent.join.open or parent.join.visit != round_:
            return False
        round_ = parent.round
    return True


async def alive(
    store: Store, workflow_id: str, documents: Iterable[StateDocument]
) -> list[StateDocument]:
    """Those of ``documents``, states of a run, that can still move."""
    found = list(documents)
    above = {path for each in found for path, _ in keys.enclosing_joins(each.path)}
    parents = await store.states(workflow_id, sorted(above))
    return [each for each in found if is_alive(each, parents)]

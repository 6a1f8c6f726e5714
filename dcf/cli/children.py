"""What goes on inside the Map and Parallel states of a run."""

from __future__ import annotations

from collections.abc import Iterable

from control_plane import StateDocument, Store, split_path

_ENDED = frozenset({"done", "failed", "cancelled", "skipped"})
_MOST = 10_000


class Children:
    """Reads the states below joins, look by look; what ended before the last look is left out, so
    that a long Map costs no more at its end than at its start."""

    def __init__(self) -> None:
        self._ended: set[str] = set()
        self._earlier: set[str] = set()
        self._joins: set[str] = set()

    async def read(
        self, store: Store, workflow_id: str, joins: Iterable[str]
    ) -> dict[str, StateDocument]:
        """The states inside ``joins`` (paths), and inside those of the last look, by path in
        order. Empty for a run of more than 10,000 paths: there the join's own count must do."""
        waiting = set(joins)
        wanted, self._joins = waiting | self._joins, waiting
        if not wanted:
            return {}
        if int(await store.backend.command("SCARD", store.keys(workflow_id).paths)) > _MOST:
            return {}
        paths = [path for path in await store.paths(workflow_id) if _top(path) in wanted]
        self._reopen(path for path in paths if "@" in path)
        current = [path for path in paths if "@" not in path and path not in self._ended]
        documents = await store.states(workflow_id, sorted(current, key=split_path))
        states = {path: one for path, one in documents.items() if one.kind == "state"}
        self._ended |= documents.keys() - states.keys()
        self._ended |= {path for path, one in states.items() if one.status in _ENDED}
        return states

    def _reopen(self, earlier: Iterable[str]) -> None:
        """An earlier visit that is new tells that its state was entered again."""
        for path in set(earlier) - self._earlier:
            self._earlier.add(path)
            self._ended.discard(path.partition("@")[0])


def _top(path: str) -> str:
    """The state of the root frame that ``path`` is inside of, empty for one of the root frame."""
    head, inside, _ = path.partition("[")
    return head if inside else ""

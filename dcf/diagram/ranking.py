"""Which layer each item lies in, and which edges go against the flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcf.diagram.flat_graph import FlatEdge


def backward_edges(count: int, edges: Sequence[FlatEdge]) -> set[int]:
    """The numbers of the edges that close a loop, walking from item 0 in the order given."""
    ways: list[list[int]] = [[] for _ in range(count)]
    entered = [0] * count
    for number, edge in enumerate(edges):
        ways[edge.source].append(number)
        entered[edge.target] += 1
    backward: set[int] = set()
    unseen, open_, closed = 0, 1, 2
    state = [unseen] * count
    roots = [0, *(item for item in range(1, count) if not entered[item]), *range(1, count)]
    for root in roots:
        if state[root] != unseen:
            continue
        state[root] = open_
        trail: list[tuple[int, Iterator[int]]] = [(root, iter(ways[root]))]
        while trail:
            item, rest = trail[-1]
            number = next(rest, -1)
            if number < 0:
                state[item] = closed
                trail.pop()
                continue
            target = edges[number].target
            if state[target] == open_:
                backward.add(number)
            elif state[target] == unseen:
                state[target] = open_
                trail.append((target, iter(ways[target])))
    return backward


def ranks_of(count: int, edges: Sequence[FlatEdge], backward: set[int]) -> list[int]:
    """The rank of each item: one more than the highest before it; every edge, those in
    ``backward`` turned round, leads to a higher rank."""
    after: list[list[int]] = [[] for _ in range(count)]
    open_ = [0] * count
    for number, edge in enumerate(edges):
        upper, lower = _flow(edge, number in backward)
        if upper != lower:
            after[upper].append(lower)
            open_[lower] += 1
    sources = [item for item in range(count) if not open_[item]]
    ranks, waiting = [0] * count, list(sources)
    while waiting:
        item = waiting.pop()
        for lower in after[item]:
            ranks[lower] = max(ranks[lower], ranks[item] + 1)
            open_[lower] -= 1
            if not open_[lower]:
                waiting.append(lower)
    for item in sources:
        # What nothing leads to stands right above what it leads to.
        if item and after[item]:
            ranks[item] = min(ranks[lower] for lower in after[item]) - 1
    return ranks


def _flow(edge: FlatEdge, turned: bool) -> tuple[int, int]:
    return (edge.target, edge.source) if turned else (edge.source, edge.target)

"""Which edges are too long to be drawn as lines.

A machine of hundreds of states that jump anywhere would need more room for lines than for states,
and nobody could follow them. There the longest ones end in a small box that names their target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dcf.diagram.flat_graph import FlatEdge
from dcf.diagram.ranking import backward_edges, ranks_of

_FREE, _PER_ITEM = 500, 8
_NEAR = 3


def far_edges(count: int, edges: Sequence[FlatEdge]) -> set[int]:
    """The numbers of ``edges`` that are not to be drawn to their target; mostly none."""
    backward = backward_edges(count, edges)
    ranks = ranks_of(count, edges, backward)
    lines: dict[tuple[int, str, bool], list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        if edge.source != edge.target:
            lines[edge.target, edge.lane, number in backward].append(number)

    def length(number: int) -> int:
        return abs(ranks[edges[number].target] - ranks[edges[number].source])

    lengths = {key: max(map(length, numbers)) for key, numbers in lines.items()}
    room = _FREE + _PER_ITEM * count
    far: set[int] = set()
    # A line that many share is worth its room.
    for key in sorted(lengths, key=lambda key: (lengths[key] / len(lines[key]), key)):
        room -= lengths[key]
        if room < 0:
            far |= {number for number in lines[key] if length(number) > _NEAR}
    return far

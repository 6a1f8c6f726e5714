"""Where each cell lies along its layer.

After U. Brandes and B. Köpf, "Fast and simple horizontal coordinate assignment" (2001): four
layouts, each pushed to one side and built from columns of cells that are aligned with a median
neighbour; a cell gets the mean of its two middle positions. Trunks become straight lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dcf.diagram.cells import Layers
from dcf.diagram.ordering import Links

_GAP = 24.0
_TRUNK_GAP = 12.0


def align(found: Layers, links: Links) -> list[float]:
    """The centre of each cell; neighbours of one layer keep their order and their distance."""
    conflicts = _conflicts(found, links)
    above, below = links.main_above(), links.main_below()
    layouts = []
    for down in (True, False):
        for right in (False, True):
            rows = [row[::-1] if right else row for row in found.layers]
            near = above if down else below
            roots = _columns(rows if down else rows[::-1], near, conflicts, len(found.cells))
            centres = _compact(found, rows, roots)
            layouts.append([-at for at in centres] if right else centres)
    return _balance(found, layouts)


def _conflicts(found: Layers, links: Links) -> set[tuple[int, int]]:
    """Links that cross one between trunks and must give way to it."""
    conflicts: set[tuple[int, int]] = set()
    kinds = [cell.kind for cell in found.cells]
    for upper_row, row in pairwise(found.layers):
        place = {cell: position for position, cell in enumerate(upper_row)}
        left, scanned = -1, 0
        for position, cell in enumerate(row):
            inner = None
            if kinds[cell] == "trunk":
                inner = next((up for up in links.above[cell] if kinds[up] == "trunk"), None)
            if inner is None and position < len(row) - 1:
                continue
            right = len(upper_row) if inner is None else place[inner]
            for other in row[scanned : position + 1]:
                for up in links.above[other]:
                    between_trunks = kinds[up] == "trunk" and kinds[other] == "trunk"
                    if not left <= place[up] <= right and not between_trunks:
                        conflicts.add((up, other))
            scanned, left = position + 1, right
    return conflicts


def _columns(
    rows: list[list[int]], near: list[list[int]], conflicts: set[tuple[int, int]], count: int
) -> list[int]:
    """For each cell the first of its column. ``near`` has the neighbours in the row before."""
    root, aligned = list(range(count)), list(range(count))
    place = {cell: position for row in rows for position, cell in enumerate(row)}
    for row in rows:
        reached = -1
        for cell in row:
            linked = sorted(near[cell], key=place.__getitem__)
            middle = (len(linked) - 1) / 2
            for other in linked[int(middle) : int(middle + 1.5)]:
                barred = (other, cell) in conflicts or (cell, other) in conflicts
                if aligned[cell] == cell and reached < place[other] and not barred:
                    aligned[other] = cell
                    root[cell] = root[other]
                    aligned[cell] = root[cell]
                    reached = place[other]
    return root


def _compact(found: Layers, rows: list[list[int]], root: list[int]) -> list[float]:
    """The columns as far to the left as they go, then as near to their right neighbours."""
    after: dict[int, dict[int, float]] = {}
    before: dict[int, int] = dict.fromkeys(root, 0)
    for row in rows:
        for left, right in pairwise(row):
            here, there = root[left], root[right]
            ways = after.setdefault(here, {})
            if there not in ways:
                before[there] += 1
            ways[there] = max(ways.get(there, 0.0), distance(found, left, right))
    order = [column for column, open_ in before.items() if not open_]
    at = dict.fromkeys(before, 0.0)
    for column in order:
        for there, apart in after.get(column, {}).items():
            at[there] = max(at[there], at[column] + apart)
            before[there] -= 1
            if not before[there]:
                order.append(there)
    for column in reversed(order):
        ways = after.get(column, {})
        if ways:
            at[column] = max(at[column], min(at[there] - apart for there, apart in ways.items()))
    return [at[one] for one in root]


def distance(found: Layers, left: int, right: int) -> float:
    """How far apart the centres of two neighbours are, at least."""
    here, there = found.cells[left], found.cells[right]
    trunk = "trunk" in (here.kind, there.kind)
    return (here.size.breadth + there.size.breadth) / 2 + (_TRUNK_GAP if trunk else _GAP)


def _balance(found: Layers, layouts: list[list[float]]) -> list[float]:
    spans = [_span(found, layout) for layout in layouts]
    narrowest = min(spans, key=lambda span: span[1] - span[0])
    shifted = []
    for number, (layout, span) in enumerate(zip(layouts, spans, strict=True)):
        right = number % 2
        shift = narrowest[right] - span[right]
        shifted.append([at + shift for at in layout])
    middle = [sorted(four)[1:3] for four in zip(*shifted, strict=True)]
    return [sum(two) / 2 for two in middle]


def _span(found: Layers, layout: list[float]) -> tuple[float, float]:
    edges = list(_edges(found, layout))
    return min(left for left, _ in edges), max(right for _, right in edges)


def _edges(found: Layers, layout: list[float]) -> Iterator[tuple[float, float]]:
    for cell, at in zip(found.cells, layout, strict=True):
        yield at - cell.size.breadth / 2, at + cell.size.breadth / 2

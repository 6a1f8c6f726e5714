"""Makes straight what alignment has left with a small bend.

A column is a row of cells each of which is the main neighbour of the next. The mean of four
layouts may set its cells a little apart; where the neighbours leave room they come together again.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcf.diagram.alignment import distance
from dcf.diagram.cells import Layers
from dcf.diagram.ordering import Links


def straighten(found: Layers, links: Links, centres: list[float]) -> None:
    """Move the cells of each column to one position in ``centres``, if there is one for all."""
    place = {cell: at for row in found.layers for at, cell in enumerate(row)}
    for column in _columns(links):
        least, most = -float("inf"), float("inf")
        for cell in column:
            row, at = found.layers[found.cells[cell].layer], place[cell]
            if at:
                before = row[at - 1]
                least = max(least, centres[before] + distance(found, before, cell))
            if at + 1 < len(row):
                after = row[at + 1]
                most = min(most, centres[after] - distance(found, cell, after))
        if least <= most:
            middle = sorted(centres[cell] for cell in column)[len(column) // 2]
            for cell in column:
                centres[cell] = min(max(middle, least), most)


def _columns(links: Links) -> Iterator[list[int]]:
    above, below = links.main_above(), links.main_below()

    def after(cell: int) -> int | None:
        only = below[cell][0] if len(below[cell]) == 1 else None
        return only if only is not None and above[only] == [cell] else None

    followers = {after(cell) for cell in range(len(below))}
    for cell in range(len(below)):
        if cell in followers:
            continue
        column, next_ = [cell], after(cell)
        while next_ is not None:
            column.append(next_)
            next_ = after(next_)
        if len(column) > 1:
            yield column

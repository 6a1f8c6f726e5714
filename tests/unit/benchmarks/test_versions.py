"""Two versions measured in turn: which is first changes, and quotients are of pairs."""

from __future__ import annotations

from benchmarks.versions import compare


def test_pairs_are_compared_and_their_order_changes():
    asked: list[str] = []
    # The machine computes at half its speed for the second pair.
    rates = {"before": iter([100.0, 50.0, 100.0]), "after": iter([110.0, 55.0, 90.0])}

    def measured(which: str) -> dict[str, float]:
        asked.append(which)
        return {"hops/s": next(rates[which])}

    shown = compare(lambda: measured("before"), lambda: measured("after"), 3)
    assert asked == ["before", "after", "after", "before", "before", "after"]
    cells = [list(column.cells) for column in shown.columns]
    assert cells == [["hops/s"], ["100"], ["90"], ["1.10"], ["1.00 to 1.10"]]

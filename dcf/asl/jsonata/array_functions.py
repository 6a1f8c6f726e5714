"""Functions of JSONata over arrays and objects."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import Functions, JException, Jsonata, Utils
from dcf.asl.jsonata.native import NativeFunction, current_budget, current_rng, whole_number
from dcf.asl.jsonata.text import to_text
from dcf.asl.jsonata.value import copied, weigh
from dcf.asl.jsonata.walking import CONTAINER

MAX_RANGE = 360_145
"""Most numbers that ``$range`` makes (a Step Functions limit)."""

_COMPARISON_STEPS = 8  # what it costs to call a function of the expression from the library


def _shuffle(items: Any) -> Any:
    if items is None:
        return None
    shuffled = list(items)
    current_rng().shuffle(shuffled)
    return shuffled


def _count(value: Any) -> int:
    if value is None:
        return 0
    return len(value) if isinstance(value, list) else 1


def _partition(items: Any, size: Any) -> Any:
    if items is None:
        return None
    step = len(items) if size is None else whole_number(size)
    if step < 0:
        raise JException("D3137", -1, "Second argument must be zero or greater")
    if not items or step == 0:
        return None
    current_budget().total += CONTAINER * (len(items) // step)
    current_budget().spend(len(items))
    return [list(items[start : start + step]) for start in range(0, len(items), step)]


def _range(first: Any, last: Any, step: Any) -> Any:
    if first is None or last is None or step is None:
        return None
    start, end, by = whole_number(first), whole_number(last), whole_number(step)
    if by == 0:
        return None
    count = (end - start) // by + 1
    if count <= 0:
        return None
    if count > MAX_RANGE:
        raise current_budget().too_big()
    current_budget().spend(count, new=True)
    return Utils.create_sequence_from_iter(start + by * position for position in range(count))


def _distinct(items: Any) -> Any:
    if not isinstance(items, list) or len(items) <= 1:
        return items
    budget = current_budget()
    weigh(items, budget)
    seen: set[Hashable] = set()
    kept = []
    for item in items:
        budget.tick()
        key = _key(item, budget)
        if key not in seen:
            seen.add(key)
            kept.append(item)
    sequence = isinstance(items, Utils.JList) and items.sequence
    return Utils.create_sequence_from_iter(kept) if sequence else kept


def _key(item: Any, budget: Budget) -> Hashable:
    """The same for equal values, whose size it does not exceed by more than a factor."""
    if isinstance(item, dict):
        return "object", tuple(sorted((key, _key(value, budget)) for key, value in item.items()))
    if isinstance(item, list):
        return "array", tuple(_key(value, budget) for value in item)
    if isinstance(item, str):
        return "text", item
    return to_text(item, budget) or f"function {id(item)}"


def _spread(value: Any) -> Any:
    if isinstance(value, list):
        spread = Utils.create_sequence()
        for item in value:
            current_budget().tick()
            inner = _spread(item)
            spread.extend(inner if isinstance(inner, list) else [inner])
        return spread
    if isinstance(value, dict):
        current_budget().total += CONTAINER * len(value)
        current_budget().spend(len(value))
        return Utils.create_sequence_from_iter({key: item} for key, item in value.items())
    return value


def _clone(value: Any) -> Any:
    return None if value is None else copied(value, current_budget())


def _sort(items: Any, comparator: Any) -> Any:
    if items is None or len(items) <= 1:
        return items
    if comparator is None:
        texts = all(isinstance(item, str) for item in items)
        if not texts and not Utils.is_array_of_numbers(items):
            raise JException("D3070", -1)
        weigh(items, current_budget())
        return sorted(items)
    return sorted(items, key=lambda item: _Sorted(item, comparator))


class _Sorted:
    """An element that ``after(a, b)`` orders: true when ``a`` stands behind ``b``."""

    __slots__ = ("_after", "_item")

    def __init__(self, item: Any, after: Any) -> None:
        self._item = item
        self._after = after

    def __lt__(self, other: _Sorted) -> bool:
        current_budget().tick(_COMPARISON_STEPS)
        verdict = Functions.func_apply(self._after, [other._item, self._item])
        return bool(Jsonata.boolize(verdict))


ARRAY_FUNCTIONS = (
    NativeFunction("partition", "<an?:a>", _partition),
    NativeFunction("range", "<nnn?:a>", _range),
    NativeFunction("shuffle", "<a:a>", _shuffle),
    NativeFunction("count", "<x:n>", _count),
    NativeFunction("distinct", "<x:x>", _distinct),
    NativeFunction("spread", "<x-:a<o>>", _spread),
    NativeFunction("clone", "<(oa)-:o>", _clone),
    NativeFunction("sort", "<af?:a>", _sort),
)

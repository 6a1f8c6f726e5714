"""How many failed iterations a Map lives with: items are counted."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl.maps.tolerance import Tolerance


@pytest.mark.parametrize(
    ("tolerance", "sizes", "iterations"),
    [
        (Tolerance(), [1, 1], 0),
        (Tolerance(count=1), [1, 1, 1], 1),
        (Tolerance(percentage=50), [1, 1, 1], 1),
        (Tolerance(percentage=100), [1, 1, 1], 3),
        (Tolerance(count=3, percentage=10), [1] * 10, 1),
        (Tolerance(count=1), [2, 2], 0),
        (Tolerance(count=3), [2, 2, 1], 1),
        (Tolerance(percentage=50), [2, 2], 1),
        (Tolerance(count=0, percentage=100), [1], 0),
    ],
)
def test_neither_number_nor_percentage_of_the_items_is_exceeded(
    tolerance: Tolerance, sizes: list[int], iterations: int
) -> None:
    assert tolerance.iterations(sizes) == iterations


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=7), count=st.integers(0, 12))
def test_whichever_iterations_fail_no_more_items_fail_than_are_tolerated(
    sizes: list[int], count: int
) -> None:
    most = Tolerance(count=count).iterations(sizes)

    assert all(sum(failed) <= count for failed in combinations(sizes, most))
    assert most == len(sizes) or any(sum(more) > count for more in combinations(sizes, most + 1))

"""What a worker remembers stays within its bounds."""

from __future__ import annotations

from dcf.workflow.kept import Kept


def key(run: str, path: str = "M") -> tuple[str, str, str, int]:
    return (run, "i", path, 1)


def test_what_is_not_used_for_longest_is_dropped_first() -> None:
    kept: Kept[int] = Kept(2, 1000)
    kept.put(key("a"), 1, 1)
    kept.put(key("b"), 2, 1)
    assert kept.get(key("a")) == 1
    kept.put(key("c"), 3, 1)
    assert [kept.get(key(run)) for run in "abc"] == [1, None, 3]


def test_large_values_make_room_for_the_newest() -> None:
    kept: Kept[int] = Kept(100, 10)
    for number, run in enumerate("abc"):
        kept.put(key(run), number, 4)
    assert [kept.get(key(run)) for run in "abc"] == [None, 1, 2]
    kept.put(key("d"), 3, 99)
    assert (len(kept), kept.bytes, kept.get(key("d"))) == (1, 99, 3)


def test_the_same_key_again_counts_once() -> None:
    kept: Kept[int] = Kept(9, 100)
    kept.put(key("a"), 1, 60)
    kept.put(key("a"), 2, 50)
    assert (len(kept), kept.bytes, kept.get(key("a"))) == (1, 50, 2)


def test_a_run_is_forgotten_whole() -> None:
    kept: Kept[int] = Kept(9, 100)
    for run, path in (("a", "M"), ("a", "N"), ("b", "M")):
        kept.put(key(run, path), 1, 10)
    kept.forget("a")
    assert (len(kept), kept.bytes) == (1, 10)

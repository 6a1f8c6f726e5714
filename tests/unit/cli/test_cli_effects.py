"""The tool server's account: each effect once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dcf.cli.effects import Effect, all_once, effects_of


def call(key: str | None, *, replayed: bool = False, tool: str = "ship") -> dict[str, Any]:
    return {"server": "s", "tool": tool, "idempotency_key": key, "replayed": replayed}


def test_a_repeated_call_is_one_effect() -> None:
    calls = [call("r/A/1/1/0"), call("r/A/1/1/0", replayed=True)]

    assert effects_of(calls, "r/") == [Effect("r/A/1/1/0", "s:ship", done=1, replayed=1)]


def test_other_runs_do_not_count() -> None:
    assert effects_of([call("r2/A/1/1/0"), call(None)], "r/") == []


def test_done_twice_is_not_once() -> None:
    assert not all_once(effects_of([call("r/A"), call("r/A")], "r/"))


def test_only_replayed_is_not_once() -> None:
    assert not all_once(effects_of([call("r/A", replayed=True)], "r/"))


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(0, 5), max_size=6))
def test_any_number_of_replays_stays_one_effect_each(replays: dict[str, int]) -> None:
    calls = [
        call(f"r/{key}", replayed=number > 0)
        for key, count in replays.items()
        for number in range(count + 1)
    ]

    effects = effects_of(calls, "r/")

    assert all_once(effects)
    assert [effect.replayed for effect in effects] == list(replays.values())

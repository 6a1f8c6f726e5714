"""A session goes on while hosts die, stop and are cut off; what breaks its orders is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from dcf.sessions import Companion, Draft
from dcf.simulation import DEFAULT_STEPS, Sabotage
from dcf.simulation.session_scene import SessionScene
from dcf.simulation.staging import workers_quiet

_seat = Draft.seat


def _never_busy(draft: Draft, companion: Companion) -> Companion:
    return _seat(draft, replace(companion, status="idle"))


def _nothing(*_: Any) -> None:
    return None


def _blind(source: str) -> str:
    return source.replace("if REQ.revision and ", "if false and ")


Break = Callable[[], AbstractContextManager[Any]]
# What is broken, in the code or in a script, and a seed that notices it.
BROKEN: dict[str, tuple[Break, Sabotage | None, int]] = {
    "a session that ends takes orders": (
        lambda: patch("dcf.sessions.delegating.check_taking", _nothing), None, 0,
    ),
    "an order that is said again is another one": (
        lambda: patch("dcf.sessions.delegating.ordered_before", _nothing), None, 15,
    ),
    "a companion that has a task gets another": (
        lambda: patch.object(Draft, "seat", _never_busy), None, 0,
    ),
    "a change does not look at what others changed": (
        nullcontext, {"record_change": _blind}, 83,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with workers_quiet():
        yield


def _played(seed: int, *, sabotage: Sabotage | None = None, steps: int = DEFAULT_STEPS) -> Any:
    scene = SessionScene(seed, steps, sabotage, ())
    scene.play()
    return scene


def test_every_order_is_answered_once_while_hosts_die_and_messages_are_lost() -> None:
    scenes = [_played(seed) for seed in range(8)]
    assert [seen for scene in scenes for seen in scene.violations] == []
    assert sum(scene.deaths for scene in scenes) > 0
    assert sum(scene.orders for scene in scenes) > 30


def test_with_one_step_no_host_dies() -> None:
    scene = _played(1, steps=1)
    assert (scene.violations, scene.deaths) == ([], 0)


def test_one_seed_gives_one_session() -> None:
    assert _played(2).server.trace == _played(2).server.trace


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_the_orders_of_a_session_is_noticed(name: str) -> None:
    broken, sabotage, seed = BROKEN[name]
    with broken():
        scene = _played(seed, sabotage=sabotage)
    assert "orders" in {seen.guarantee for seen in scene.violations}

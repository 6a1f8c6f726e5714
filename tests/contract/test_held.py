"""A lease made anew from the documents by whoever knows its token, and for whom states are
meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from flows import RUN, end, linear, seed
from test_join import fanned, open_frames
from workers import TTL_MS, lease_of, put_away, run_to_end
from worlds import World

from control_plane import Committed, Lease, Refusal, Store, UnknownRun, assign, assigned, timers

# Too large to stand in a document.
LARGE = "x" * 50_000


async def test_any_process_goes_on_under_a_lease_whose_token_it_knows(world: World) -> None:
    flow = linear("A", "B")
    await seed(world.store(), flow, LARGE)
    lease = await lease_of(world.store(), "A")
    found = await world.store().held(RUN, "A", lease.token)
    assert found == lease
    answer = await world.store().commit(
        found, end(flow, found, found.input), commit_id=world.token(), in_place=True
    )
    assert isinstance(answer, Committed)
    assert answer.lease is not None
    following = await world.store().held(RUN, "B", answer.lease.token)
    assert isinstance(following, Lease)
    assert (following.input, following.fence) == (LARGE, answer.lease.fence)
    assert not isinstance(await world.store().renew(following), Refusal)


async def test_a_run_that_is_removed_behind_a_commit_leaves_nothing_to_go_on_with(
    world: World,
) -> None:
    """Seed 4444: the lease of the join was given out, and its document gone before it was read."""

    class Removing(Store):
        async def states(self, workflow_id: str, paths: Sequence[str]) -> Any:
            await self.backend.command("DEL", *(self.keys(workflow_id).state(one) for one in paths))
            return await super().states(workflow_id, paths)

    flow = fanned(linear("T"))
    store, leases = await open_frames(world, flow, [1])
    removing = Removing(store.backend)
    answer = await removing.commit(
        leases[0], end(flow, leases[0], 1), commit_id="last", in_place=True
    )
    assert isinstance(answer, Committed)
    assert answer.lease is None


@pytest.mark.parametrize("token", ["", "f" * 32, "gläser"])
async def test_another_token_gives_no_lease(world: World, token: str) -> None:
    store = world.store()
    await seed(store, linear("A"))
    assert await store.held(RUN, "A", token) == Refusal("lease_lost")
    lease = await lease_of(store, "A")
    assert await store.held(RUN, "A", token) == Refusal("lease_lost")
    document = (await store.states(RUN, ["A"]))["A"].raw
    digest = document["lease"]["token"]
    assert await store.held(RUN, "A", digest) == Refusal("lease_lost"), "what is public is no token"
    assert isinstance(await store.held(RUN, "A", lease.token), Lease)


async def test_a_token_is_of_one_state_and_one_lease(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", "B"))
    first = await lease_of(store, "A")
    assert await store.held(RUN, "B", first.token) == Refusal("lease_lost")
    await store.release(first)
    assert await store.held(RUN, "A", first.token) == Refusal("lease_lost")
    second = await lease_of(store, "A", owner="another")
    assert await store.held(RUN, "A", first.token) == Refusal("lease_lost")
    assert await store.held(RUN, "A", second.token) == second


async def test_whether_it_is_still_in_force_says_the_script_that_writes(world: World) -> None:
    store = world.store()
    flow = linear("A")
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await world.advance(TTL_MS)
    held = await store.held(RUN, "A", lease.token)
    assert isinstance(held, Lease), "nobody has looked since it ended"
    refused = await store.commit(held, end(flow, held, None), commit_id=world.token())
    assert refused == Refusal("lease_expired")
    await timers.tick(store, RUN)
    assert await store.held(RUN, "A", lease.token) == Refusal("lease_lost")


async def test_what_is_not_there_is_told_apart(world: World) -> None:
    store = world.store()
    assert await store.held(RUN, "A", "f" * 32) == Refusal("unknown_run")
    await seed(store, linear("A"))
    assert await store.held(RUN, "Nowhere", "f" * 32) == Refusal("unknown_state")


async def test_states_are_assigned_and_assigned_anew(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", "B"))
    assert await assigned(store, RUN) == {}
    await assign(store, RUN, {})
    await assign(store, RUN, {"A": "ada", "B": "grace"})
    await assign(store, RUN, {"A": "alan"})
    assert await assigned(store, RUN) == {"A": "alan", "B": "grace"}


async def test_an_assignment_needs_a_run_and_ends_with_it(world: World) -> None:
    store = world.store()
    with pytest.raises(UnknownRun):
        await assign(store, RUN, {"A": "ada"})
    assert await world.dump() == {}
    flow = linear("A")
    await seed(store, flow)
    await assign(store, RUN, {"A": "ada"})
    await run_to_end(world, flow)
    assert await put_away(store) is None
    assert await store.remove(RUN) is None
    assert await assigned(store, RUN) == {}
    assert store.keys(RUN).agents not in await world.dump()

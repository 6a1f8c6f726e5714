"""Leases of those outside: a passing error ends nobody's work, a token may be brought again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from unit.workflow.stage import Stage, document_of, flow, staged

from control_plane import Committed, Disconnected, Lease, Refusal
from dcf.workflow import External, Failed, RunCache, Succeeded, submit

RUN = "run-1"
TOKEN = "one-token-for-every-lease"
TASK = {"Type": "Task", "Resource": "x"}


class Away(RunCache):
    """Cannot be read once."""

    away = False

    async def get(self, workflow_id: str, incarnation: str) -> Any:
        if self.away:
            self.away = False
            raise Disconnected("away")
        return await super().get(workflow_id, incarnation)


async def begun(stage: Stage, **fields: Any) -> tuple[External, Away]:
    await submit(stage.store, document_of(flow(A={**TASK, **fields})), {}, workflow_id=RUN)
    runs = Away(stage.store)
    return External(stage.store, runs), runs


@staged
async def test_a_passing_error_ends_only_a_lease_that_nobody_knows_of(stage: Stage) -> None:
    external, runs = await begun(stage)
    runs.away = True
    with pytest.raises(Disconnected):
        await external.take(RUN, "A", owner="me", token=TOKEN)
    assert (await stage.state("A")).status == "ready"
    assert not isinstance(await external.take(RUN, "A", owner="me", token=TOKEN), Refusal)
    for use in (
        lambda: external.work_on(RUN, "A", TOKEN),
        lambda: external.finish(RUN, "A", TOKEN, Succeeded(1)),
    ):
        runs.away = True
        with pytest.raises(Disconnected):
            await use()
        assert (await stage.state("A")).status == "running"
    finished = await external.finish(RUN, "A", TOKEN, Succeeded(1))
    assert isinstance(finished, Committed) and finished.run_status == "succeeded"
    again = await external.finish(RUN, "A", TOKEN, Succeeded(1))
    assert again == Refusal("already_finished")


@staged
@pytest.mark.parametrize("at_once", [False, True])
async def test_of_two_outcomes_under_one_token_the_second_is_told_that_it_does_not_stand(
    stage: Stage, at_once: bool
) -> None:
    external, _ = await begun(stage)
    assert not isinstance(await external.take(RUN, "A", owner="me", token=TOKEN), Refusal)
    outcomes = [Succeeded({"n": 1}), Succeeded({"n": 2})]
    if at_once:
        calls = [external.finish(RUN, "A", TOKEN, outcome) for outcome in outcomes]
        answers = await asyncio.gather(*calls)
    else:
        answers = [await external.finish(RUN, "A", TOKEN, outcome) for outcome in outcomes]
    stands = next(n for n, answer in enumerate(answers) if isinstance(answer, Committed))
    assert answers[1 - stands] == Refusal("finished_otherwise")
    assert (await stage.end()).output == {"n": 1 + stands}
    failed = Failed("Boom", "no")
    assert await external.finish(RUN, "A", TOKEN, failed) == Refusal("finished_otherwise")
    again = await external.finish(RUN, "A", TOKEN, outcomes[stands])
    assert again == Refusal("already_finished")


@staged
async def test_giving_back_twice_with_one_token_gives_back_twice(stage: Stage) -> None:
    external, _ = await begun(stage)
    leases = []
    for _ in range(2):
        taken = await external.take(RUN, "A", owner="me", token=TOKEN)
        assert not isinstance(taken, Refusal)
        leases.append(taken[0])
        assert await external.release(RUN, "A", TOKEN) is None
        assert (await stage.state("A")).status == "ready"
    first, second = leases
    assert first.fence < second.fence
    assert await stage.store.release(second) is None, "said again, answered again"
    assert await stage.store.release(first) == Refusal("lease_lost")


@staged
async def test_a_lease_that_ended_is_not_given_out_again(stage: Stage) -> None:
    external, _ = await begun(stage)
    first = await external.take(RUN, "A", owner="me", ttl_ms=1_000, token=TOKEN)
    same = await external.take(RUN, "A", owner="me", ttl_ms=1_000, token=TOKEN)
    assert not isinstance(first, Refusal) and not isinstance(same, Refusal)
    assert first[0].fence == same[0].fence
    await asyncio.sleep(2)
    later = await external.take(RUN, "A", owner="me", token=TOKEN)
    assert not isinstance(later, Refusal)
    assert isinstance(later[0], Lease) and later[0].fence > first[0].fence
    assert isinstance(await external.renew(RUN, "A", TOKEN), Lease)

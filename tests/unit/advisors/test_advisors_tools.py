"""What stands behind the tools: registration, shared blocks, and guidelines without lost updates,
on a memory file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from advisor_samples import BAD, GOOD, NOW, Known, shop
from local_world import local_world
from memory_world import Numbered, Ticking

from dcf.advisors import (
    AnotherReflector,
    GuidelinesBoard,
    NotJson,
    NotRegistered,
    OneAgentTwice,
    open_board,
    publish_wish,
    read_shared_memory_blocks,
    reflect,
    reflector_of,
    register_reflector,
    update_reflector_guidelines,
    withdraw_wishes,
)
from dcf.agents import LocalAgents
from dcf.agents.templates import template_named
from dcf.guidelines import DAY_MS, LABEL, Rules, SkillRecommendation, read_guidelines
from dcf.memory import (
    SYSTEM,
    Memory,
    NewAgent,
    NewBlock,
    OverLimit,
    ReadOnlyBlock,
    RevisionConflict,
    Source,
    UnknownAgent,
    UnknownBlock,
)


async def agents(runtime: LocalAgents) -> tuple[str, str]:
    """A Planner and a Reflector from their templates; their ids."""
    made = []
    for name in ("planner", "reflector"):
        template = template_named(name)
        agent = await runtime.create(template.new_agent(name), template.blocks, by=SYSTEM)
        made.append(agent.id)
    return made[0], made[1]


def tip(text: str, **more: object) -> str:
    return json.dumps({"tip": text, **more})


async def test_both_share_one_block_and_know_each_other(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, reflector = await agents(runtime)
        initial = json.dumps({"guidelines": {"user_intent_tips": [{"tip": "'soon' is today"}]}})
        done = await register_reflector(
            runtime, planner, reflector, initial_guidelines_json=initial, now=NOW
        )
        assert done.warnings == ()
        for agent in (planner, reflector):
            block = await runtime.block(agent, LABEL)
            assert block.id == done.guidelines_block_id
            assert [one.tip for one in read_guidelines(block.value).user_intent_tips] == [
                "'soon' is today"
            ]
        assert await reflector_of(runtime, planner) == reflector
        reference = json.loads((await runtime.block(reflector, "planner_reference")).value)
        assert reference["planner_agent_id"] == planner


async def test_registering_again_keeps_the_guidelines_and_says_so(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, reflector = await agents(runtime)
        await register_reflector(runtime, planner, reflector, now=NOW)
        await update_reflector_guidelines(runtime, planner, add_user_intent_tip=tip("a"), now=NOW)
        again = await register_reflector(runtime, planner, reflector, now=NOW + 1)
        assert again.warnings == ("registered again",)
        other = await runtime.create(NewAgent(name="other"), by=SYSTEM)
        moved = await register_reflector(runtime, planner, other.id, now=NOW + 2)
        assert moved.warnings == (f"registered in the place of {reflector}",)
        assert (await GuidelinesBoard(runtime, other.id).read()).revision == 1


async def test_registration_needs_two_agents_that_there_are(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner, reflector = await agents(world.runtime)
        with pytest.raises(OneAgentTwice):
            await register_reflector(world.runtime, planner, planner, now=NOW)
        with pytest.raises(UnknownAgent):
            await register_reflector(world.runtime, planner, "nobody", now=NOW)
        with pytest.raises(NotJson):
            await register_reflector(
                world.runtime, planner, reflector, initial_guidelines_json="{", now=NOW
            )
        assert await reflector_of(world.runtime, planner) is None


async def test_items_are_merged_and_what_is_wrong_is_told(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, _ = await agents(runtime)
        done = await update_reflector_guidelines(
            runtime,
            planner,
            add_user_intent_tip=tip("a"),
            add_warning="{",
            add_workflow_pattern=json.dumps({"pattern": "p", "confidence": 0.6}),
            add_skill_recommendation=json.dumps({"prefer": "x"}),
            add_model_selection=json.dumps({"skill": "s", "recommended_action": "maintain"}),
            add_insight=json.dumps({"id": "i"}),
            now=NOW,
        )
        assert done.revision == 1
        assert [one.tip for one in done.guidelines.user_intent_tips] == ["a"]
        assert [one.skill for one in done.guidelines.model_selection] == ["s"]
        assert done.guidelines.recent_insights == ({"id": "i", "written_by": "agent"},)
        assert len(done.warnings) == 3
        unchanged = await update_reflector_guidelines(
            runtime, planner, add_warning="{", now=NOW + 1
        )
        assert unchanged.revision == 1


async def test_what_an_agent_says_is_kept_as_its_word(tmp_path: Path) -> None:
    claim = {
        "condition": "x", "task_type": "pay", "prefer": BAD, "confidence": 1.0,
        "evidence": {"workflows": 99, "runs": ["dcf://run/none"]},
        "insight": "insight-1", "written_by": "person",
    }  # fmt: skip
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, reflector = await agents(runtime)
        board = await open_board(runtime, planner)
        await reflect(Known(shop(1, 61)), since=NOW - 7 * DAY_MS, now=NOW, board=board)
        done = await update_reflector_guidelines(
            runtime, planner, add_skill_recommendation=json.dumps(claim), now=NOW
        )
        (warning,) = done.warnings
        assert "is not verified" in warning
        measured, said = done.guidelines.for_task("pay")
        assert (measured.prefer, said.prefer) == (GOOD, BAD)
        assert said.confidence == 1.0 >= (measured.confidence or 0)
        assert (said.rank, said.insight, said.written_by) == (0, None, "agent")
        assert said.evidence == {"verified": False, "claimed": claim["evidence"]}
        # Nor as what a new Reflector begins with.
        whole = json.dumps({"guidelines": {"skill_recommendations": [claim]}})
        await register_reflector(
            runtime, planner, reflector, initial_guidelines_json=whole, now=NOW
        )
        assert (await board.read()).for_task("pay") == (measured, said)


async def test_a_person_goes_first_until_it_is_taken_back(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner, _ = await agents(world.runtime)
        board = await open_board(world.runtime, planner)
        known = Known(shop(1, 61))
        await reflect(known, since=NOW - 7 * DAY_MS, now=NOW, board=board)
        for prefer in (GOOD, BAD):
            wish = SkillRecommendation(condition="x", task_type="pay", prefer=prefer)
            await publish_wish(board, wish, now=NOW)
        # The later wish took the place of the earlier one; a reflection leaves it there.
        await reflect(known, since=NOW - 7 * DAY_MS, now=NOW, board=board)
        wished, measured = (await board.read()).for_task("pay")
        assert (wished.prefer, wished.written_by) == (BAD, "person")
        assert (measured.prefer, measured.rank) == (GOOD, 1)
        after = await withdraw_wishes(board, "pay", now=NOW)
        assert after.for_task("pay") == (measured,)


async def test_what_a_person_wrote_is_not_replaced_by_an_agent(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, _ = await agents(runtime)
        board = await open_board(runtime, planner)
        item = {"condition": "x", "task_type": "pay", "prefer": BAD, "written_by": "person"}
        text = json.dumps({"guidelines": {"skill_recommendations": [item]}})
        await runtime.memory.blocks.write(planner, LABEL, text, by=SYSTEM, as_owner=True)
        await update_reflector_guidelines(
            runtime, planner, guidelines_json="{}", merge_mode=False, now=NOW
        )
        assert [one.prefer for one in (await board.read()).for_task("pay")] == [BAD]


async def test_without_merging_the_guidelines_are_replaced(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, _ = await agents(runtime)
        await update_reflector_guidelines(runtime, planner, add_user_intent_tip=tip("a"), now=NOW)
        whole = json.dumps({"guidelines": {"warnings": [{"warning": "w"}]}})
        both = await update_reflector_guidelines(runtime, planner, guidelines_json=whole, now=NOW)
        assert (len(both.guidelines.user_intent_tips), len(both.guidelines.warnings)) == (1, 1)
        alone = await update_reflector_guidelines(
            runtime, planner, guidelines_json=whole, merge_mode=False, now=NOW
        )
        assert (alone.guidelines.user_intent_tips, alone.revision) == ((), 3)


async def test_a_missing_block_and_a_seen_revision_are_errors(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, _ = await agents(runtime)
        plain = await runtime.create(NewAgent(name="plain"), by=SYSTEM)
        with pytest.raises(UnknownBlock):
            await update_reflector_guidelines(
                runtime, plain.id, add_user_intent_tip=tip("a"), now=NOW
            )
        with pytest.raises(RevisionConflict):
            await update_reflector_guidelines(
                runtime, planner, add_user_intent_tip=tip("a"), expected_revision=3, now=NOW
            )


async def test_no_update_is_lost_between_processes(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner, _ = await agents(world.runtime)
        source = Source(tmp_path / "memory.db")
        async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as second:
            elsewhere = LocalAgents(second, model=world.model)
            await asyncio.gather(
                *(
                    update_reflector_guidelines(
                        runtime, planner, add_user_intent_tip=tip(str(number)), now=NOW
                    )
                    for number, runtime in enumerate([world.runtime, elsewhere] * 10)
                )
            )
            await elsewhere.aclose()
        after = await GuidelinesBoard(world.runtime, planner).read()
        assert after.revision == 20
        assert sorted(int(one.tip) for one in after.user_intent_tips) == list(range(20))


async def test_the_block_is_closed_to_the_agents_themselves(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner, _ = await agents(world.runtime)
        with pytest.raises(ReadOnlyBlock):
            await world.runtime.write_block(planner, LABEL, "{}", by=SYSTEM)


async def test_a_reflection_publishes_once(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner, _ = await agents(world.runtime)
        board = await open_board(world.runtime, planner)
        known = Known(shop(1, 61))
        since = NOW - 7 * DAY_MS
        first = await reflect(known, since=since, now=NOW, board=board, sink=known)
        (advice,) = (await board.read()).for_task("pay")
        assert advice.prefer == GOOD
        again = await reflect(known, since=since, now=NOW, board=board, sink=known)
        assert first.guidelines == again.guidelines


class Dies(Known):
    """Whoever writes here dies before the n-th record."""

    left = 0

    async def put(self, kind: str, id_: str, data: object) -> None:
        if self.left == 0:
            raise ConnectionError
        self.left -= 1
        await super().put(kind, id_, data)


@pytest.mark.parametrize("left", [0, 1])
async def test_a_reflection_that_died_is_made_up_for(tmp_path: Path, left: int) -> None:
    async with local_world(tmp_path) as world:
        planner, _ = await agents(world.runtime)
        board = await open_board(world.runtime, planner)
        known = Dies(shop(1, 61))
        known.left = left
        since = NOW - 7 * DAY_MS
        with pytest.raises(ConnectionError):
            await reflect(known, since=since, now=NOW, board=board, sink=known)
        known.left = 100
        done = await reflect(known, since=since, now=NOW + 1_000, board=board, sink=known)
        # Published is one advice of each kind, under the id that it had before.
        assert done.guidelines is not None
        assert len(done.guidelines.for_task("pay")) == 1
        ids = {one["id"] for one in done.guidelines.recent_insights}
        assert ids == set(done.published) <= known.facts.keys()
        assert all(fact.created_at == NOW for fact in known.facts.values() if fact.id in ids)


async def test_what_does_not_fit_goes_least_sure_first(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner, _ = await agents(world.runtime)
        await world.runtime.memory.blocks.change(
            planner, LABEL, by=SYSTEM, as_owner=True, soft_limit=900, hard_limit=1_000
        )
        for number in range(8):
            text = tip(f"{number} " + "x" * 100, confidence=0.8 + number / 100)
            done = await update_reflector_guidelines(
                world.runtime, planner, add_user_intent_tip=text, now=NOW
            )
        assert any(warning.startswith("no room for") for warning in done.warnings)
        kept = [one.tip[0] for one in done.guidelines.user_intent_tips]
        assert kept == sorted(kept)
        assert kept[-1] == "7"
        with pytest.raises(OverLimit):
            await world.runtime.memory.blocks.write(
                planner, LABEL, "x" * 1_001, by=SYSTEM, as_owner=True
            )


async def test_shared_blocks_need_a_registration(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, reflector = await agents(runtime)
        with pytest.raises(NotRegistered):
            await read_shared_memory_blocks(runtime, planner)
        await register_reflector(runtime, planner, reflector, now=NOW)
        with pytest.raises(AnotherReflector):
            await read_shared_memory_blocks(runtime, planner, reflector_agent_id="somebody")
        shown = await read_shared_memory_blocks(runtime, planner, reflector_agent_id=reflector)
        assert sorted(block.label for block in shown.blocks) == [
            "human",
            "persona",
            LABEL,
            "reflector_registration",
        ]


async def test_secrets_are_never_shared(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        planner, reflector = await agents(runtime)
        await register_reflector(runtime, planner, reflector, now=NOW)
        for label in ("api_keys", "Secrets", "dcf_active_skills", "notes"):
            block = await runtime.create_block(NewBlock(label=label, value="x"), by=SYSTEM)
            await runtime.attach_block(planner, block.id, by=SYSTEM)
        shown = await read_shared_memory_blocks(
            runtime,
            planner,
            include_all=True,
            include_labels_json='["api_keys", "none"]',
            exclude_labels_json='["human"]',
        )
        labels = {block.label for block in shown.blocks}
        assert "notes" in labels
        assert labels.isdisjoint({"api_keys", "Secrets", "dcf_active_skills", "human"})
        assert shown.warnings == ("api_keys is never shared", "there is no block none")
        with pytest.raises(NotJson):
            await read_shared_memory_blocks(runtime, planner, include_labels_json='"persona"')


async def test_guidelines_expire_with_the_next_change(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner, _ = await agents(world.runtime)
        await update_reflector_guidelines(
            world.runtime, planner, add_user_intent_tip=tip("old"), now=NOW
        )
        later = NOW + Rules().expiry_ms + 1
        done = await update_reflector_guidelines(
            world.runtime, planner, add_user_intent_tip=tip("new"), now=later
        )
        assert [one.tip for one in done.guidelines.user_intent_tips] == ["new"]

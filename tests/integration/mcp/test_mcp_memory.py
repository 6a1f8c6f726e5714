"""What agents remember, through the tools: blocks, archives, search, history and the way back."""

from __future__ import annotations

from pathlib import Path

from integration.mcp.platforms import Desk, desk_on

from dcf.mcp.agent_life import by_tool
from dcf.memory import NewBlock


async def made(desk: Desk, name: str = "ann", **more: object) -> str:
    blocks = {"notes": "one two one", "plan": ""}
    answer = await desk.good("create_agent", agent_name=name, blocks_json=blocks, **more)
    return str(answer["agent_id"])


async def test_a_block_is_written_as_it_was_seen_and_says_where_it_stands(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        agent = await made(desk)
        seen = await desk.good("read_memory_block", agent_id=agent, label="notes")
        assert (seen["value"], seen["size"], seen["revision"]) == ("one two one", 11, 1)
        write = {"agent_id": agent, "label": "notes", "expected_revision": 1}
        done = await desk.good("write_memory_block", **write, value="three")
        assert (done["revision"], done["size"]) == (2, 5)
        assert (
            await desk.refused("write_memory_block", **write, value="four")
            == "memory_revision_conflict"
        )
        await desk.good("append_memory_block", agent_id=agent, label="notes", text="four")
        replace = {"agent_id": agent, "label": "notes"}
        await desk.good("replace_in_memory_block", **replace, old_text="three", new_text="3")
        missing = {**replace, "old_text": "five", "new_text": ""}
        assert await desk.refused("replace_in_memory_block", **missing) == "memory_text_not_found"
        part = await desk.good("read_memory_block", **replace, offset=2, length=3)
        assert (part["value"], part["size"]) == ("fou", 6)
        listed = await desk.good("list_memory_blocks", agent_id=agent)
        assert [(one["label"], one["size"]) for one in listed["blocks"]] == [
            ("notes", 6), ("plan", 0),
        ]  # fmt: skip
        assert await desk.refused("read_memory_block", agent_id=agent, label="x") == (
            "memory_unknown_block"
        )
        assert await desk.refused("list_memory_blocks", agent_id="nobody") == "unknown_agent"


async def test_blocks_are_made_within_limits_shared_and_taken_away(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        ann, bob = await made(desk), await made(desk, "bob")
        limits = {"hard_limit": 4, "on_limit": "reject"}
        block = await desk.good(
            "create_memory_block", agent_id=ann, label="team", value="blue", type="shared", **limits
        )
        over = {"agent_id": ann, "label": "team", "value": "green"}
        assert await desk.refused("write_memory_block", **over) == "memory_over_limit"
        await desk.good("attach_memory_block", agent_id=bob, block_id=block["block_id"])
        again = {"agent_id": bob, "block_id": block["block_id"]}
        assert await desk.refused("attach_memory_block", **again) == "memory_block_exists"
        await desk.good("write_memory_block", agent_id=bob, label="team", value="red")
        read = await desk.good("read_memory_block", agent_id=ann, label="team")
        assert read["value"] == "red"
        await desk.good("detach_memory_block", agent_id=bob, label="team")
        assert await desk.refused("read_memory_block", agent_id=bob, label="team") == (
            "memory_unknown_block"
        )
        await desk.good("delete_agent", agent_name="ann")
        await desk.good("attach_memory_block", agent_id=bob, block_id=block["block_id"])


async def test_a_block_that_others_keep_is_not_written(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        agent = await made(desk)
        home = await desk.platform.home()
        kept = NewBlock("rules", "Be kind.", read_only=True)
        await home.memory.blocks.create(agent, kept, by=by_tool("test"))
        place = {"agent_id": agent, "label": "rules"}
        for name, more in {
            "write_memory_block": {"value": ""},
            "append_memory_block": {"text": "x"},
            "replace_in_memory_block": {"old_text": "kind", "new_text": "rude"},
            "delete_memory_block": {},
            "detach_memory_block": {},
        }.items():
            assert await desk.refused(name, **place, **more) == "memory_read_only", name


async def test_what_was_deleted_is_in_the_history_and_comes_back(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        agent = await made(desk)
        before = (await desk.good("read_memory_history", agent_id=agent, limit=1))["events"][0]
        await desk.good("write_memory_block", agent_id=agent, label="notes", value="new")
        await desk.good("delete_memory_block", agent_id=agent, label="plan")
        events = (await desk.good("read_memory_history", agent_id=agent))["events"]
        # Newest first: the block and its holder, then the text.
        assert {event["operation"] for event in events[:2]} == {"deleted", "detached"}
        assert events[2]["operation"] == "updated" and events[2]["reason"] == "write_memory_block"
        back = {"agent_id": agent, "to_event": before["seq"]}
        tried = await desk.good("rollback_memory", **back, dry_run=True)
        assert tried["status"] == "would_roll_back"
        read = await desk.good("read_memory_block", agent_id=agent, label="notes")
        assert read["value"] == "new"
        assert (await desk.good("rollback_memory", **back))["status"] == "rolled_back"
        read = await desk.good("read_memory_block", agent_id=agent, label="notes")
        assert read["value"] == "one two one"
        listed = await desk.good("list_memory_blocks", agent_id=agent)
        assert {one["label"] for one in listed["blocks"]} == {"notes", "plan"}
        page = await desk.good("read_memory_history", agent_id=agent, limit=2)
        rest = await desk.good("read_memory_history", agent_id=agent, before=page["next_before"])
        assert page["events"][-1]["seq"] > rest["events"][0]["seq"]


async def test_an_agent_that_there_never_was_is_not_rolled_back(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        nobody = {"agent_id": "nobody", "to_event": 0}
        assert await desk.refused("rollback_memory", **nobody) == "unknown_agent"
        agent = await made(desk)
        newest = (await desk.good("read_memory_history", limit=1))["events"][0]["seq"]
        same = await desk.good("rollback_memory", agent_id=agent, to_event=newest)
        assert same["status"] == "unchanged"


async def test_an_archive_is_filled_searched_listed_and_cleared(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        agent = await made(desk)
        texts = ("The kettle is in the kitchen.", "The ladder is in the shed.")
        ids = [
            (
                await desk.good(
                    "archival_memory_insert", agent_id=agent, content=text, tags_json=["place"]
                )
            )["passage_id"]
            for text in texts
        ]
        found = await desk.good("archival_memory_search", agent_id=agent, query="kettle", top_k=1)
        assert [one["content"] for one in found["passages"]] == [texts[0]]
        none = await desk.good("archival_memory_search", agent_id=agent, query="xylophone")
        assert none["passages"] == [] and "archival_memory_list" in none["warnings"][0]
        page = await desk.good("archival_memory_list", agent_id=agent, limit=1)
        rest = await desk.good("archival_memory_list", agent_id=agent, after=page["next_after"])
        listed = [one["passage_id"] for one in (*page["passages"], *rest["passages"])]
        assert sorted(listed) == sorted(ids) and rest["next_after"] is None
        everywhere = await desk.good("search_memory", query="ladder", kinds_json=["passage"])
        assert everywhere["found"][0]["ref"] == ids[1]
        assert everywhere["found"][0]["agent_id"] == agent
        early = await desk.good("search_memory", query="ladder", during="last year")
        assert early["found"] == []
        late = await desk.good("search_memory", query="ladder", during="today")
        assert late["found"][0]["ref"] == ids[1]
        assert await desk.refused("search_memory", query="ladder", during="soon") == "bad_arguments"
        assert late["found"][0]["uri"] == f"dcf://memory/{ids[1]}"
        await desk.good("archival_memory_delete", agent_id=agent, passage_id=ids[1])
        gone = await desk.good("search_memory", query="ladder", agent_id=agent)
        assert ids[1] not in [one["ref"] for one in gone["found"]]
        other = await made(desk, "bob")
        foreign = {"agent_id": other, "passage_id": ids[0]}
        assert await desk.refused("archival_memory_delete", **foreign) == "memory_unknown_passage"

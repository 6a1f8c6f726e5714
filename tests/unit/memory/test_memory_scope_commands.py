"""Commands on nodes: what they refuse before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_world import Ticking

from dcf.cli.memory.scope import Writing, add_entry, edit_entry, move_node
from dcf.cli.memory.serving import ServingOrder, serve_experiment
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.memory import Actor, Memory, NewNode, NodeShared, Source, random_id

BY = Actor("user", "ada")


async def test_commands_leave_alone_what_all_nodes_of_a_checkpoint_share(tmp_path: Path) -> None:
    where = Settings.from_env({"DCF_MEMORY": str(tmp_path / "m.db"), "DCF_EMBEDDER": "none"})
    made = await add_entry(where, "/lab", Writing("exp/a", "a plum"))
    entry = made.to_json()["entries"][0]["id"]

    for name in (".trace", ".context"):
        shared = f"exp/{name}"
        with pytest.raises(NodeShared):
            await add_entry(where, "/lab", Writing(shared, "a fig"))
        source = Source(tmp_path / "m.db")
        async with Memory.open(source, clock=Ticking(), new_id=random_id) as memory:
            node = await memory.nodes.add(NewNode("/lab", "exp", name), by=BY)
        for called in (shared, node.id):
            with pytest.raises(NodeShared, match="is no node of the tree"):
                await add_entry(where, "/lab", Writing(called, "a fig"))
            with pytest.raises(NodeShared):
                await add_entry(where, "/lab", Writing("exp/b", under=called))
            with pytest.raises(NodeShared):
                await edit_entry(where, "/lab", called, entry, "a fig")
            with pytest.raises(NodeShared):
                await move_node(where, "/lab", "exp/a", called)
            with pytest.raises(NodeShared):
                await move_node(where, "/lab", called, "exp/a")


async def test_a_folder_of_files_that_is_not_there_is_not_served(tmp_path: Path) -> None:
    where = Settings.from_env({"DCF_MEMORY": str(tmp_path / "m.db")})
    order = ServingOrder(
        "exp", None, "127.0.0.1", 0, None, tmp_path / "gone", stdio=True, as_json=False
    )

    with pytest.raises(BadInput) as raised:
        await serve_experiment(where, order)
    (problem,) = raised.value.problems
    assert (problem.code, problem.file) == ("CLI_FOLDER", "--files")
    assert "there is no folder" in problem.message and not (tmp_path / "m.db").exists()

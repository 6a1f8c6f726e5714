"""``dcf memory scope``: trees of nodes, as their user sees them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from memory_user import MemoryUser


def grow(memory: MemoryUser) -> None:
    """A base with two branches, each of which says one thing."""
    memory.ok("scope", "add", "exp/base", "The loss is flat after 20 epochs.")
    memory.ok(
        *("scope", "add", "exp/wider", "Wider layers overfit.", "--under", "exp/base"),
        *("--title", "Wider layers", "--score", "0.71"),
    )
    memory.ok("scope", "add", "exp/deeper", "Deeper nets diverge.", "--under", "exp/base")


def texts(memory: MemoryUser, node: str, *more: str) -> list[str]:
    return [one["text"] for one in memory.ok("scope", "show", node, *more)["entries"]]


def test_a_branch_shows_and_finds_its_ancestors_and_itself(memory: MemoryUser) -> None:
    grow(memory)

    assert texts(memory, "exp/wider") == [
        "The loss is flat after 20 epochs.",
        "Wider layers overfit.",
    ]
    assert texts(memory, "exp/wider", "--own") == ["Wider layers overfit."]
    assert texts(memory, "exp/base") == ["The loss is flat after 20 epochs."]
    found = memory.ok("scope", "search", "exp/wider", "layers nets loss")["found"]
    assert {one["node"] for one in found} == {"exp/base", "exp/wider"}
    assert "reads " in memory("scope", "show", "exp/wider").out


def test_the_tree_shows_what_stands_below_what(memory: MemoryUser) -> None:
    grow(memory)

    drawn = memory("scope", "tree").out
    assert "└── exp/base  1 entry" in drawn
    assert "    ├── exp/wider  score 0.71  Wider layers  1 entry" in drawn
    nodes = memory.ok("scope", "tree", "exp")["nodes"]
    assert [(one["name"], one["depth"]) for one in nodes] == [
        ("base", 1),
        ("wider", 2),
        ("deeper", 2),
    ]
    refused, document = memory.refused("scope", "tree", "run")
    assert refused == 2 and "no checkpoint 'run'. It has: exp." in document["error"]["message"]

    memory.ok("scope", "move", "exp/deeper", "--under", "exp/wider")
    assert "Wider layers overfit." in texts(memory, "exp/deeper")
    assert memory.ok("scope", "prune", "exp/wider")["removed"] is False
    pruned = memory.ok("scope", "prune", "exp/wider", "--yes")
    assert (pruned["removed"], len(pruned["nodes"]), pruned["entries"]) == (True, 2, 2)
    assert [one["name"] for one in memory.ok("scope", "tree", "exp")["nodes"]] == ["base"]


def test_a_picture_of_the_tree_shows_the_way_to_the_best_node(
    memory: MemoryUser, tmp_path: Path
) -> None:
    grow(memory)
    memory.ok("scope", "add", "exp/widest", "--under", "exp/wider", "--score", "0.9")

    drawn = tmp_path / "tree.svg"
    answer = memory.ok("scope", "tree", "exp", "--out", str(drawn))

    boxes = re.findall(r'<title>(exp/[^<]*)</title>\n?<rect class="box ([^"]*)"', drawn.read_text())
    assert dict(boxes) == {
        "exp/base — 1 entry": "k-Succeed",
        "exp/wider — score 0.71 · 1 entry · Wider layers": "k-Succeed",
        "exp/widest — score 0.9": "k-Succeed",
        "exp/deeper — 1 entry": "k-Pass",
    }
    assert (answer["out"], len(answer["nodes"])) == (str(drawn), 4)
    refused, document = memory.refused("scope", "tree", "--out", str(tmp_path / "tree.gif"))
    assert (refused, document["problems"][0]["code"]) == (2, "CLI_OUT")


def test_an_edit_of_what_is_inherited_is_seen_in_the_branch_alone(memory: MemoryUser) -> None:
    grow(memory)
    (entry,) = memory.ok("scope", "show", "exp/base")["entries"]

    own = memory.ok("scope", "edit", "exp/wider", entry["id"], "The loss is flat after 30.")[
        "entry"
    ]

    assert own["shadows"] == entry["id"]
    assert texts(memory, "exp/wider") == ["Wider layers overfit.", "The loss is flat after 30."]
    assert texts(memory, "exp/deeper")[0] == "The loss is flat after 20 epochs."
    code, document = memory.refused("scope", "edit", "exp/wider", entry["id"], "again")
    assert (code, document["error"]["code"]) == (1, "memory_entry_shadowed")


def test_what_a_branch_found_reaches_others_by_promotion_alone(memory: MemoryUser) -> None:
    grow(memory)
    (entry,) = memory.ok("scope", "show", "exp/wider", "--own")["entries"]
    difference = memory.ok("scope", "diff", "exp/wider", "exp/deeper")
    assert [one["text"] for one in difference["only_first"]["entries"]] == ["Wider layers overfit."]
    assert [one["text"] for one in difference["only_second"]["entries"]] == ["Deeper nets diverge."]

    memory.ok("scope", "promote", "exp/wider", entry["id"])

    assert "Wider layers overfit." in texts(memory, "exp/deeper")
    assert texts(memory, "exp/wider").count("Wider layers overfit.") == 1
    assert "only in exp/deeper: 2 entries" in memory("scope", "diff", "exp/wider", "exp/deeper").out
    code, document = memory.refused(
        *("scope", "promote", "exp/wider", entry["id"], "--to", "exp/deeper")
    )
    assert (code, document["error"]["code"]) == (1, "memory_node_not_above")


def test_a_program_writes_to_its_own_node_alone(memory: MemoryUser) -> None:
    grow(memory)
    memory.patch.setenv("DCF_NODE", "exp/deeper")

    code, document = memory.refused("scope", "add", "exp/wider", "a plum")
    assert (code, document["error"]["code"]) == (1, "memory_not_current_node")
    assert (
        "'exp/wider' is not the current node, which is 'exp/deeper'" in document["error"]["message"]
    )
    assert memory.refused("scope", "add", "exp/new", "a plum")[0] == 1
    memory.ok("scope", "add", "exp/deeper", "a plum")
    memory.patch.delenv("DCF_NODE")
    assert len(memory.ok("scope", "tree", "exp")["nodes"]) == 3


def test_a_program_reads_its_lineage_and_moves_what_is_its_own(memory: MemoryUser) -> None:
    grow(memory)
    memory.ok("scope", "add", "exp/below", "a plum", "--under", "exp/deeper")
    memory.ok("scope", "add", "exp/child", "a fig", "--under", "exp/wider")
    memory.ok("scope", "add", "other/base", "a kiwi")
    ids = {one["name"]: one["id"] for one in memory.ok("scope", "tree", "exp")["nodes"]}
    memory.patch.setenv("DCF_NODE", "exp/deeper")

    assert texts(memory, "exp/base") == ["The loss is flat after 20 epochs."]
    assert len(texts(memory, ids["deeper"])) == 2
    assert memory.ok("scope", "search", "exp/deeper", "nets")["found"]
    memory.ok("scope", "diff", "exp/deeper", "exp/base")
    for strange in ("exp/wider", ids["wider"], "exp/child", "exp/below", "other/base"):
        for command in (
            ("show", strange),
            ("search", strange, "a plum"),
            ("diff", "exp/deeper", strange),
            ("diff", strange, "exp/deeper"),
        ):
            code, document = memory.refused("scope", *command)
            assert (code, document["error"]["code"]) == (1, "memory_not_in_lineage")
            name = "exp/wider" if strange == ids["wider"] else strange
            expected = f"{name!r} is not the current node, which is 'exp/deeper', or above it"
            assert document["error"]["message"] == expected

    for strange in ("exp/wider", "exp/child", "exp/base"):
        for command in (
            ("move", strange, "--under", "exp/deeper"),
            ("prune", strange),
            ("prune", strange, "--yes"),
        ):
            code, document = memory.refused("scope", *command)
            assert (code, document["error"]["code"]) == (1, "memory_not_below_current")
            expected = f"{strange!r} is not the current node, which is 'exp/deeper', or below it"
            assert document["error"]["message"] == expected
    # Whoever stands below another branch reads that one.
    for own in ("exp/deeper", "exp/below"):
        assert memory.refused("scope", "move", own, "--under", "exp/wider")[0] == 1
    memory.ok("scope", "move", "exp/below", "--under", "exp/base")
    memory.patch.setenv("DCF_NODE", "exp/below")
    memory.ok("scope", "prune", "exp/below", "--yes")
    memory.patch.delenv("DCF_NODE")
    nodes = memory.ok("scope", "tree", "exp")["nodes"]
    assert {one["name"] for one in nodes} == {"base", "wider", "child", "deeper"}
    assert texts(memory, "exp/wider")


def test_a_program_has_the_context_of_its_own_checkpoint(memory: MemoryUser) -> None:
    grow(memory)
    memory.ok("scope", "add", "other/base", "a kiwi")
    memory.ok("scope", "context", "exp", "--seed", '{"goal": "low loss"}')
    memory.patch.setenv("DCF_NODE", "other/base")
    for more in ((), ("--seed", "{}"), ("--change", '{"goal": "speed"}')):
        code, document = memory.refused("scope", "context", "exp", *more)
        assert (code, document["error"]["code"]) == (1, "memory_not_current_checkpoint")
        assert "'exp'" in document["error"]["message"]
        assert "'other/base'" in document["error"]["message"]
    memory.ok("scope", "context", "other", "--seed", '{"goal": "more fruit"}')
    memory.patch.setenv("DCF_NODE", "exp/wider")
    assert memory.ok("scope", "context", "exp")["context"]["goal"] == "low loss"


def test_what_cannot_be_is_said_and_nothing_is_made(memory: MemoryUser) -> None:
    assert memory.refused("scope", "tree")[1]["error"]["code"] == "memory_missing"
    grow(memory)

    assert memory.refused("scope", "show", "wider")[0] == 2
    code, document = memory.refused("scope", "show", "exp")
    assert (code, document["problems"][0]["message"]) == (2, "'exp' is a checkpoint, not a node")
    assert "`dcf memory scope tree exp` shows its nodes" in document["problems"][0]["hint"]
    assert (
        "Close to it: exp/wider"
        in memory.refused("scope", "show", "exp/wder")[1]["error"]["message"]
    )
    assert memory.refused("scope", "add", "exp/deeper", "--under", "exp/wider")[0] == 1
    assert memory.refused("scope", "add", "exp/new", "text", "--kind", "No Kind")[0] == 2
    assert memory.refused("scope", "add", "exp/new", "--score", "nan")[0] == 2
    assert memory.refused("scope", "move", "exp/base", "--under", "exp/wider")[0] == 1
    assert len(memory.ok("scope", "tree", "exp")["nodes"]) == 3
    other = memory.folder / "other"
    assert memory.ok("scope", "tree", "--project", str(other))["nodes"] == []


def test_the_context_is_seeded_once_and_changed_explicitly(memory: MemoryUser) -> None:
    grow(memory)
    assert memory.ok("scope", "context", "exp")["context"] == {}
    assert memory.refused("scope", "context", "exp", "--change", '{"a": 1}')[0] == 1
    seeded = memory.ok("scope", "context", "exp", "--seed", '{"goal": "low loss", "cores": 2}')
    assert seeded["context"]["goal"] == "low loss"
    code, document = memory.refused("scope", "context", "exp", "--seed", '{"goal": "speed"}')
    assert (code, document["error"]["message"]) == (1, "the experiment is seeded already")
    changed = memory.ok("scope", "context", "exp", "--change", '{"goal": "speed", "cores": null}')
    assert changed["context"] == {"persona": "", "human": "", "goal": "speed"}
    assert memory.refused("scope", "context", "exp", "--change", "[1]")[0] == 2
    assert "goal: speed" in memory("scope", "context", "exp").out


def test_who_read_what_is_shown(memory: MemoryUser) -> None:
    grow(memory)
    memory.ok("scope", "search", "exp/wider", "loss layers")

    reads = memory.ok("scope", "access", "--node", "exp/wider", "--since", "today")["reads"]
    assert {one["source"] for one in reads if one["operation"] == "search"} == {
        "exp/base",
        "exp/wider",
    }
    assert memory.ok("scope", "access", "--by", "nobody")["reads"] == []
    first = memory.ok("scope", "access", "--limit", "1")
    assert first["next_before"] == first["reads"][0]["seq"]
    read = "found 1 entry of exp/base, in exp/wider (by `dcf memory scope search`)"
    assert read in memory("scope", "access").out


def test_a_checkpoint_goes_to_another_home_in_a_copy_of_its_folder(
    memory: MemoryUser, tmp_path: Path
) -> None:
    grow(memory)
    written = memory.ok("scope", "backup", "exp")
    assert (written["checkpoint"], written["nodes"], written["entries"]) == ("exp", 3, 3)
    copy = tmp_path / "elsewhere"
    shutil.copytree("exp", copy)
    before = [texts(memory, node) for node in ("exp/base", "exp/wider", "exp/deeper")]

    memory.patch.setenv("DCF_HOME", str(tmp_path / "other-home"))
    assert "exp is restored: 3 nodes with 3 entries." in memory("scope", "restore", copy).out
    assert [texts(memory, node) for node in ("exp/base", "exp/wider", "exp/deeper")] == before
    assert "the same" in memory("scope", "restore", copy).out
    memory.ok("scope", "add", "exp/wider", "One more.")
    code, refused = memory.refused("scope", "restore", copy)
    assert (code, refused["error"]["code"]) == (1, "memory_checkpoint_differs")
    assert "not the same: wider" in refused["error"]["message"]
    again = memory.ok("scope", "restore", copy, "--as", "again")
    assert (again["checkpoint"], again["has_new_ids"]) == ("again", True)
    code, refused = memory.refused("scope", "backup", copy)
    assert (code, refused["problems"][0]["code"]) == (2, "CLI_CHECKPOINT")
    memory.patch.setenv("DCF_NODE", "again/wider")
    assert memory.ok("scope", "backup", tmp_path / "third")["checkpoint"] == "again"

    file = copy / "memory_backup.jsonl.gz"
    file.write_bytes(file.read_bytes()[:-100])
    code, refused = memory.refused("scope", "restore", copy, "--as", "third")
    assert (code, refused["error"]["code"]) == (2, "memory_snapshot_damaged")
    assert [one["line"] for one in refused["problems"]] == [8]
    done = memory.ok("scope", "restore", copy, "--as", "third", "--what-is-whole")
    assert (done["nodes"], done["entries"], len(done["damage"])) == (3, 3, 1)

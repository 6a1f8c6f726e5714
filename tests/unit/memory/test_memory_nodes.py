"""Trees of nodes: what is read and written where, against a dictionary of nodes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from campaigns import SOAK, campaign
from memory_world import Numbered, Ticking
from unit.memory.node_tree import Tree

from dcf.memory import (
    Actor,
    EntryInherited,
    EntryShadowed,
    InvalidEntry,
    Memory,
    MemoryProblem,
    NewEntry,
    NewNode,
    NewObservation,
    Node,
    NodeElsewhere,
    NodeExists,
    NodeOfItself,
    NodeResult,
    NodeShared,
    NotCurrentNode,
    Origin,
    RootFixed,
    Source,
    UnknownEntry,
    UnknownNode,
)

WORDS = ("plum", "fig", "pear", "kiwi")


class World:
    """A memory and what it must be, under random operations."""

    def __init__(self, memory: Memory, rng: Random) -> None:
        self.memory, self.rng, self.tree = memory, rng, Tree()
        self.by = Actor("user", "ada")
        self.made = 0

    async def begin(self) -> None:
        first = await self.memory.nodes.add(NewNode("p", "x", "0"), by=self.by)
        root = await self.memory.nodes.named("p")
        self.tree.parents = {root.id: None, first.id: root.id}

    async def step(self) -> None:
        acts = {
            **{self.add: 4, self.write: 8, self.edit: 4, self.promote: 3, self.delete: 2},
            **{self.move: 2, self.remove: 1},
        }
        await self.rng.choices(list(acts), list(acts.values()))[0]()

    def node(self) -> str:
        return self.rng.choice(list(self.tree.parents))

    async def add(self) -> None:
        parent, self.made = self.node(), self.made + 1
        new = NewNode("p", "x", f"n{self.made}", parent=parent)
        self.tree.parents[(await self.memory.nodes.add(new, by=self.by)).id] = parent

    async def write(self) -> None:
        node, text = self.node(), self.rng.choice(WORDS)
        (entry,) = await self.memory.nodes.write(node, NewEntry(text), by=self.by)
        self.tree.entries[entry.id] = (node, text, None)

    async def edit(self) -> None:
        node, text = self.node(), self.rng.choice(WORDS)
        if not self.tree.entries:
            return
        entry = self.rng.choice(list(self.tree.entries))
        call = self.memory.nodes.edit(node, entry, by=self.by, text=text)
        if entry not in self.tree.read(node):
            with pytest.raises((UnknownEntry, EntryShadowed)):
                await call
            return
        done = await call
        owner, _, shadows = self.tree.entries[entry]
        if owner == node:
            assert done.id == entry
            self.tree.entries[entry] = (node, text, shadows)
        else:
            self.tree.entries[done.id] = (node, text, entry)

    async def promote(self) -> None:
        """The ancestor says it from now on; whoever read the node reads what it did."""
        tree = self.tree
        own = [(one, it[0]) for one, it in tree.entries.items() if one in tree.read(it[0])]
        if not own:
            return
        entry, node = self.rng.choice(own)
        above = tree.lineage(node)[1:]
        if not above:
            with pytest.raises(RootFixed):
                await self.memory.nodes.promote(node, entry, by=self.by)
            return
        to = self.rng.choice(above)
        before = {one: sorted(tree.read(one).values()) for one in tree.below(node)}
        done = await self.memory.nodes.promote(node, entry, by=self.by, to=to)
        again = await self.memory.nodes.promote(node, entry, by=self.by, to=to)
        assert again == done and (done.node_id, done.text) == (to, tree.entries[entry][1])
        for one in (to, *tree.lineage(node), *tree.below(node)):
            for kept in await self.memory.nodes.entries(one, inherited=False, limit=10_000):
                tree.entries[kept.id] = (one, kept.text, kept.shadows)
        assert done.id in tree.read(to)
        after = {one: sorted(tree.read(one).values()) for one in tree.below(node)}
        assert after == before

    async def delete(self) -> None:
        node = self.node()
        if not self.tree.entries:
            return
        entry = self.rng.choice(list(self.tree.entries))
        call = self.memory.nodes.delete(node, entry, by=self.by)
        if entry not in self.tree.read(node) or self.tree.entries[entry][0] != node:
            with pytest.raises((UnknownEntry, EntryShadowed, EntryInherited)):
                await call
            return
        await call
        del self.tree.entries[entry]

    async def move(self) -> None:
        node, parent = self.node(), self.node()
        call = self.memory.nodes.move(node, parent, by=self.by)
        if self.tree.parents[node] is None or parent in self.tree.below(node):
            with pytest.raises((RootFixed, NodeOfItself)):
                await call
            return
        await call
        self.tree.parents[node] = parent

    async def remove(self) -> None:
        node = self.node()
        call = self.memory.nodes.remove(node, by=self.by)
        if self.tree.parents[node] is None:
            with pytest.raises(RootFixed):
                await call
            return
        gone = self.tree.below(node)
        assert await call == len(gone)
        for one in gone:
            del self.tree.parents[one]
        self.tree.entries = {n: it for n, it in self.tree.entries.items() if it[0] not in gone}

    async def look(self) -> None:
        """A node reads by every way what the dictionary says, in its order."""
        memory, node = self.memory, self.node()
        expected = self.tree.read(node)
        read = await memory.nodes.entries(node, limit=10_000)
        assert {one.id: one.text for one in read} == expected
        assert [one.created_at for one in read] == sorted(one.created_at for one in read)
        assert await memory.nodes.count(node) == len(expected)
        newest = await memory.search.find("", node=node, k=1_000)
        assert {one.ref: one.text for one in newest} == expected
        word = self.rng.choice(WORDS)
        found = await memory.search.find(word, node=node, k=1_000)
        having = {one for one, text in expected.items() if text == word}
        assert {one.ref for one in found if one.words > 0} == having
        assert {one.ref for one in found} <= expected.keys()
        lineage = await memory.nodes.lineage(node)
        assert [one.id for one in lineage] == self.tree.lineage(node)[::-1]
        tree = await memory.nodes.tree(node)
        assert {one.node.id for one in tree} == self.tree.below(node)
        for one in tree:
            assert one.depth == len(self.tree.lineage(one.node.id)) - 1
            assert one.entries == sum(
                owner == one.node.id for owner, _, _ in self.tree.entries.values()
            )


@pytest.mark.timeout(600)
@campaign(50)
def test_nodes_are_what_a_dictionary_of_nodes_is(share: int) -> None:
    async def run(folder: Path) -> None:
        source = Source(folder / "m.db")
        async with Memory.open(
            source, clock=Ticking(), new_id=Numbered(), embedder="none"
        ) as memory:
            world = World(memory, Random(share))
            await world.begin()
            for _ in range(1_000 if SOAK else 120):
                await world.step()
                await world.look()
            assert await memory.check() == ()

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def grown(memory: Memory, by: Actor) -> tuple[Node, Node, Node]:
    """A node with two children."""
    first = await memory.nodes.add(NewNode("shop", "exp", "first"), by=by)
    one, other = [
        await memory.nodes.add(NewNode("shop", "exp", name, parent=first.id), by=by)
        for name in ("one", "other")
    ]
    return first, one, other


async def found(memory: Memory, query: str, node: Node) -> list[str]:
    return [hit.text for hit in await memory.search.find(query, node=node.id) if hit.words > 0]


async def test_a_node_finds_by_meaning_too_only_what_it_reads(memory: Memory, by: Actor) -> None:
    _, one, other = await grown(memory, by)
    await memory.nodes.write(one.id, NewEntry("The physician examined a sick child."), by=by)
    await memory.nodes.write(other.id, NewEntry("A doctor saw the ill boy."), by=by)

    for node, text in ((one, "physician"), (other, "doctor")):
        hits = await memory.search.find("hospital medicine", node=node.id)
        assert [text in hit.text for hit in hits] == [True]
        assert hits[0].similarity is not None
        assert (hits[0].node_id, hits[0].project) == (node.id, "shop")


async def test_what_is_of_the_project_stands_above_all_nodes(memory: Memory, by: Actor) -> None:
    _, one, _ = await grown(memory, by)
    for project in ("shop", "bank"):
        title, origin = f"Plums of the {project}", Origin("run", project)
        await memory.observations.add(
            NewObservation("discovery", title, origin, project=project), by=by
        )

    assert await found(memory, "plums", one) == ["Plums of the shop"]
    assert [hit.text for hit in await memory.search.find("", node=one.id)] == ["Plums of the shop"]


async def test_agents_projects_and_kinds_of_agents_say_nothing_of_a_node(
    memory: Memory, by: Actor
) -> None:
    _, one, other = await grown(memory, by)
    await memory.nodes.write(one.id, NewEntry("a plum"), by=by)

    assert await memory.search.find("plum", node=other.id, projects=["shop"]) == ()
    assert await memory.search.find("plum", node=one.id, kinds=("message", "block")) == ()
    assert await memory.search.find("plum", projects=["shop"]) == ()
    assert [hit.kind for hit in await memory.search.find("plum")] == ["entry"]


async def test_a_branch_writes_to_its_own_node_alone(memory: Memory, by: Actor) -> None:
    first, one, other = await grown(memory, by)
    (entry,) = await memory.nodes.write(first.id, NewEntry("a plum"), by=by, current=first.id)

    message = "'exp/first' is not the current node, which is 'exp/one'"
    with pytest.raises(NotCurrentNode, match=message):
        await memory.nodes.write(first.id, NewEntry("a fig"), by=by, current=one.id)
    with pytest.raises(NotCurrentNode):
        await memory.nodes.edit(first.id, entry.id, by=by, current=one.id, text="a fig")
    with pytest.raises(NotCurrentNode):
        await memory.nodes.delete(first.id, entry.id, by=by, current=one.id)
    own = await memory.nodes.edit(one.id, entry.id, by=by, current=one.id, text="a fig")

    assert (own.shadows, own.node_id) == (entry.id, one.id)
    assert await memory.nodes.entries(first.id) == (entry,)
    assert await memory.nodes.entries(other.id) == (entry,)
    assert await memory.nodes.entries(one.id) == (own,)
    events = await memory.events.list()
    assert {it.entity_id for it in events if it.entity == "entry"} == {entry.id, own.id}


async def test_a_result_is_kept_once_and_of_the_latest_holder(memory: Memory, by: Actor) -> None:
    _, one, _ = await grown(memory, by)
    first = NodeResult("Look@1", 5, "It holds.\nFor now.", 3.0)

    assert await memory.nodes.keep(one.id, first, by=by)
    assert await memory.nodes.keep(one.id, first, by=by)  # after a kill before the commit
    assert await memory.nodes.keep(one.id, NodeResult("Look@1", 7, "It broke.", 1.0), by=by)
    assert not await memory.nodes.keep(one.id, NodeResult("Look@1", 6, "Late.", 9.0), by=by)
    entries = await memory.nodes.entries(one.id, inherited=False)
    assert [(it.text, it.kind) for it in entries] == [("It broke.", "result")]
    assert await memory.nodes.keep(one.id, NodeResult("Look@2", 8, "It holds again."), by=by)

    node = await memory.nodes.get(one.id)
    assert (node.title, node.score) == ("It holds again.", 1.0)
    entries = await memory.nodes.entries(one.id, inherited=False)
    assert [it.text for it in entries] == ["It broke.", "It holds again."]


async def test_nothing_stands_below_what_all_nodes_of_a_checkpoint_share(
    memory: Memory, by: Actor
) -> None:
    first, one, _ = await grown(memory, by)
    trace = await memory.nodes.add(NewNode(first.project, first.checkpoint, ".trace"), by=by)

    with pytest.raises(NodeShared, match=r"'.*/\.trace' is no node of the tree"):
        await memory.nodes.move(one.id, trace.id, by=by)
    with pytest.raises(NodeShared):
        await memory.nodes.move(trace.id, one.id, by=by)
    with pytest.raises(NodeShared):
        await memory.nodes.add(NewNode(first.project, first.checkpoint, "x", trace.id), by=by)


async def test_a_secret_that_reaches_beyond_a_title_does_not_stay_in_part(
    memory: Memory, by: Actor
) -> None:
    _, one, _ = await grown(memory, by)
    said = "The mail arrives with the key that stands at its end:" + " here" * 2
    assert len(f"{said} AKIA") < 80

    text = f"{said} AKIA{'ABCD2345' * 2}.\nNot otherwise."
    assert await memory.nodes.keep(one.id, NodeResult("Look@1", 5, text), by=by)
    assert (await memory.nodes.get(one.id)).title == f"{said} [redacted: aws key]."[:80]


@pytest.mark.parametrize("score", [10**400, float("nan"), float("-inf")])
async def test_a_score_that_no_number_keeps_is_refused(
    memory: Memory, by: Actor, score: float
) -> None:
    _, one, _ = await grown(memory, by)

    with pytest.raises(InvalidEntry):
        await memory.nodes.change(one.id, by=by, score=score)


async def test_all_that_is_wrong_is_said(memory: Memory, by: Actor) -> None:
    first, one, _ = await grown(memory, by)

    with pytest.raises(InvalidEntry) as raised:
        new = (
            NewEntry(" ", "No kind"),
            NewEntry("fine"),
            NewEntry("x", metadata={"a": float("nan")}),
        )
        await memory.nodes.write(one.id, *new, by=by)
    places = [problem.path for problem in raised.value.problems]
    assert places == ["/0/text", "/0/kind", "/2/metadata"]
    assert await memory.nodes.entries(one.id) == ()
    with pytest.raises(InvalidEntry) as raised:
        await memory.nodes.add(NewNode("shop", "a/b", "\n"), by=by)
    assert [problem.path for problem in raised.value.problems] == ["/name", "/name", "/checkpoint"]
    with pytest.raises(NodeExists, match="'exp/one' already, below 'exp/first'"):
        await memory.nodes.add(NewNode("shop", "exp", "one"), by=by)
    with pytest.raises(NodeElsewhere, match="checkpoint than 'exp/first': 'run', not 'exp'"):
        await memory.nodes.add(NewNode("shop", "run", "a", parent=first.id), by=by)
    with pytest.raises(NodeElsewhere, match="another project"):
        await memory.nodes.add(NewNode("bank", "exp", "a", parent=first.id), by=by)
    with pytest.raises(UnknownNode, match="Close to it: exp/one"):
        await memory.nodes.named("shop", "exp", "onne")
    with pytest.raises(InvalidEntry, match="no finite number"):
        await memory.nodes.change(one.id, by=by, score=float("inf"))


async def test_a_removal_can_be_undone(memory: Memory, by: Actor) -> None:
    first, one, _ = await grown(memory, by)
    await memory.nodes.write(one.id, NewEntry("a plum"), by=by)
    before, last = await memory.nodes.tree(first.id), await memory.events.last()

    await memory.nodes.remove(first.id, by=by)
    with pytest.raises(UnknownNode):
        await memory.search.find("plum", node=one.id)
    await memory.events.undo(*range(last + 1, await memory.events.last() + 1), by=by)

    assert [it.node.name for it in await memory.nodes.tree(first.id)] == ["first", "one", "other"]
    assert [it.entries for it in await memory.nodes.tree(first.id)] == [it.entries for it in before]
    assert await found(memory, "plum", one) == ["a plum"]


async def test_secrets_are_not_kept(memory: Memory, by: Actor) -> None:
    first, _, _ = await grown(memory, by)
    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"

    await memory.nodes.write(first.id, NewEntry(f"the key is {key}", metadata={"k": key}), by=by)
    with pytest.raises(MemoryProblem):
        await memory.nodes.add(NewNode("shop", "exp", key), by=by)

    (kept,) = await memory.nodes.entries(first.id)
    assert key not in kept.text + str(kept.metadata)


async def read(memory: Memory, node: Node) -> list[str]:
    """What is read in a node, by each way to read it."""
    texts = sorted(one.text for one in await memory.nodes.entries(node.id))
    assert sorted(one.text for one in await memory.search.find("", node=node.id)) == texts
    assert sorted(await found(memory, "plum", node)) == texts
    return texts


async def test_what_came_to_stand_above_takes_nothing_from_what_is_below(
    memory: Memory, by: Actor
) -> None:
    first, one, _ = await grown(memory, by)
    two = await memory.nodes.add(NewNode("shop", "exp", "two", parent=one.id), by=by)
    (plum,) = await memory.nodes.write(one.id, NewEntry("a plum"), by=by)
    mine = await memory.nodes.edit(two.id, plum.id, by=by, text="my plum")
    assert await read(memory, two) == ["my plum"]

    await memory.nodes.move(two.id, first.id, by=by)
    await memory.nodes.move(one.id, two.id, by=by)

    assert await read(memory, one) == ["a plum", "my plum"]
    await memory.nodes.edit(one.id, plum.id, by=by, text="one plum")
    await memory.nodes.promote(two.id, mine.id, by=by)
    assert await read(memory, first) == ["my plum"]
    assert await read(memory, two) == ["my plum"]
    assert await read(memory, one) == ["my plum", "one plum"]


async def test_a_version_is_promoted_beside_the_one_that_the_ancestor_has(
    memory: Memory, by: Actor
) -> None:
    first, one, _ = await grown(memory, by)
    two = await memory.nodes.add(NewNode("shop", "exp", "two", parent=one.id), by=by)
    (plum,) = await memory.nodes.write(first.id, NewEntry("a plum"), by=by)
    mine = await memory.nodes.edit(two.id, plum.id, by=by, text="my plum")
    await memory.nodes.edit(one.id, plum.id, by=by, text="one plum")

    for _ in range(2):
        await memory.nodes.promote(two.id, mine.id, by=by)
        assert await read(memory, one) == ["my plum", "one plum"]
        assert await read(memory, two) == ["my plum", "one plum"]
    assert await read(memory, first) == ["a plum"]

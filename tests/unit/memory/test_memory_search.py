"""Search: who and what is found, in which order, with any query."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    Agent,
    Found,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    NewMessage,
    NewPassage,
    Source,
)
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import MESSAGE
from dcf.memory.search import Search
from dcf.search import EmbedderMissing, Vectors, Weights
from dcf.stopping import stop


class Colours:
    """An embedder that knows that crimson is red."""

    name, version, weights = "colours", "1", Weights(words=1.0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([[_has(text, "crimson", "red"), 0.1] for text in texts], dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed(texts)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return self.embed(words)


def _has(text: str, *words: str) -> float:
    return float(any(word in text for word in words))


@pytest.fixture
async def words(tmp_path: Path, clock: Ticking) -> AsyncIterator[Memory]:
    """A memory that goes by words alone."""
    source = Source(tmp_path / "words.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == ()


async def made(memory: Memory, by: Actor, name: str, **blocks: str) -> Agent:
    held = [NewBlock(label, value) for label, value in blocks.items()]
    return await memory.agents.create(NewAgent(name), by=by, blocks=held)


def refs(found: Sequence[Found]) -> list[str]:
    return [one.ref for one in found]


async def test_blocks_messages_and_passages_are_found_by_other_forms_of_a_word(
    words: Memory, by: Actor
) -> None:
    agent = await made(words, by, "anna", human="She paints boats.")
    (message,) = await words.messages.append(agent.id, NewMessage("user", "Paint it"), by=by)
    (passage,) = await words.passages.insert(agent.id, NewPassage("The painting hangs"), by=by)
    (block,) = await words.blocks.list(agent.id)
    found = await words.search.find("painted", agent_ids=[agent.id])
    assert {(one.kind, one.ref) for one in found} == {
        ("message", message.id),
        ("passage", passage.id),
        ("block", block.id),
    }
    assert await words.search.find("sculpted") == ()


async def test_an_agent_finds_nothing_of_others_unless_asked(words: Memory, by: Actor) -> None:
    anna, bea = [await made(words, by, name, notes=f"plum of {name}") for name in ("anna", "bea")]
    for agent in (anna, bea):
        await words.messages.append(agent.id, NewMessage("user", "plum"), by=by)
        await words.passages.insert(agent.id, NewPassage("plum"), by=by)
    own = await words.search.find("plum", agent_ids=[anna.id])
    assert [one.agent_id for one in own] == [anna.id] * 3
    both = await words.search.find("plum", agent_ids=[anna.id, bea.id])
    everybody = await words.search.find("plum")
    assert {*refs(both)} == {*refs(everybody)}
    assert len(both) == 6
    assert await words.search.find("plum", agent_ids=["agent-9"]) == ()
    assert await words.search.find("plum", agent_ids=[]) == ()


async def test_a_shared_block_is_found_once_by_each_holder_under_its_label(
    words: Memory, by: Actor
) -> None:
    anna, bea = (
        await made(words, by, "anna", team="We ship on plum day."),
        await made(words, by, "bea"),
    )
    (block,) = await words.blocks.list(anna.id)
    await words.blocks.attach(bea.id, block.id, by=by, label="crew")
    (found,) = await words.search.find("plum", agent_ids=[bea.id])
    assert (found.ref, found.agent_id, found.label) == (block.id, bea.id, "crew")
    assert len(await words.search.find("plum")) == 1
    await words.blocks.detach(bea.id, "crew", by=by)
    assert await words.search.find("plum", agent_ids=[bea.id]) == ()


async def test_the_messages_around_an_answer_help_to_find_it(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    said = ["hello there", "Which pet does Ann have?", "A ferret, two years now", "nice", "bye"]
    await words.messages.append(
        agent.id,
        *(NewMessage("user", text) for text in said),
        *([NewMessage("user", "…")] * 9),
        by=by,
    )
    found = await words.search.find("Ann's pet", agent_ids=[agent.id], k=3)
    assert found[0].seq == 2
    assert {one.seq for one in found} == {1, 2, 3}
    assert found[0].near == 0
    assert found[1].near == found[1].words > 0


async def test_neighbours_end_with_an_agents_conversation(words: Memory, by: Actor) -> None:
    anna, bea = await made(words, by, "anna"), await made(words, by, "bea")
    await words.messages.append(anna.id, NewMessage("user", "plum"), by=by)
    await words.messages.append(bea.id, NewMessage("user", "fig"), by=by)
    assert [one.agent_id for one in await words.search.find("plum")] == [anna.id]


async def test_who_said_it_counts_for_that_message_alone(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    await words.messages.append(
        agent.id, NewMessage("user", "fig", sender="Zoe"), NewMessage("user", "pear"), by=by
    )
    assert [one.seq for one in await words.search.find("Zoe")] == [1]


async def test_tool_calls_and_returns_are_found(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    parts = {"kind": "call", "id": "1", "tool": "charge_card", "arguments": {"customer": "Quimby"}}
    await words.messages.append(agent.id, NewMessage("assistant", "", (parts,)), by=by)
    assert [one.seq for one in await words.search.find("quimby")] == [1]
    assert [one.seq for one in await words.search.find("charge")] == [1]


@pytest.mark.parametrize(
    "query",
    [
        'plum" OR "x',
        "plum AND",
        "NEAR(plum, 2)",
        "text : plum",
        "plum*",
        "-plum ^plum",
        "{text about}: plum",
        "'plum; DROP TABLE messages",
        "plum\0",
        "plum \ud800",
        "(((plum",
        "plum " * 500,
    ],
)
async def test_no_query_breaks_the_search(words: Memory, by: Actor, query: str) -> None:
    agent = await made(words, by, "anna")
    await words.messages.append(agent.id, NewMessage("user", "a plum"), by=by)
    assert [one.seq for one in await words.search.find(query)] == [1]


async def test_stop_words_count_where_there_are_no_others(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    await words.passages.insert(agent.id, NewPassage("to be"), NewPassage("a plum"), by=by)
    assert [one.text for one in await words.search.find("to be, or not to be?")] == ["to be"]
    assert [one.text for one in await words.search.find("to be a plum")] == ["a plum"]


@pytest.mark.parametrize("query", ["", "?!", "…", "© ™"])
async def test_a_query_without_words_gives_the_newest(words: Memory, by: Actor, query: str) -> None:
    agent = await made(words, by, "anna")
    await words.passages.insert(agent.id, NewPassage("old"), by=by)
    await words.messages.append(agent.id, NewMessage("user", "newer"), by=by)
    await words.blocks.create(agent.id, NewBlock("note", "newest"), by=by)
    found = await words.search.find(query, agent_ids=[agent.id])
    assert [one.text for one in found] == ["newest", "newer", "old"]
    assert [one.text for one in await words.search.find(query, k=1, kinds=["message"])] == ["newer"]


async def test_filters_leave_what_they_name(words: Memory, by: Actor, clock: Ticking) -> None:
    agent = await made(words, by, "anna", human="plum one", style="plum two")
    await words.passages.insert(
        agent.id, NewPassage("plum three", ("a", "b")), NewPassage("plum four", ("a",)), by=by
    )
    await words.messages.append(
        agent.id,
        NewMessage("user", "plum five", session_id="s"),
        NewMessage("assistant", "plum six"),
        by=by,
    )
    now = clock.now
    await words.messages.append(agent.id, NewMessage("user", "plum seven"), by=by)

    async def texts(**only: object) -> set[str]:
        found = await words.search.find("plum", **only)  # type: ignore[arg-type]
        return {one.text.removeprefix("plum ") for one in found}

    assert await texts(labels=["style"]) == {"two"}
    assert await texts(tags=["a", "b"]) == {"three"}
    assert await texts(tags=["a"], labels=["human"]) == {"one", "three", "four"}
    assert await texts(roles=["assistant"]) == {"six"}
    assert await texts(session_id="s") == {"five"}
    assert await texts(since=now + 1) == {"seven"}
    assert await texts(until=now, kinds=["message"]) == {"five", "six"}
    assert await texts(labels=["human"], kinds=["message"]) == set()


async def test_labels_weights_and_salience_move_what_matches_alike(
    words: Memory, by: Actor
) -> None:
    agent = await made(words, by, "anna", human="the plum", style="the plum")
    (low, high) = await words.passages.insert(
        agent.id, NewPassage("plum", salience=0.1), NewPassage("plum", salience=0.9), by=by
    )
    found = await words.search.find("plum", kinds=["block"], weights={"style": 2.0})
    assert [one.label for one in found] == ["style", "human"]
    found = await words.search.find("plum", kinds=["passage"])
    assert refs(found) == [high.id, low.id]


async def test_a_rewritten_word_is_not_found(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna", human="likes plums")
    there = await words.events.last()
    await words.blocks.write(agent.id, "human", "likes figs", by=by)
    assert await words.search.find("plums") == ()
    assert len(await words.search.find("figs")) == 1
    await words.events.roll_back_agent(agent.id, there, by=by)
    assert await words.search.find("figs") == ()
    assert len(await words.search.find("plums")) == 1


async def test_a_long_text_comes_as_the_part_that_matches(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna", notes="fig " * 5_000 + "plum " + "pear " * 5_000)
    (found,) = await words.search.find("plum", agent_ids=[agent.id])
    assert "plum" in found.text
    assert len(found.text) < 2_100


async def test_what_means_the_same_is_found_after_catching_up(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    await words.passages.insert(
        agent.id, NewPassage("a crimson door"), NewPassage("a tall door"), by=by
    )
    search = Search(words.ledger, "colours", lambda _: Colours())
    found = await search.find("something red", agent_ids=[agent.id])
    assert found[0].text == "a crimson door"
    assert found[0].words == 0
    assert found[0].similarity is not None
    assert found[0].similarity > 0.9
    assert await search.catch_up() == 0, "the search has caught up"
    (third,) = await words.passages.insert(agent.id, NewPassage("crimson too"), by=by)
    assert await search.catch_up() == 1
    await words.passages.change(third.id, by=by, text="green")
    found = await search.find("something red", agent_ids=[agent.id])
    assert found[0].text == "a crimson door"
    assert await words.search.find("something red") == (), "no vectors are compared without"


async def test_while_it_is_kept_up_no_search_embeds_what_was_written(
    words: Memory, by: Actor
) -> None:
    agent = await made(words, by, "anna")
    recorder = Recorder()
    search = Search(words.ledger, "colours", lambda _: recorder)
    keeping_up = asyncio.create_task(search.keep_up())
    await asyncio.sleep(0.05)
    await words.passages.insert(agent.id, NewPassage("a crimson door"), by=by)
    (found,) = await search.find("door")
    assert found.similarity is None and recorder.texts == [], "found at once, by its words"
    while not await search.find("something red"):
        await asyncio.sleep(0.02)
    assert recorder.texts.count("a crimson door") == 1
    await stop(keeping_up)
    await words.passages.insert(agent.id, NewPassage("crimson too"), by=by)
    assert len(await search.find("something red")) == 2, "searches embed again themselves"


@pytest.mark.parametrize(
    ("query", "part"), [("the red door", 0.3), ("the red door дом", 0.6), ("die rote Tür red", 0.3)]
)
async def test_words_decide_the_part_that_suits_the_embedder_and_more_in_other_scripts(
    words: Memory, by: Actor, query: str, part: float
) -> None:
    agent = await made(words, by, "anna")
    await words.messages.append(agent.id, NewMessage("user", "a crimson door. tür"), by=by)
    colours = Colours()
    colours.weights = Weights(words=1.0, remembered=0.3)
    (found,) = await Search(words.ledger, "colours", lambda _: colours).find(query)
    assert found.words > 0
    assert found.similarity is not None
    expected = part * found.words + (1 - part) * found.similarity
    assert found.score == pytest.approx(expected)


class Recorder(Colours):
    """Keeps what it embeds."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return super().embed(texts)


async def test_a_message_is_embedded_with_the_end_of_the_one_before_in_its_session(
    words: Memory, by: Actor
) -> None:
    agent = await made(words, by, "anna")
    said = [
        NewMessage("user", "a" * 400 + "which colour?", sender="Ines", session_id="one"),
        NewMessage("user", "crimson", session_id="one"),
        NewMessage("user", "hello", session_id="two"),
    ]
    await words.messages.append(agent.id, *said, by=by)
    recorder = Recorder()
    await Search(words.ledger, "colours", lambda _: recorder).catch_up()
    first, second, third = recorder.texts
    assert first == "Ines: " + "a" * 400 + "which colour?"
    assert second == "Ines: " + "a" * (300 - len("which colour?")) + "which colour?\ncrimson"
    assert third == "hello"


@pytest.mark.parametrize(
    ("query", "readings"),
    [
        ("What did INES paint?", ["What did INES paint?", "What did paint?"]),
        ("Did Ines ask Tom's son?", ["Did Ines ask Tom's son?", "Did ask 's son?"]),
        ("What did Paul paint?", ["What did Paul paint?"]),
        ("What about Ines?", ["What about Ines?"]),
    ],
)
async def test_a_query_is_read_without_the_names_of_those_who_say_something_too(
    words: Memory, by: Actor, query: str, readings: list[str]
) -> None:
    agent = await made(words, by, "anna")
    said = [NewMessage("user", "hello, Paul", sender=sender) for sender in ("Ines", "Tom")]
    await words.messages.append(agent.id, *said, by=by)
    recorder = Recorder()
    search = Search(words.ledger, "colours", lambda _: recorder)
    await search.catch_up()
    recorder.texts.clear()
    await search.find(query)
    assert recorder.texts == readings


async def test_a_message_is_embedded_again_when_the_one_before_changes(
    words: Memory, by: Actor
) -> None:
    agent = await made(words, by, "anna")
    said = [NewMessage("user", text) for text in ("red?", "yes", "well")]
    first, *_ = await words.messages.append(agent.id, *said, by=by)
    recorder = Recorder()
    search = Search(words.ledger, "colours", lambda _: recorder)
    await search.catch_up()
    recorder.texts.clear()

    def change(journal: Journal) -> None:
        before = MESSAGE.find(journal.connection, first.id)
        assert before is not None
        journal.update(MESSAGE, before, {**before, "content": "green?"})

    await words.ledger.change(by, change)
    await search.catch_up()
    assert recorder.texts == ["green?", "green?\nyes"]


async def test_another_embedder_makes_its_own_vectors(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    await words.passages.insert(agent.id, NewPassage("a crimson door"), by=by)
    await Search(words.ledger, "wordllama").catch_up()
    found = await Search(words.ledger, "colours", lambda _: Colours()).find("red")
    assert [one.text for one in found] == ["a crimson door"]


async def test_without_the_embedders_packages_words_decide_and_check_says_so(
    words: Memory, by: Actor
) -> None:
    def missing(name: str) -> Colours:
        raise EmbedderMissing(name, "the package x", "pip install x")

    agent = await made(words, by, "anna")
    await words.passages.insert(agent.id, NewPassage("plum"), by=by)
    search = Search(words.ledger, "minilm", missing)
    assert [one.text for one in await search.find("plum")] == ["plum"]
    assert await search.catch_up() == 0
    (problem,) = await search.limits()
    assert (problem.severity, problem.hint) == ("warning", "pip install x")


async def test_what_cannot_be_asked_is_said_at_once(words: Memory) -> None:
    with pytest.raises(InvalidEntry) as refused:
        await words.search.find("x", k=0, kinds=["photo"], weights={"a": -1})  # type: ignore[list-item]
    assert [problem.path for problem in refused.value.problems] == ["/k", "/kinds", "/weights/a"]


async def test_in_a_wide_scope_rare_words_still_find_their_text(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    await words.passages.insert(
        agent.id, *(NewPassage(f"common words number{n}") for n in range(4_100)), by=by
    )
    (needle,) = await words.passages.insert(agent.id, NewPassage("common needle"), by=by)
    found = await words.search.find("common needle", k=3)
    assert refs(found)[0] == needle.id
    assert len(await words.search.find("common words", k=5)) == 5
    (found_one,) = await words.search.find("number77")
    assert found_one.text == "common words number77"


async def test_filters_are_no_matter_of_rank(words: Memory, by: Actor) -> None:
    agent = await made(words, by, "anna")
    many = [NewPassage("plum plum", ("a",)) for _ in range(400)]
    await words.passages.insert(agent.id, *many, by=by)
    await words.passages.insert(agent.id, NewPassage("a plum " + "fig " * 40, ("b",)), by=by)
    await words.messages.append(agent.id, NewMessage("user", "plum " + "fig " * 40), by=by)
    assert len(await words.search.find("plum", tags=["b"])) == 1
    assert len(await words.search.find("plum", kinds=["message"])) == 1


# A text and a question about it, in other words as far as a language has such forms.
IN_EVERY_SCRIPT = {
    "Chinese": ("我们昨天在上海的一家餐厅吃了晚饭。", "上海 晚饭"),
    "Japanese": ("昨日は京都で友達と寿司を食べました。", "京都の寿司"),
    "Korean": ("어제 서울에서 친구를 만났습니다.", "서울은 어떤가요"),
    "Thai": ("เมื่อวานเรากินข้าวที่กรุงเทพ", "กรุงเทพ"),
    "Lao": ("ມື້ວານພວກເຮົາກິນເຂົ້າຢູ່ວຽງຈັນ", "ວຽງຈັນ"),
    "Khmer": ("យើងបានញ៉ាំបាយនៅភ្នំពេញ", "ភ្នំពេញ"),
    "Burmese": ("မနေ့က ရန်ကုန်မှာ ထမင်းစားခဲ့တယ်", "ရန်ကုန်"),
    "Arabic": ("قَرَأْتُ الكِتابَ في القاهرة", "كتاب"),
    "Hindi": ("हमने दिल्ली में खाना खाया", "दिल्ली का खाना"),
    "Greek": ("Χθες φάγαμε στην Αθήνα", "αθηνα"),
    "French": ("On a dîné à Orléans", "orleans"),
    "German": ("Die Kranken-Versicherung zahlt", "versicherung"),
    "picture": ("Das war schön 🎉", "🎉"),
}


@pytest.mark.parametrize("language", IN_EVERY_SCRIPT)
async def test_words_are_found_in_every_script(words: Memory, by: Actor, language: str) -> None:
    agent = await made(words, by, "anna")
    texts = [NewPassage(text) for text, _ in IN_EVERY_SCRIPT.values()]
    passages = await words.passages.insert(agent.id, *texts, by=by)
    at = list(IN_EVERY_SCRIPT).index(language)
    found = await words.search.find(IN_EVERY_SCRIPT[language][1], agent_ids=[agent.id])
    assert refs(found)[:1] == [passages[at].id]


async def test_only_the_beginning_of_a_long_query_is_looked_for(words: Memory, by: Actor) -> None:
    await made(words, by, "ann", fruit="a plum", tree="a fig")

    found = await words.search.find(f"plum {'and ' * 3_000}fig")

    assert [one.text for one in found] == ["a plum"]

"""How texts are compared and shortened. Expectations are those of the docstrings and settings."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dcf.memory.consolidation import ConsolidationSettings
from dcf.memory.consolidation.facts import facts, negations, said
from dcf.memory.consolidation.likeness import Likeness
from dcf.memory.consolidation.lines import is_data, lines_of
from dcf.memory.consolidation.merging import merged_lines, repeats
from dcf.memory.consolidation.passages import PassageMerge, passage_merges
from dcf.memory.consolidation.shortening import shortened
from dcf.memory.database import packed, unpacked
from dcf.search import embedder_named

LINES = st.sampled_from(
    [
        "",
        "# Tea",
        "## Where",
        "Monday:",
        "- Ada likes green tea.",
        "* Ada likes green tea",
        "Ada likes the green tea",
        "Ada does not like green tea",
        "Ada likes black tea in Oslo",
        "  - Ada really likes green tea.",
        "The port of the service is 8001",
        "The port of the service is 8002",
        "```",
        "x = 1",
        "yes",
        "| a | b | c |",
    ]
)
TEXTS = st.lists(LINES, max_size=30).map("\n".join) | st.text(max_size=300)
LEVELS = st.integers(0, 9)


def likeness(level: int, embedder: str = "none") -> Likeness:
    settings = ConsolidationSettings(level=level)
    found = None if embedder == "none" else embedder_named(embedder)
    return Likeness(settings.likeness, settings.spare, found)


def merged(text: str, level: int = 5) -> str:
    return merged_lines(text, likeness(level)).text


def test_facts_are_numbers_names_and_addresses_as_they_are_written() -> None:
    text = "Mail ada@example.org before 10:30, says Bert. Use parseJSON in src/main.py, I think."
    assert facts(text) == {"ada@example.org", "10:30", "Bert", "parseJSON", "src/main.py"}


def test_what_turns_a_sentence_into_its_opposite_is_known() -> None:
    assert negations("She doesn’t, and he NEVER did") == {"doesn't", "never"}
    assert negations("She does, and he did") == set()


def test_words_are_compared_without_articles_and_plurals() -> None:
    assert said("The ports, a Class") == ("port", "class")


def test_lines_know_what_they_stand_under() -> None:
    text = "# Days\nMonday:\n- standup\n  - at nine o'clock\n## Else\nAll the same here"
    found = {line.text.strip(): line.under for line in lines_of(text)}
    assert found["- at nine o'clock"] == ("# Days", "Monday:", "standup")
    assert found["All the same here"] == ("# Days", "## Else")


@given(TEXTS)
def test_lines_joined_are_the_text(text: str) -> None:
    assert "\n".join(line.text for line in lines_of(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        # Under another day, in another list item, in code, in a table: said of something else.
        "Monday:\n- standup at nine o'clock\nTuesday:\n- standup at nine o'clock",
        "# Ada\nLikes green tea much\n# Bert\nLikes green tea much",
        "- Ada\n  - likes green tea much\n- Bert\n  - likes green tea much",
        "```\nx = call(a, b, c)\nx = call(a, b, c)\n```",
        "    x = call(a, b, c)\n    x = call(a, b, c)",
        "| Ada | tea | nine |\n| Ada | tea | nine |",
        '["Ada likes green tea",\n"Ada likes green tea",\n"Ada likes green tea"]',
        # Says the opposite, something of somebody else, another number, the other way round.
        "Ada likes green tea a lot\nAda never likes green tea a lot",
        "Ada likes green tea a lot today\nBert likes green tea a lot today",
        "The service listens on port 8001\nThe service listens on port 8002",
        "Ada owes Bert five crowns\nBert owes Ada five crowns",
        "Lunch is before the meeting\nLunch is after the meeting",
        "yes\nyes",
    ],
)
@pytest.mark.parametrize("level", [0, 5, 9])
def test_what_only_looks_alike_stays(text: str, level: int) -> None:
    assert merged(text, level) == text


def test_level_0_removes_what_is_the_same_but_for_spaces_and_list_marks() -> None:
    text = "- Ada likes green tea.\n* Ada  likes green tea\nAda likes the green tea"
    assert merged(text, 0) == "- Ada likes green tea.\nAda likes the green tea"


def test_from_level_1_near_duplicates_are_removed_and_the_longer_stays() -> None:
    text = "Ada likes green tea\nAda really likes the green tea"
    found = merged_lines(text, likeness(1))
    assert found.text == "Ada really likes the green tea"
    assert found.gone == ("Ada likes green tea",)


def test_only_high_levels_spare_words() -> None:
    kept = "Bert said that the large red house by the harbour in Oslo was sold in 1990 to Ada"
    gone = "said that the large red old house by the harbour in Oslo was sold in 1990 to Ada"
    for level in (1, 5):
        assert merged(f"{kept}\n{gone}", level) == f"{kept}\n{gone}"
    assert merged(f"{kept}\n{gone}", 9) == kept


@pytest.mark.parametrize("level", [1, 5, 9])
def test_with_an_embedder_meanings_are_compared(level: int) -> None:
    near = likeness(level, "wordllama")
    text = "Ada likes green tea\nAda really likes the green tea"
    assert merged_lines(text, near).count == 1
    far = "Ada likes green tea\nAda likes green tea but Bert sold the harbour to a bank in Rome"
    assert merged_lines(far, near).count == 0


def test_a_line_goes_after_all_that_stood_under_it() -> None:
    text = "- Ada likes tea\n  - with much milk\n- Ada likes tea\n  - with much milk"
    assert merged(text, 0) == "- Ada likes tea\n  - with much milk"
    other = "- Ada likes tea\n  - with much milk\n- Ada likes tea\n  - without sugar today"
    assert merged(other, 9) == other


@example("- Ada likes green tea.\n  - Ada really likes green tea.\nAda likes the green tea", 1)
@given(TEXTS, LEVELS)
def test_merging_is_done_after_one_time_and_loses_no_fact(text: str, level: int) -> None:
    once = merged_lines(text, likeness(level))
    assert merged(once.text, level) == once.text
    left = {fact for line in once.text.split("\n") for fact in facts(line)}
    for line in text.split("\n"):
        assert facts(line) <= left
    # In order, and nothing else.
    remaining = iter(text.split("\n"))
    assert once.text == "" or all(line in remaining for line in once.text.split("\n"))


def test_a_block_repeats_another_if_all_it_says_stands_there() -> None:
    one = "Ada likes tea much.\nBert sold the house.\nThe port is 8001."
    other = f"More is here than there.\n{one}"
    assert repeats(one, other, likeness(0))
    assert not repeats(other, one, likeness(9))
    assert not repeats("Ada likes tea much.", one, likeness(9)), "one line may be chance"
    assert not repeats("", one, likeness(9))


def passage(number: int, text: str, **more: object) -> dict[str, object]:
    tags = more.get("tags", [])
    salience = more.get("salience", 0.5)
    return {"id": f"p{number}", "text": text, "tags": json.dumps(tags), "salience": salience}


def test_passages_that_say_the_same_become_one_with_all_their_words_and_tags() -> None:
    rows = [
        passage(1, "The harbour opens at 6", tags=["town"]),
        passage(2, "The harbour opens at 6.", tags=["sea"], salience=0.9),
        passage(3, "Harbour opens at 6"),
        passage(4, "The harbour opens at 7"),
    ]
    (merge,) = passage_merges(rows, likeness(5))
    assert merge.kept["id"] == "p2"
    assert {row["id"] for row in merge.gone} == {"p1", "p3"}
    assert merge.columns["text"] == "The harbour opens at 6.\nHarbour opens at 6"
    assert json.loads(merge.columns["tags"]) == ["sea", "town"]
    assert merge.columns["salience"] == 0.9


def test_what_blocks_once_said_is_not_merged() -> None:
    rows = [passage(1, "The harbour opens at 6"), passage(2, "The harbour opens at 6")]
    rows[1]["tags"] = '["consolidated"]'
    assert passage_merges(rows, likeness(5)) == []


@given(st.lists(st.lists(LINES, max_size=4).map("\n".join), max_size=12), LEVELS)
def test_merging_passages_ends_and_loses_no_line(texts: list[str], level: int) -> None:
    rows = [passage(number, text) for number, text in enumerate(texts)]
    merges = passage_merges(rows, likeness(level))
    after = _after(rows, merges)
    assert passage_merges(after, likeness(level)) == []
    left = {line.same[1] for row in after for line in lines_of(str(row["text"]))}
    for text in texts:
        assert {line.same[1] for line in lines_of(text) if line.text.strip()} <= left


def _after(rows: list[dict[str, object]], merges: list[PassageMerge]) -> list[dict[str, object]]:
    gone = {row["id"] for merge in merges for row in merge.gone}
    columns = {merge.kept["id"]: merge.columns for merge in merges}
    return [{**row, **columns.get(row["id"], {})} for row in rows if row["id"] not in gone]


@given(TEXTS, st.integers(0, 400))
def test_what_is_shortened_has_at_most_its_room(text: str, room: int) -> None:
    assert len(shortened(text, room).encode()) <= room


def test_facts_stay_before_talk_and_headings_come_along() -> None:
    talk = "\n".join("well so it goes and goes on and on like that" for _ in range(20))
    text = f"# Talk\n{talk}\n# People\n{talk}\nBert was born on 1990-05-01 in Oslo."
    assert shortened(text, 60) == "# People\nBert was born on 1990-05-01 in Oslo."


def test_a_text_without_a_place_to_part_is_cut() -> None:
    assert shortened("ü" * 5000, 100) == "ü" * 48 + "…"


def test_data_is_known() -> None:
    assert is_data('{"a": [1, 2]}')
    assert not is_data("[a] list of things")
    assert not is_data("42")


@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.text(min_size=200, max_size=400),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner),
    ),
    st.integers(1, 9),
)
def test_what_is_packed_comes_back(change: object, level: int) -> None:
    without, value = packed(change, level)
    assert unpacked(json.loads(json.dumps(without)), value) == change
    assert all(len(text) < 200 for text in _texts(without))


def _texts(part: object) -> list[str]:
    if isinstance(part, dict):
        return [text for one in part.values() for text in _texts(one)]
    if isinstance(part, list):
        return [text for one in part for text in _texts(one)]
    return [part] if isinstance(part, str) else []

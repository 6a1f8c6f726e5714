"""A procedure beside the workflow that was made of it."""

from __future__ import annotations

import re
from copy import deepcopy
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from campaigns import campaign
from random_procedures_that_compile import Maker
from small_market import SELL_IT

from dcf.planner import Market, compile_sop, page_of, picture_of, side_by_side, with_people
from dcf.planner.comparing.showing import LEGEND, text_of
from dcf.sop import Sentence, draft, print_markdown


@pytest.fixture
def document(market: Market) -> dict[str, Any]:
    return compiled(SELL_IT, market)


def compiled(text: str, market: Market) -> dict[str, Any]:
    plan = compile_sop(draft(text, "sell.md").sop, market)
    assert plan.document is not None, [str(one) for one in plan.problems]
    return plan.document


def states_of(found: Any) -> dict[str, tuple[str, str | None]]:
    return {one.name: (one.role, one.step) for one in found.states}


def test_each_sentence_stands_beside_the_states_of_its_step(document: dict[str, Any]) -> None:
    found = side_by_side(draft(SELL_IT, "sell.md"), document)

    assert (found.origin, found.percent, found.states_percent) == ("same", 100, 100)
    steps = {part.step: part for part in found.parts if part.step}
    assert [one.line for one in steps["1"].sentences] == [13, 14, 15, 16]
    assert [one.name for one in steps["1"].states] == [
        "CheckTheOrder",
        "CheckTheOrderOutcome",
        "Rejected",  # belongs to the condition that leads to it
    ]
    assert [one.name for one in steps["2"].states] == ["ChargeTheCardOfTheCustomer"]
    assert [one.name for one in found.frame] == ["TakeTheInputs", "Done"]


def test_states_without_a_sentence_and_edits_by_hand_are_seen(document: dict[str, Any]) -> None:
    states = document["asl"]["States"]
    states["ChargeTheCardOfTheCustomer"]["TimeoutSeconds"] = 30
    states["TellTheCustomerWhatHappened"]["Next"] = "Audit"
    states["Audit"] = {"Type": "Pass", "Comment": "Write it down", "Next": "Done"}

    found = side_by_side(draft(SELL_IT, "sell.md"), document)

    assert [one.name for one in found.loose] == ["Audit"]
    assert [one.name for one in found.states if one.edited] == [
        "ChargeTheCardOfTheCustomer",
        "TellTheCustomerWhatHappened",
    ]
    # Six states of steps, five of which a sentence stands for.
    assert found.to_json()["counts"] == {
        "sentences": 15,
        "sentences_open": 0,
        "sentences_not_understood": 0,
        "states": 8,
        "states_of_steps": 6,
        "states_loose": 1,
        "states_edited": 2,
    }
    assert found.states_percent == 83


def test_a_workflow_of_an_earlier_text_lacks_what_was_added(document: dict[str, Any]) -> None:
    later = SELL_IT.replace("2. Charge", "2. Weigh the parcel twice\n3. Charge").replace(
        "3. T", "4. T"
    )

    found = side_by_side(draft(later, "sell.md"), document)

    assert found.origin == "other"
    assert [(one.line, one.text) for one in found.open] == [(17, "2. Weigh the parcel twice")]
    assert states_of(found)["ChargeTheCardOfTheCustomer"] == ("step", "3")


def test_a_workflow_that_keeps_no_steps_is_matched_by_what_its_states_are_called(
    document: dict[str, Any],
) -> None:
    alone = deepcopy(document["asl"])
    alone["States"]["Audit"] = alone["States"].pop("CheckTheOrder") | {"Comment": "Audit"}
    alone["States"]["TakeTheInputs"]["Next"] = "Audit"

    found = side_by_side(draft(SELL_IT, "sell.md"), alone)

    assert found.origin == "none"
    assert states_of(found)["ChargeTheCardOfTheCustomer"] == ("step", "2")
    assert states_of(found)["Audit"] == ("loose", None)


def test_what_was_not_understood_is_open_though_a_state_stands_for_it(market: Market) -> None:
    made = draft("# Mend it\n\n1. Charge the card\n2. Do this:\n\n   TODO\n", "a.md")
    plan = compile_sop(with_people(made.sop, {one.number for one in made.sop.all_steps()}), market)
    assert plan.document is not None

    found = side_by_side(made, plan.document)

    assert [(one.line, one.text) for one in found.open] == [(6, "TODO")]
    assert found.unclear == 1


def test_a_task_that_is_approved_and_then_done_by_a_person_is_one_step(market: Market) -> None:
    steps = "1. Change the fuse\n   - Approval: boss\n2. Call a friend\n"
    made = draft(f"# Mend it\n\n## Objective\n\nIt works.\n\n## Steps\n\n{steps}", "a.md")
    document = compile_sop(with_people(made.sop, {"1", "2"}), market).document
    assert document is not None and len(document["plan"]["steps"]) == 3

    found = side_by_side(made, document)

    assert (found.origin, found.loose) == ("same", ())
    (first,) = (part for part in found.parts if part.step == "1")
    assert len(first.states) == 2


def test_a_loop_over_one_step_of_the_same_title_is_two_steps(market: Market) -> None:
    made = draft("# Mend it\n\n1. Restart the gateways one by one\n2. Call a friend\n", "a.md")
    numbers = [one.number for one in made.sop.all_steps()]
    document = compile_sop(with_people(made.sop, numbers), market).document
    assert document is not None

    assert side_by_side(made, document).origin == "same"


def test_the_page_needs_nothing_and_shows_all(document: dict[str, Any]) -> None:
    text = SELL_IT.replace("# Sell it", "# Sell <script>alert(1)</script>")
    later = text.replace("2. Charge", "2. Weigh the parcel twice\n3. Charge").replace(
        "3. T", "4. T"
    )
    found = side_by_side(draft(later, "sell.md"), document)

    page = page_of(found, document, "sell.md", "sell.json").replace("<wbr>", "")

    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import", page)
    anchors = set(re.findall(r'href="#([^"]+)"', page))
    assert anchors == {"open1"}
    assert anchors <= set(re.findall(r' id="([^"]+)"', page))
    for state in found.states:
        assert f"<b>{state.name}</b>" in page
    assert page.count('class="open"') == len(found.open) == 1
    assert "step 3 · Task" in page  # the drawing has the numbers of the text


def test_the_picture_is_svg_with_every_sentence_and_state(document: dict[str, Any]) -> None:
    found = side_by_side(draft(SELL_IT, "sell.md"), document)

    svg, size = picture_of(found)

    root = ElementTree.fromstring(svg)
    assert (root.get("width"), root.get("height")) == (f"{size.width:g}", f"{size.height:.0f}")
    words = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    for part in found.parts:
        for sentence in part.sentences:
            assert text_of(sentence) in words
    for state in found.states:
        assert f"{state.name} ({state.type})" in words
    heights = [float(one.get("y", 0)) for one in root.iter() if one.get("y")]
    assert max(heights) < size.height


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Owner:** platform, see [the list](#list)", "Owner: platform, see the list"),
        ("Run `a **b** [c](d)` and __wait__", "Run `a **b** [c](d)` and wait"),
        ("```shell\n$ ls\n$ df\n```", "$ ls\n$ df"),
        ("~~~\n$ ls", "$ ls"),
        ("![a disk](disk.png) 2 ** 3 ** 4", "a disk 2 ** 3 ** 4"),
        ("```shell```", "```shell```"),
    ],
)
def test_marks_of_a_text_are_no_words_of_it(text: str, shown: str) -> None:
    assert text_of(Sentence(1, 1, text, "note")) == shown


def test_both_views_say_what_their_boxes_mean(document: dict[str, Any]) -> None:
    found = side_by_side(draft(SELL_IT, "sell.md"), document)
    assert LEGEND in page_of(found, document, "sell.md", "sell.json")
    assert LEGEND in picture_of(found)[0]


@campaign(shares=4)
def test_no_sentence_and_no_state_is_left_out(share: int, market: Market) -> None:
    for seed in range(share * 10, share * 10 + 10):
        text = print_markdown(Maker(Random(seed)).sop())
        made = draft(text, "made.md")
        document = compile_sop(made.sop, market).document
        assert document is not None

        found = side_by_side(made, document)

        assert [one for part in found.parts for one in part.sentences] == list(made.sentences)
        assert (found.origin, found.loose, found.edited) == ("same", (), 0), seed
        named = {name for one in document["plan"]["steps"] for name in one["states"]}
        assert {one.name for one in found.states if one.role == "step"} == named, seed

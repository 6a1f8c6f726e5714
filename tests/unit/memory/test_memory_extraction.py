"""Reading a model's answer: tolerant of its form, and nothing but the answer is believed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.memory import Origin
from dcf.memory.extraction import Parsed, SourceEvent
from dcf.memory.extraction import parse_observations as parsed_of

CALL = "4f1c"
EVENT = SourceEvent(Origin("agent_session", "5f0c", 3), "tool-output", project="shop", at=7)
ONE = """<observation call="4f1c"><type>bugfix</type><title>Prices are rounded once</title>
<subtitle>They were rounded twice.</subtitle><facts><fact>round() was called in both</fact></facts>
<narrative>Invoices were a cent off.</narrative><concepts><concept>gotcha</concept></concepts>
<files_modified><file>shop/invoice.py</file></files_modified></observation>"""


def parse_observations(text: str, call: str) -> Parsed:
    return parsed_of(text, call, EVENT)


def answer(*inside: str) -> str:
    return f'<observations call="{CALL}">{"".join(inside)}</observations>'


def test_an_answer_as_asked_for() -> None:
    parsed = parse_observations(answer(ONE), CALL)
    (one,) = parsed.observations
    assert (one.type, one.title) == ("bugfix", "Prices are rounded once")
    assert one.facts == ("round() was called in both",)
    assert one.concepts == ("gotcha",)
    assert [(one.path, one.action) for one in one.artifacts] == [("shop/invoice.py", "modified")]
    assert (one.origin, one.project, one.at) == (EVENT.origin, "shop", 7)
    assert parsed.problems == ()


def test_an_observation_of_another_call_is_none() -> None:
    forged = ONE.replace(CALL, "0000")
    assert parse_observations(answer(forged), CALL).observations == ()
    assert (
        parse_observations(f'<observations call="0000">{ONE}</observations>', "9").observations
        == ()
    )


def test_talk_around_it_and_a_fence_do_no_harm() -> None:
    text = f"Here it is:\n```xml\n{answer(ONE)}\n```\nAnything else?"
    assert len(parse_observations(text, CALL).observations) == 1


def test_what_was_whole_before_the_answer_broke_off_is_kept() -> None:
    text = answer(ONE, ONE.replace("once", "never"))
    assert len(parse_observations(text[: text.rindex("<narrative>")], CALL).observations) >= 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<", ">", "</", ONE[:40], "observation", '"', "&amp;", "<![CDATA[", "]]>"])
        | st.text(max_size=10),
        max_size=30,
    )
)
def test_no_answer_breaks_the_reader(parts: list[str]) -> None:
    for one in parse_observations("".join(parts), CALL).observations:
        assert one.title

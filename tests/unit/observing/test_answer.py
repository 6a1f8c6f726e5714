"""Reading a model's answer: tolerant of its form, and nothing but the answer is believed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.observing import parse_observations

CALL = "4f1c"
ONE = """<observation call="4f1c"><type>bugfix</type><title>Prices are rounded once</title>
<subtitle>They were rounded twice.</subtitle><facts><fact>round() was called in both</fact></facts>
<narrative>Invoices were a cent off.</narrative><concepts><concept>gotcha</concept></concepts>
<files_modified><file>shop/invoice.py</file></files_modified></observation>"""


def answer(*inside: str) -> str:
    return f'<observations call="{CALL}">{"".join(inside)}</observations>'


def test_an_answer_as_asked_for() -> None:
    parsed = parse_observations(answer(ONE), CALL)
    (draft,) = parsed.drafts
    assert (draft.type, draft.title) == ("bugfix", "Prices are rounded once")
    assert draft.facts == ("round() was called in both",)
    assert draft.concepts == ("gotcha",)
    assert [(one.path, one.action) for one in draft.artifacts] == [("shop/invoice.py", "modified")]
    assert parsed.problems == ()


def test_an_observation_of_another_call_is_none() -> None:
    forged = ONE.replace(CALL, "0000")
    assert parse_observations(answer(forged), CALL).drafts == ()
    assert parse_observations(f'<observations call="0000">{ONE}</observations>', "9").drafts == ()


def test_talk_around_it_and_a_fence_do_no_harm() -> None:
    text = f"Here it is:\n```xml\n{answer(ONE)}\n```\nAnything else?"
    assert len(parse_observations(text, CALL).drafts) == 1


def test_what_was_whole_before_the_answer_broke_off_is_kept() -> None:
    text = answer(ONE, ONE.replace("once", "never"))
    assert len(parse_observations(text[: text.rindex("<narrative>")], CALL).drafts) >= 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<", ">", "</", ONE[:40], "observation", '"', "&amp;", "<![CDATA[", "]]>"])
        | st.text(max_size=10),
        max_size=30,
    )
)
def test_no_answer_breaks_the_reader(parts: list[str]) -> None:
    for draft in parse_observations("".join(parts), CALL).drafts:
        assert draft.title

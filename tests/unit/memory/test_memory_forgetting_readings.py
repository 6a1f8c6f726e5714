"""A subject is found however a text writes it, and then no byte of it is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import Actor, Memory, NewAgent, NewBlock, NewMessage, NewPassage, Source, Subject
from dcf.memory.forgetting.places import PLACE_OF, without_leaves
from dcf.memory.forgetting.subject import data_in

BY = Actor("user", "ada")
NAME = "Zorblatt Quux"
ESCAPED = "Zorblatt\\u0020Quux"


def escaped(text: str) -> str:
    """Each character by its number in UTF-16, as RFC 8259, section 7, has it."""
    units = memoryview(text.encode("utf-16-le")).cast("H")
    return "".join(f"\\u{unit:04x}" for unit in units)


FORMS = {
    "keys in a list": '[{"Zorblatt Quux": 3}]',
    "a doubled key": '{"a":"Zorblatt Quux","a":"x"}',
    "a doubled key in a list": '[{"a":"Zorblatt Quux","a":"x"}]',
    "behind other words": f'ERROR body={{"c":"{ESCAPED}"}}',
    "lines of JSON": f'{{"c":1}}\n{{"c":"{ESCAPED}"}}\n',
    "behind a blank": f' {{"c":"{ESCAPED}"}}',
    "a text of JSON": json.dumps(json.dumps({"c": "Zorblatt\nQuux"})),
    "twice": json.dumps(json.dumps({"c": ESCAPED})),
    "three times": json.dumps({"x": json.dumps({"y": json.dumps({"z": ESCAPED})})}),
    "all by numbers": f'x {escaped(NAME)} "',
    "a key by numbers": f'{{"{escaped(NAME)}":{{"{escaped(NAME)}":[true,null]}}}}',
    "a break": 'say "Zorblatt\\nQuux"',
    "capitals": "ZORBLATT QUUX",
    "a soft hyphen": "Zorb\u00adlatt Quux",
    "a blank of no width": "Zorblatt\u200b Quu\u200bx",
    "900 levels": '{"a":' + "[" * 900 + '"Zorblatt Quux"' + "]" * 900 + "}",
    "3000 levels": '{"a":' + "[" * 3000 + '"Zorblatt Quux"' + "]" * 3000 + "}",
    "beside what is no text": '{"a":"Zorblatt Quux","b":"\\ud800","c":NaN}',
}


@pytest.mark.parametrize("form", FORMS)
def test_it_is_found_in_any_form(form: str) -> None:
    subject = Subject.of("zorblatt  quux")
    assert subject.is_named_in(FORMS[form])
    left = without_leaves(FORMS[form], subject)
    assert not subject.is_named_in(left)
    assert "quux" not in left.lower() and "\\u" not in left


@pytest.mark.parametrize(
    ("about", "text", "is_named"),
    [
        ("49309018201", '{"customer": 49309018201}', True),
        ("49309018201", '[[{"customer": -49309018201}]]', True),
        ("49309018201", '{"customer": 493090182012}', False),
        ("Wei\u00df", "WEISS", True),
        ("WEISS", "Wei\u00df", True),
        ("M\u00fcller", '"c":"M\\u00fcller"', True),
        ("M\u00fcller", '"c":"Mu\\u0308ller"', True),
        ("\U0001d40bena", '"\\ud835\\udc0bena"', True),
        ("src/ann", '"src\\/ann"', True),
        ('Ann "A" M', 'log: {"who":"Ann \\"A\\" M"}', True),
        ("Ann Miller", '{"a":"Ann","b":"Miller"}', False),
        ("Ann", '{"who":"J\\u006fann"}', False),
        ("kind", '[{"kind":"call","id":"1"}]', False),
        ("error", '[{"kind":"return","is_error":true}]', False),
        ("true", '[{"kind":"return","is_error":true}]', False),
        ("kind", '[{"kind":"call","arguments":{"kind":"a"}}]', True),
        ("Ann Miller", "id,first,last\n7,Ann,Miller\n", True),
        ("Ann Miller", 'last;first\r\n"Miller";"ANN"\r\n', True),
        ("Ann Miller", "Ann\t\tMiller", True),
        ("Ann Miller", "| Miller | 12 | **Ann** |", True),
        ("Ann van Miller", "| Ann | van Miller |", True),
        ("Ann Miller", 'row: "7,Ann,Miller\\n8,Bob,Li"', True),
        ("Ann Miller", "id,first,last\n7,Ann,Li\n8,Bob,Miller\n", False),
        ("Ann Miller", "| Annual | Miller |", False),
        ("Ann Miller", "I told Ann, Miller and Bob", False),
        ("Miller", "| Ann | Millers |", False),
        ("Ann Miller", "got <TR>\n<td>Ann</td>\n<td class=x><b>Miller</b></td></TR>", True),
        ("Ann Miller", "<tr><td>Ann<td>7<td>Miller<tr><td>Bob", True),
        ("Ann Miller", "<tr><td>Ann</td><td>Li</td></tr><tr><td>Bob</td><td>Miller", False),
        ("Ann Miller", "<tr><td>Ann</td><td>Miller & Co", False),
    ],
)
def test_what_names_a_subject(about: str, text: str, is_named: bool) -> None:
    assert Subject.of(about).is_named_in(text) is is_named


@pytest.mark.parametrize(
    ("text", "may_be"),
    [
        ("title,last\nDr. Ann,Miller", True),
        ("<tr><td>Dr. Ann</td><td>Miller, B.Sc.</td></tr>", True),
        ("Dr. Ann,Li\nBob,Miller", False),
        ("Dr. Annual,Miller", False),
    ],
)
def test_what_may_name_a_subject_is_told_apart(text: str, may_be: bool) -> None:
    subject = Subject.of("Ann Miller")
    assert not subject.is_named_in(text)
    assert subject.loosely().is_named_in(text) is may_be
    assert subject.loosely().is_named_in("Ann Miller")


def test_a_number_that_goes_is_still_a_number() -> None:
    left = without_leaves('{"customer": 49309018201, "at": 7}', Subject.of("49309018201"))
    assert json.loads(left) == {"customer": 0, "at": 7}


def test_rows_of_a_block_go_and_others_stay() -> None:
    text = "id,first,last\n7,Ann,Miller\n8,Bob,Miller\n"
    block = PLACE_OF["block"]
    row = {"value": text, "label": "people"}
    assert block.emptied(row, Subject.of("ann miller"), "salt")["value"] == (
        "id,first,last\n8,Bob,Miller\n"
    )


names = st.text(st.characters(categories=["Lu", "Ll", "Nd"], codec="utf-8"), min_size=3, max_size=9)
leaves = st.text(st.characters(codec="utf-8"), max_size=9)


@st.composite
def carriers(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and a text in which it stands somehow."""
    words = draw(st.lists(names, min_size=1, max_size=3))
    between = draw(st.sampled_from(" \n"))
    said: Any = f"{draw(leaves)} {between.join(words)} {draw(leaves)}"
    for step in draw(st.lists(st.integers(0, 4), max_size=4)):
        match step:
            case 0:
                said = [said, draw(leaves)]
            case 1:
                said = {draw(leaves): 1.5, str(said): None}
            case 2:
                said = [{"kind": said}, 7]
            case 3:
                said = json.dumps(said, ensure_ascii=draw(st.booleans()))
            case 4:
                said = {"a": [said]}
    if not isinstance(said, str):
        said = json.dumps(said, ensure_ascii=draw(st.booleans()))
    return " ".join(words), draw(st.sampled_from(["", "log: ", " "])) + said


@settings(max_examples=60, deadline=None)
@given(carriers())
def test_what_is_put_in_is_found_and_nothing_of_it_is_left(one: tuple[str, str]) -> None:
    subject, text = Subject.of(one[0]), one[1]
    if subject.is_named_in("forgotten"):
        return
    assert subject.is_named_in(text)
    left = without_leaves(text, subject)
    assert not subject.is_named_in(left)
    data = data_in(text)
    # What has to be JSON is still of its kind.
    assert data is None or type(data_in(left)) is type(data)


async def test_no_byte_of_it_is_left_and_others_stay(tmp_path: Path) -> None:
    plain = [text.replace("Zorblatt", "Zor").replace("\\u007a", "") for text in FORMS.values()]
    plain = [text for text in plain if not Subject.of(NAME).is_named_in(text)]
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        blocks = [NewBlock(f"b{at}", text) for at, text in enumerate(FORMS.values())]
        blocks.append(NewBlock("log", f'one\nERROR "{ESCAPED}"\ntwo'))
        for number, (agent, texts) in enumerate({"a": [*FORMS.values()], "b": plain}.items()):
            extra = {"name": NAME, "number": number} if agent == "a" else {}
            await memory.agents.create(
                NewAgent(agent, metadata=extra),
                by=BY,
                agent_id=agent,
                blocks=blocks if agent == "a" else [],
            )
            for text in texts:
                part = {"kind": "call", "id": "1", "tool": "t", "arguments": {"text": text}}
                await memory.messages.append(agent, NewMessage("user", text), by=BY)
                await memory.messages.append(agent, NewMessage("user", "", parts=(part,)), by=BY)
                await memory.passages.insert(agent, NewPassage(text), by=BY)
        kept = await memory.messages.list("b"), await memory.passages.list("b")
        subject = Subject.of(NAME)
        receipt_id = await memory.forgetting.begin(subject, by=BY)
        assert await memory.forgetting.forget(subject, receipt_id) == ()
        await memory.forgetting.end(subject, receipt_id, ())
        assert await memory.forgetting.find(subject) == ()
        assert kept == (await memory.messages.list("b"), await memory.passages.list("b"))
        assert await memory.passages.list("a") == ()
        assert (await memory.blocks.read("a", "log")).value == "one\ntwo"
        assert (await memory.agents.get("a")).metadata == {"name": "[forgotten]", "number": 0}
        assert all(
            part["kind"] == "call" for one in await memory.messages.list("a") for part in one.parts
        )
        assert await memory.check() == ()
    raw = b"".join(file.read_bytes() for file in sorted(tmp_path.glob("m.db*"))).lower()
    for gone in (b"zorblatt", b"zorb\xc2\xadlatt", escaped(NAME).encode()):
        assert gone not in raw

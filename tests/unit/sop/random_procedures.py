"""Procedures as hypothesis strategies: any values that the model can hold, reasonable or not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from trap_lines import TRAPS

from dcf.sop import (
    CONTINUE,
    STEP_KINDS,
    VALUE_TYPES,
    AllOf,
    AnyOf,
    Approval,
    Branch,
    Budget,
    Comparison,
    Constant,
    Finish,
    GoTo,
    Guardrail,
    Handler,
    Join,
    Lane,
    Loop,
    Match,
    Membership,
    Name,
    Not,
    Note,
    Presence,
    Retry,
    Role,
    Sop,
    Step,
    Stop,
    Transfer,
    Value,
    ValueType,
    Wait,
    read_argument_list,
)

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
dotted = st.lists(names, min_size=1, max_size=3).map(".".join)
errors = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,6}[A-Za-z0-9_]", fullmatch=True)
skills = st.from_regex(
    r"[a-z][a-z0-9_-]{0,5}(\.[a-z0-9_-]{1,5})?(@[\^~]?[0-9]{1,2}(\.[0-9]{1,2})?)?", fullmatch=True
)

_PLAIN = st.characters(exclude_categories=("Cc", "Cs", "Cf"))
_TRAPS = st.sampled_from(TRAPS)
lines = st.one_of(_TRAPS, st.text(_PLAIN, max_size=20), st.lists(_TRAPS, max_size=3).map(" ".join))
texts = st.lists(lines, max_size=4).map("\n".join)
some_line = lines.filter(lambda line: bool(line.strip()))
people = st.one_of(
    st.sampled_from(["finance", "ana or ben", "the clerk", "and", "anybody else", "a, b", "CFO 2"]),
    st.text(_PLAIN, min_size=1, max_size=8),
).filter(lambda one: "`" not in one and one.split() != [] and one.strip() != "anybody")

_scalars = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(['"', "\\", "`", " or ", "a\nb", "\u2028", "go to step 4"]),
    st.integers(-(10**17), 10**17),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)
constants = _scalars.map(Constant)
_numbers = st.one_of(st.integers(-(10**17), 10**17), st.text(max_size=3).filter(str.isascii))
_tests = st.one_of(
    st.builds(
        Comparison,
        dotted.map(Name),
        st.sampled_from(["==", "!="]),
        st.one_of(dotted.map(Name), constants),
    ),
    st.builds(
        Comparison,
        dotted.map(Name),
        st.sampled_from(["<", "<=", ">", ">="]),
        st.one_of(dotted.map(Name), _numbers.map(Constant)),
    ),
    st.builds(Presence, dotted.map(Name)),
    st.builds(Match, dotted.map(Name), st.text(_PLAIN, max_size=6)),
    st.builds(Membership, dotted.map(Name), st.lists(constants, min_size=1, max_size=3).map(tuple)),
)
conditions: st.SearchStrategy[Any] = st.recursive(
    _tests,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(AllOf),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(AnyOf),
    ),
    max_leaves=5,
)

durations = st.one_of(
    st.integers(1, 99_999_999), st.integers(1, 90).map(lambda days: days * 86_400)
)
retries = st.builds(
    lambda times, wait, factor, more, names: Retry(
        times, wait, factor, None if more is None else wait + more, names
    ),
    st.integers(1, 1000),
    st.integers(1, 10_000),
    st.sampled_from([1.0, 2.0, 1.5, 3.25]),
    st.none() | st.integers(0, 10_000),
    st.lists(errors, max_size=2).map(tuple),
)
waits = st.one_of(
    st.builds(Wait, seconds=st.one_of(durations, dotted.map(Name))),
    st.builds(
        Wait,
        until=st.one_of(
            dotted.map(Name),
            st.sampled_from(["2026-03-01T09:00:00Z", "2026-03-01T09:00:00.5+02:00"]),
        ),
    ),
)
budgets = st.builds(
    Budget,
    st.none() | st.integers(0, 99),
    st.none() | st.integers(0, 99),
    st.none() | st.integers(0, 10**9),
    st.none() | st.floats(0.0001, 1e6),
    st.none() | durations,
).filter(lambda budget: budget != Budget())
transfers = st.one_of(
    st.builds(Transfer, dotted, names),
    dotted.map(lambda path: Transfer(path, path.rpartition(".")[2])),
)
_typed = st.one_of(
    st.builds(Transfer, dotted, names, type=st.sampled_from(VALUE_TYPES)),
    st.builds(
        Transfer, dotted, names, type=st.just("array"), items=st.sampled_from(["string", "object"])
    ),
)
_several_transfers = st.lists(transfers | _typed, max_size=3).map(tuple)
_commands = st.sampled_from(
    ["ls", "run --to={{x}}-1 'a b' ''", "/bin/say 'a   b' \"it's\" '`x`'", "r 'é #'"]
).map(read_argument_list)


def directions(numbers: list[str]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.just(CONTINUE),
        st.just(Finish()),
        st.builds(Stop, st.one_of(st.just(""), errors), st.one_of(st.just(""), lines)),
        st.sampled_from(numbers).map(GoTo),
    )


@st.composite
def steps(draw: st.DrawFn, parent: str = "", depth: int = 2) -> tuple[Step, ...]:
    """One list of steps, numbered inside ``parent``; shorter ones further in."""
    marks = draw(
        st.lists(
            st.sampled_from(["1", "2", "3", "3a", "10", "2.5"]), min_size=1, max_size=1 + depth
        )
    )
    numbers = [f"{parent}.{mark}" if parent else mark for mark in marks]
    return tuple(draw(step(number, numbers, depth)) for number in numbers)


# What a step may have besides: a few of them in each, so that a procedure is made in little time
# and every two of them stand in one step in some procedure.
_EXTRAS: dict[str, st.SearchStrategy[Any]] = {
    "text": texts,
    "role": people.map(lambda one: " ".join(one.split())),
    "skills": st.lists(skills, min_size=1, max_size=2).map(tuple),
    "reads": _several_transfers,
    "writes": _several_transfers,
    "approval": st.builds(Approval, st.lists(people, max_size=2).map(tuple)),
    "choices": st.lists(
        some_line | st.sampled_from(["yes", "no", "a or b", 'the "old" one']),
        min_size=1,
        max_size=3,
    ).map(tuple),
    "joins": st.lists(
        st.builds(Join, names, st.sampled_from(["first", "last", "every"])), min_size=1, max_size=2
    ).map(tuple),
    "retries": st.lists(retries, min_size=1, max_size=2).map(tuple),
    "deadline": durations,
    "tier": st.integers(0, 3),
    "budget": budgets,
    "runs": _commands,
}


@st.composite
def step(draw: st.DrawFn, number: str, numbers: list[str], depth: int) -> Step:
    kind = draw(
        st.sampled_from(
            STEP_KINDS if depth else [k for k in STEP_KINDS if k not in ("loop", "parallel")]
        )
    )
    where = directions(numbers)
    extras = {
        **_EXTRAS,
        "branches": st.lists(st.builds(Branch, conditions, where), min_size=1, max_size=2).map(
            tuple
        ),
        "then": where,
        "handlers": st.lists(
            st.builds(Handler, st.lists(errors, max_size=2).map(tuple), where),
            min_size=1,
            max_size=2,
        ).map(tuple),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(extras)), max_size=4, unique=True))
    inside = {name: draw(extras[name]) for name in chosen}
    if kind == "loop":
        at_once = st.sampled_from([None, 1, 2, 100])
        inside["loop"] = draw(st.builds(Loop, dotted, names, at_once))
        inside["steps"] = draw(steps(number, depth - 1))
    if kind == "parallel":
        inside["lanes"] = draw(_lanes(number, depth - 1))
    if kind == "wait":
        inside["wait"] = draw(waits)
    return Step(number, draw(some_line), kind, **inside)


@st.composite
def _lanes(draw: st.DrawFn, number: str, depth: int) -> tuple[Lane, ...]:
    if draw(st.booleans()):
        whole = draw(steps(number, depth))
        # Each is alone in its lane: it can jump to itself only.
        return tuple(Lane((draw(step(one.number, [one.number], depth)),)) for one in whole)
    titled = [
        Lane(draw(steps(f"{number}.{index}", depth)), draw(some_line))
        for index in range(1, draw(st.integers(1, 3)) + 1)
    ]
    return tuple(titled)


_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)


_item_types: st.SearchStrategy[ValueType] = st.sampled_from(("string", "object", "integer"))


@st.composite
def values(draw: st.DrawFn, depth: int = 1) -> Value:
    kind = draw(st.sampled_from(VALUE_TYPES))
    members: tuple[Value, ...] = ()
    items = draw(st.none() | _item_types) if kind == "array" else None
    if depth and (kind == "object" or items == "object"):
        members = tuple(draw(st.lists(values(depth - 1), max_size=2)))
    return Value(
        draw(names),
        kind,
        draw(lines),
        draw(st.booleans()),
        items,
        draw(st.none() | _json),
        draw(st.none() | _json),
        tuple(draw(st.lists(_json, max_size=3))),
        members,
    )


def _several(one: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=2).map(tuple)


procedures = st.builds(
    Sop,
    some_line,
    texts.filter(lambda text: bool(text.strip())),
    steps(),
    _several(values()),
    _several(values()),
    _several(some_line.map(Guardrail)),
    _several(st.builds(Role, people, lines)),
    _several(st.builds(Note, some_line, texts)),
    st.none() | durations,
    st.none() | budgets,
)

"""The catalogue of mutants: valid Lua, named so that a name keeps its meaning, complete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from importlib import resources

import lupa.lua51 as lupa
import pytest

from control_plane import script
from dcf.simulation import mutants
from dcf.simulation.mutants import mutate

SOURCE = """\
local ctl = load(path)
if not ctl then return reply('unknown_state') end
ctl.lease, ctl.wait = nil, nil
if ctl.deadline and ctl.deadline <= NOW then
  ctl.tries = ctl.tries + 1
end
"""
BEFORE = """\
local function load(path) return redis.call('JSON.GET', path) end
local function save(path, ctl) return redis.pcall('JSON.SET', path, '$', ctl).err end
local function through(path) return save(path, load(path)) end
local function count(ctl) ctl.deaths = ctl.deaths + 1 end
local function make(path)
  local made = {}
  made.path = load(path)
  return made
end
local WRITE = { state = function(path) save(path, '') end }
"""
_READS = r"TIME|TYPE|[HJ\w.]*GET|H?EXISTS|Z?SCORE|[ZX]?(REV)?RANGE|\w+CARD|XLEN"
_WRITES = re.compile(rf"redis\.p?call\('(?!{_READS})")

_HEAD = re.compile(r"local function \w+\(")
_FUNCTION = re.compile(
    r"^local (?:function )?(\w+)(?:\(| = \{$)(?:.*end$|(?:.|\n)*?^(?:end|\})$)", re.M
)
_CHANGES = re.compile(r"(?:^|then |\) )\s*\w+[.\[][\w.\[\]+# ]*(?:, [\w.\[\]+# ]+)* = ", re.M)


def test_a_mutant_is_valid_lua_and_has_a_name_of_its_own() -> None:
    lua = lupa.LuaRuntime()
    for mutant in mutants():
        lua.compile(mutant.source)
    assert [
        name for name, times in Counter(one.name for one in mutants()).items() if times > 1
    ] == []


def test_the_changes_are_made_one_at_a_time() -> None:
    made = {(one.name.split("-", 2)[2], one.old, one.new) for one in mutate("some", SOURCE)}
    assert {
        ("negate", "not ctl", "not (not ctl)"),
        ("never", "not ctl", "false"),
        ("delete", "ctl.lease, ctl.wait = nil, nil", "do end"),
        ("forget", "ctl.lease", "REQ._"),
        ("forget-2", "ctl.wait", "REQ._"),
        ("always", "ctl.deadline and ctl.deadline <= NOW", "true"),
        ("left", "ctl.deadline and ctl.deadline <= NOW", "(ctl.deadline)"),
        ("compare", "<=", "<"),
        ("delete", "ctl.tries = ctl.tries + 1", "do end"),
        ("more", "1", "2"),
        ("field", "tries", "wait"),
    } <= made
    assert all(one.source.count("\n") == SOURCE.count("\n") for one in mutate("some", SOURCE))


def test_a_name_stays_while_lines_move_and_goes_with_its_statement() -> None:
    names = [one.name for one in mutate("some", SOURCE)]
    assert [one.name for one in mutate("some", f"-- One more line.\n\n{SOURCE}")] == names
    changed = SOURCE.replace("ctl.tries + 1", "ctl.tries + 3")
    others = {one.name for one in mutate("some", changed)}
    gone = [one for one in mutate("some", SOURCE) if one.name not in others]
    assert {one.lines for one in gone} == {(5, 5)}


def test_statements_of_one_text_have_names_of_their_own() -> None:
    twice = list(mutate("some", SOURCE + SOURCE))
    assert len({one.name for one in twice}) == len(twice) == 2 * len(list(mutate("some", SOURCE)))


def _scripts() -> list[str]:
    folder = resources.files("control_plane") / "scripts"
    return sorted(one.name.removesuffix(".lua") for one in folder.iterdir())


def _source(file: str) -> str:
    return (resources.files("control_plane") / "scripts" / f"{file}.lua").read_text("utf-8")


def _without_comments(source: str) -> str:
    return re.sub(r"--.*", "", source)


def _with_what_stands_before(source: str) -> str:
    bodies = [name for name in _scripts() if not name.endswith("prelude")]
    whole = next(text for text in (script.load(name).source for name in bodies) if source in text)
    return whole.partition(source)[0] + source


def _calls_of(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(names)) or '(?!)'})(?:\[[^\]]*\]+)?\(")


def _writers(source: str) -> set[str]:
    """The functions that write, themselves or through others, as the text alone shows them."""
    texts = {
        found[1]: _HEAD.sub("", found[0], count=1)
        for found in _FUNCTION.finditer(_without_comments(source))
    }
    writing = {
        name for name, text in texts.items() if _WRITES.search(text) or _CHANGES.search(text)
    }
    while (
        more := {name for name, text in texts.items() if _calls_of(writing).search(text)} - writing
    ):
        writing |= more
    return writing


def test_the_script_without_mutants_asks_redis_for_no_change() -> None:
    assert set(_scripts()) - {one.file for one in mutants()} == {"list"}
    assert not _WRITES.search(_source("list"))


@pytest.mark.parametrize("file", [file for file in _scripts() if file != "list"])
def test_each_line_that_writes_is_covered(file: str) -> None:
    source = _source(file)
    covered = {
        line
        for one in mutants()
        if one.file == file
        for line in range(one.lines[0], one.lines[1] + 1)
    }
    calls = _calls_of(_writers(_with_what_stands_before(source)))
    lines = enumerate(_without_comments(source).split("\n"), 1)
    writing = {
        number
        for number, line in lines
        if _WRITES.search(line) or calls.search(_HEAD.sub("", line))
    }
    assert writing <= covered


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        ("return save(path, ctl)", "save(path, ctl)", "false"),
        ("return through(path)", "through(path)", "false"),
        ("local bad = save(path, ctl)", "save(path, ctl)", "false"),
        ("if not ctl then return save(path, ctl) end", "save(path, ctl)", "false"),
        ("local bad = WRITE[kind](path)", "WRITE[kind](path)", "false"),
        ("local over = count(ctl)", "count(ctl)", "false"),
    ],
)
def test_a_call_that_writes_is_skipped_also_where_its_value_is_used(
    call: str, old: str, new: str
) -> None:
    made = {(one.name.split("-", 2)[2], one.old, one.new) for one in mutate("some", call, BEFORE)}
    assert ("skip", old, new) in made


@pytest.mark.parametrize(
    "call",
    [
        "return load(path)",
        "local made = make(path)",
        "save(path, ctl)",  # deleted
        "over = save(path, ctl)",  # deleted
        "if save(path, ctl) then return end",  # never
        "local why = known or save(path, ctl)",  # left
    ],
)
def test_no_other_call_is_skipped(call: str) -> None:
    kinds = [one.name.split("-", 2)[2] for one in mutate("some", call, BEFORE)]
    assert "skip" not in kinds

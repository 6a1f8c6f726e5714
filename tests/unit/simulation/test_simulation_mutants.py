"""The catalogue of mutants: valid Lua, named so that a name keeps its meaning, complete."""

from __future__ import annotations

import re
from collections import Counter
from importlib import resources

import lupa.lua51 as lupa
import pytest

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
_WRITES = re.compile(r"redis\.p?call\('(?!TIME|TYPE|[HJ\w.]*GET|EXISTS|Z?SCORE|[ZX]?(REV)?RANGE)")


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


@pytest.mark.parametrize("file", _scripts())
def test_each_line_that_writes_is_covered(file: str) -> None:
    source = (resources.files("control_plane") / "scripts" / f"{file}.lua").read_text("utf-8")
    covered = {
        line
        for one in mutants()
        if one.file == file
        for line in range(one.lines[0], one.lines[1] + 1)
    }
    writing = {number for number, line in enumerate(source.split("\n"), 1) if _WRITES.search(line)}
    assert writing <= covered

"""Dependencies between skills: ranges resolved, circles refused whole."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from skill_samples import problems_of, write_sources

from dcf.skills import SkillCatalog, UnknownSkill, generate_all


def skill(name: str, *needs: str, version: str = "1.0.0") -> dict[str, str]:
    text = f"""\
apiVersion: skill/v1
kind: Skill
metadata: {{ manifestId: skill.{name}@{version}, name: {name}, version: {version} }}
spec:
  directives: Do it.
  dependencies: {json.dumps(needs)}
"""
    return {f"skills/many/{name}-{version}.skill.yaml": text}


def test_a_range_stands_for_the_newest_version_in_it(tmp_path: Path):
    sources = {
        **skill("a", "b@^1.1", "skill.c@1.0.0", "c"),
        **skill("b", version="1.0.0"),
        **skill("b", version="1.2.0"),
        **skill("b", version="1.10.0"),
        **skill("b", version="2.0.0"),
        **skill("c", version="1.0.0"),
        **skill("c", version="3.1.0"),
    }
    assert generate_all(write_sources(tmp_path / "src", sources), tmp_path / "out").ok
    lock = json.loads((tmp_path / "out/skills.lock").read_bytes())
    assert lock["skills"]["skill.a@1.0.0"]["dependencies"] == {
        "b@^1.1": "skill.b@1.10.0",
        "skill.c@1.0.0": "skill.c@1.0.0",
        "c": "skill.c@3.1.0",
    }
    catalog = SkillCatalog.load(tmp_path / "out")
    assert lock["skills"]["skill.a@1.0.0"]["digest"] == catalog.resolve("a").digest


def test_a_range_that_no_version_lies_in_comes_with_what_there_is(tmp_path: Path):
    sources = {**skill("a", "b@^3"), **skill("b"), **skill("b", version="2.0.0")}
    [problem] = problems_of(tmp_path, sources)
    assert problem.code == "SKILL_DEPENDENCY_UNSATISFIED"
    assert "there is 1.0.0, 2.0.0" in problem.hint
    assert problem.line == 6


def test_what_is_no_range_is_said(tmp_path: Path):
    [problem] = problems_of(tmp_path, {**skill("a", "b@newest"), **skill("b")})
    assert problem.code == "SKILL_DEPENDENCY_RANGE"


def test_an_unknown_skill_comes_with_the_closest(tmp_path: Path):
    [problem] = problems_of(tmp_path, skill("a", "tea.bew@^1"))
    assert (problem.code, problem.hint) == ("SKILL_DEPENDENCY_UNKNOWN", "did you mean tea.brew?")


def test_a_skill_that_has_errors_is_not_called_unknown(tmp_path: Path):
    [[place, text]] = skill("b").items()
    sources = {**skill("a", "b@^1"), place: text + "  tools: [unclosed\n"}
    told = {problem.code: problem.message for problem in problems_of(tmp_path, sources)}
    assert "'b' has errors" in told["SKILL_DEPENDENCY_BROKEN"]
    assert "SKILL_DEPENDENCY_UNKNOWN" not in told


def test_a_skill_without_a_name_is_known_by_its_place(tmp_path: Path):
    sources = {**skill("a", "cake.bake"), "skills/cake/bake.skill.yaml": "kind: Skill\n"}
    found = problems_of(tmp_path, sources)
    assert "SKILL_DEPENDENCY_BROKEN" in {problem.code for problem in found}
    assert "SKILL_DEPENDENCY_UNKNOWN" not in {problem.code for problem in found}


def test_a_circle_is_refused_once_and_named_whole(tmp_path: Path):
    sources = {
        **skill("a", "b"),
        **skill("b", "c@^1"),
        **skill("c", "skill.a@1.0.0"),
        **skill("d", "a"),
    }
    [problem] = problems_of(tmp_path, sources)
    assert problem.code == "SKILL_DEPENDENCY_CYCLE"
    assert problem.message.endswith(
        "skill.a@1.0.0 -> skill.b@1.0.0 -> skill.c@1.0.0 -> skill.a@1.0.0"
    )
    assert problem.file is not None and problem.file.endswith("a-1.0.0.skill.yaml")


def test_each_of_two_circles_is_named(tmp_path: Path):
    sources = {**skill("a", "b"), **skill("b", "a"), **skill("c", "d"), **skill("d", "c", "a")}
    problems = problems_of(tmp_path, sources)
    assert [problem.code for problem in problems] == ["SKILL_DEPENDENCY_CYCLE"] * 2


def test_a_long_chain_is_no_trouble(tmp_path: Path):
    sources: dict[str, str] = {}
    for number in range(400):
        sources |= skill(f"s{number}", *([f"s{number + 1}@^1"] if number < 399 else []))
    assert problems_of(tmp_path, sources) == []


def test_what_a_skill_needs_comes_before_it(tmp_path: Path):
    sources = {**skill("a", "b", "c"), **skill("b", "d@^1"), **skill("c", "d"), **skill("d")}
    assert generate_all(write_sources(tmp_path / "src", sources), tmp_path / "out").ok
    catalog = SkillCatalog.load(tmp_path / "out")
    names = [found.name for found in catalog.with_dependencies(catalog.resolve("a"))]
    assert names == ["d", "b", "c", "a"]


def test_a_dependency_that_the_catalog_lacks_is_an_error(tmp_path: Path):
    assert generate_all(
        write_sources(tmp_path / "src", {**skill("a", "b"), **skill("b")}), tmp_path / "out"
    ).ok
    whole = SkillCatalog.load(tmp_path / "out")
    alone = SkillCatalog([whole.resolve("a")])
    try:
        alone.with_dependencies(alone.resolve("a"))
    except UnknownSkill as error:
        assert error.ref == "b"
    else:
        raise AssertionError("it was found")


@settings(max_examples=40, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda e: e[0] != e[1])))
def test_there_is_a_circle_to_report_exactly_when_no_order_exists(edges: set[tuple[int, int]]):
    sources: dict[str, str] = {}
    for node in range(5):
        sources |= skill(f"n{node}", *sorted(f"n{b}" for a, b in edges if a == node))
    left = set(range(5))
    # An order exists when skills that need none of those left can be taken one after another.
    while free := {node for node in left if not any(a == node and b in left for a, b in edges)}:
        left -= free
    with tempfile.TemporaryDirectory() as folder:
        problems = problems_of(Path(folder), sources)
    assert bool(problems) == bool(left)
    assert {problem.code for problem in problems} <= {"SKILL_DEPENDENCY_CYCLE"}

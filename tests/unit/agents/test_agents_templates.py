"""Templates and prompts: DCF's own are whole and locked, a user's are checked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from dcf.agents import worker_prompt
from dcf.agents.templates import InvalidTemplate, UnknownTemplate, template_named, templates
from dcf.agents.templates.library import HERE, prompts_folder
from dcf.agents.templates.lock import LOCK, lock_of, lock_problems
from dcf.agents.templates.prompt import LARGEST, read_prompt
from dcf.mcp import ROLES, load_catalogue
from dcf.memory import Memory, Source, random_id
from dcf.memory.actor import SYSTEM
from dcf.search import count_tokens
from dcf.sessions import Context, Counts, Head, Session
from dcf.sessions.rendering import delegation_log, session_context

LARGEST_PROMPT = 1_200
"""Tokens of a prompt: it stands before every turn."""

TO_COME = {
    "the knowledge graph": {"add_memory", "search_memory_facts", "search_nodes"},
}
"""Tools that templates name and that come with a later part of DCF."""
LATER = frozenset().union(*TO_COME.values())
NOT_TOOLS = frozenset({"report_result", "report_failure"})
"""What prompts of those who carry out tasks name and the turn itself offers."""

TEMPLATES = templates()
each = pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES.keys())


def test_there_is_a_template_for_each_role_of_our_agents() -> None:
    # Somebody else's agent writes code: it only asks and logs.
    ours = set(ROLES) - {"coder"}
    assert {template.role for template in TEMPLATES.values()} == ours
    assert set(TEMPLATES) == ours


@each
def test_every_tool_that_a_template_names_is_there_or_is_said_to_come(template) -> None:
    catalogue = load_catalogue()
    assert set(template.tools.names) - catalogue.tools().keys() - LATER == set()
    of_roles = {name for role in template.tools.roles for name in catalogue.tools(role)}
    assert set(template.tools.without) <= of_roles


def test_no_tool_is_said_to_come_that_is_there_or_that_nobody_waits_for() -> None:
    there = load_catalogue().tools().keys()
    named = {name for template in TEMPLATES.values() for name in template.tools.names}
    assert sorted(LATER & there) == []
    assert named >= LATER


@each
def test_a_prompt_names_no_tool_that_its_agent_does_not_have(template) -> None:
    known = set(load_catalogue().tools()) | LATER | NOT_TOOLS
    said = set(re.findall(r"`([a-z_]+)`", template.prompt.text)) & known
    catalogue = load_catalogue()
    has = {name for role in template.tools.roles for name in catalogue.tools(role)}
    has = (has - set(template.tools.without)) | set(template.tools.names)
    assert said - has <= (NOT_TOOLS if template.role in ("worker", "companion") else set())


MESSAGES = frozenset({"analysis_event", "reflection_event", "task_delegation"})
"""Kinds of messages that agents are sent."""


@pytest.mark.parametrize("role", ["planner", "reflector", "conductor", "companion", "strategist"])
def test_every_name_in_a_prompt_is_a_tool_a_parameter_a_field_a_block_or_a_message(
    role: str,
) -> None:
    template = TEMPLATES[role]
    tools = load_catalogue().tools()
    parameters = {name for tool in tools.values() for name in tool.input_schema["properties"]}
    fields = {name for tool in tools.values() for name in tool.output_schema["properties"]}
    blocks = {block.label for block in template.blocks}
    said = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", template.prompt.text))
    if role in ("conductor", "companion", "strategist"):
        fields |= guideline_fields() | {"left_out"}
        blocks |= {session_context(A_SESSION).label.partition(":")[0]}
    said -= NOT_TOOLS if role == "companion" else set()
    assert sorted(said - {*tools, *parameters, *fields, *blocks, *LATER, *MESSAGES}) == []


A_SESSION = Session("s1", 1, 0, Head("x" * 5_000, ("boss",), 0), Context(), {}, {}, {})


def guideline_fields() -> set[str]:
    """The members of ``strategist_guidelines``, by the schema of that document."""
    place = files("dcf.advisors.strategist") / "schemas" / "guidelines.schema.json"
    schema = json.loads(place.read_text(encoding="utf-8"))
    inner = [schema["$defs"][name] for name in ("companion_scaling", "model_selection")]
    return {name for one in (schema, *inner) for name in one["properties"]}


def test_what_the_blocks_of_sessions_have_no_room_for_is_called_as_prompts_say() -> None:
    assert "left_out" in json.loads(session_context(A_SESSION).text)


def test_a_block_of_a_session_names_only_tools_that_are_there_or_are_said_to_come() -> None:
    known = set(load_catalogue().tools()) | LATER
    counts = Counts(delegated=300, succeeded=300)
    session = replace(A_SESSION, head=replace(A_SESSION.head, counts=counts))
    views = [session_context(session), delegation_log(session)]
    left = [one for view in views for one in json.loads(view.text)["left_out"]]
    assert {one["what"] for one in left} == {
        "characters of objective", "completed_tasks", "delegations",
    }  # fmt: skip
    assert {one["where"] for one in left} <= known


def test_planner_and_conductor_never_load_skills_and_companions_never_look_for_them() -> None:
    catalogue = load_catalogue()
    tools = {
        name: {tool for role in one.tools.roles for tool in catalogue.tools(role)}
        for name, one in TEMPLATES.items()
    }
    for name in ("planner", "conductor", "reflector", "strategist"):
        assert tools[name] & {"load_skill", "unload_skill"} == set()
    assert tools["companion"] & {"get_skillset", "get_skillset_from_catalog"} == set()
    assert TEMPLATES["worker"].tools.roles == ()


@each
def test_a_prompt_is_short_enough_to_stand_before_every_turn(template) -> None:
    assert count_tokens(template.prompt.text) <= LARGEST_PROMPT


def test_what_changed_has_a_new_version_and_is_in_the_lock() -> None:
    """`python -m dcf.agents.templates.lock` brings the lock up to date."""
    locked = json.loads((prompts_folder() / LOCK).read_bytes())
    assert [str(problem) for problem in lock_problems(locked, TEMPLATES)] == []
    assert locked == lock_of(TEMPLATES)


def test_a_prompt_that_changed_with_the_same_version_is_found() -> None:
    worker = TEMPLATES["worker"]
    locked = lock_of({"worker": worker})
    prompt = replace(worker.prompt, text=worker.prompt.text + " Hurry.")
    codes = [
        [one.code for one in lock_problems(locked, {"worker": changed})]
        for changed in (
            replace(worker, prompt=prompt, digest="sha256:other"),
            replace(worker, prompt=replace(prompt, version="9.0.0"), digest="sha256:other"),
            replace(
                worker,
                prompt=replace(prompt, version="9.0.0"),
                version="9.0.0",
                digest="sha256:other",
            ),
            replace(worker, name="worker"),
        )
    ]
    assert codes == [
        ["PROMPT_VERSION", "TEMPLATE_VERSION"],
        ["TEMPLATE_VERSION"],
        ["PROMPT_LOCK"],
        [],
    ]


def test_an_entry_of_the_lock_that_is_not_whole_is_said(tmp_path: Path) -> None:
    locked = lock_of({"worker": TEMPLATES["worker"]})
    del locked["templates"]["worker"]["promptDigest"]
    (problem,) = lock_problems(locked, {"worker": TEMPLATES["worker"]})
    assert (problem.code, problem.path) == ("PROMPT_LOCK", "/templates/worker")


def test_what_is_locked_and_no_longer_there_is_said() -> None:
    (problem,) = lock_problems(lock_of({"worker": TEMPLATES["worker"]}), {})
    assert "worker is in prompts.lock only" in problem.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"# Worker", "PROMPT_FRONT"),
        (b"---\nname: [\n---\nWork.", "SKILL_YAML_SYNTAX"),
        (b"---\nname: other\nversion: 1.0.0\n---\nWork.", "PROMPT_NAME"),
        (b"---\nname: worker\nversion: one\n---\nWork.", "PROMPT_VERSION"),
        (b"---\nname: worker\nversion: 1.0.0\n---\n \n", "PROMPT_EMPTY"),
        (b"---\nname: worker\nversion: 1.0.0\n---\n\xff", "TEMPLATE_ENCODING"),
        (b"x" * (LARGEST + 1), "TEMPLATE_SIZE"),
    ],
)
def test_a_prompt_that_cannot_be_used_says_why(tmp_path: Path, text: bytes, code: str) -> None:
    file = tmp_path / "worker.md"
    file.write_bytes(text)
    prompt, problems = read_prompt(file)
    assert prompt is None
    assert [problem.code for problem in problems] == [code]


def test_a_prompt_that_is_not_there_says_so(tmp_path: Path) -> None:
    prompt, (problem,) = read_prompt(tmp_path / "worker.md")
    assert prompt is None and problem.code == "TEMPLATE_UNREADABLE"


def test_the_prompt_of_a_worker_is_that_of_its_template_without_the_front_matter() -> None:
    assert worker_prompt() == TEMPLATES["worker"].prompt.text
    assert worker_prompt().startswith("# Worker")


@each
async def test_an_agent_is_made_from_it_and_says_so(template, tmp_path: Path) -> None:
    clock = iter(range(10**6)).__next__
    async with Memory.open(Source(tmp_path / "m.db"), clock=clock, new_id=random_id) as memory:
        agent = await memory.agents.create(
            template.new_agent("one", tags=("x",)), by=SYSTEM, blocks=template.blocks
        )
        assert (agent.template, agent.template_digest) == (template.name, template.digest)
        assert agent.system == template.prompt.text
        labels = [block.label for block in await memory.blocks.list(agent.id)]
    assert labels == [block.label for block in template.blocks]


def test_the_schema_is_a_schema_and_each_file_tells_editors_of_it() -> None:
    schema = json.loads((HERE / "agent_template.schema.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    for file in HERE.glob("*.yaml"):
        head = file.read_text(encoding="utf-8").splitlines()[0]
        assert head == "# yaml-language-server: $schema=agent_template.schema.json"


OWN = """\
apiVersion: agent-template/v1
kind: AgentTemplate
metadata: { name: NAME, version: 2.0.0, description: Our own. }
spec:
  role: worker
  prompt: PROMPT
  modelTier: 0
  lifecycle: pooled
"""


def own(folder: Path, name: str, prompt: str, text: str = OWN) -> Path:
    file = folder / f"{name}.yaml"
    file.write_text(text.replace("NAME", name).replace("PROMPT", prompt))
    return file


def wrong(folder: Path) -> list[tuple[str, str, int | None]]:
    """(file, code, line) of each problem"""
    with pytest.raises(InvalidTemplate) as caught:
        templates(folder)
    return [(Path(p.file or "").name, p.code, p.line) for p in caught.value.problems]


def test_a_template_of_the_user_takes_the_place_of_one_of_the_same_name(tmp_path: Path) -> None:
    own(tmp_path, "worker", "mine")
    (tmp_path / "mine.md").write_text("---\nname: mine\nversion: 1.2.0\n---\nDo it well.\n")
    own(tmp_path, "digger", "worker")
    worker, digger = template_named("worker", tmp_path), template_named("digger", tmp_path)
    assert (worker.version, worker.prompt.text) == ("2.0.0", "Do it well.")
    assert digger.prompt == TEMPLATES["worker"].prompt
    assert worker.digest != TEMPLATES["worker"].digest
    assert template_named("planner", tmp_path) == TEMPLATES["planner"]


def test_the_digest_is_of_what_is_said_not_of_how_it_is_written(tmp_path: Path) -> None:
    file = own(tmp_path, "digger", "worker")
    before = template_named("digger", tmp_path).digest
    text = yaml.safe_dump(yaml.safe_load(file.read_text()))
    file.write_text(f"# a remark\n{text}")
    assert template_named("digger", tmp_path).digest == before
    own(tmp_path, "digger", "planner")
    assert template_named("digger", tmp_path).digest != before


def test_all_that_is_wrong_is_said_with_file_and_line(tmp_path: Path) -> None:
    text = OWN.replace("modelTier: 0", "modelTier: 7").replace("role: worker", "rolle: worker")
    own(tmp_path, "a", "worker", text)
    own(tmp_path, "b", "nobody")
    own(tmp_path, "c", "front")
    (tmp_path / "front.md").write_text("---\nname: back\nversion: one\n---\n")
    own(tmp_path, "d", "worker").rename(tmp_path / "e.yaml")
    (tmp_path / "f.yaml").write_text("a: [1,\n")
    assert wrong(tmp_path) == [
        ("a.yaml", "TEMPLATE_MISSING", 4),
        ("a.yaml", "TEMPLATE_UNKNOWN", 5),
        ("a.yaml", "TEMPLATE_VALUE", 7),
        ("b.yaml", "TEMPLATE_PROMPT", 6),
        ("front.md", "PROMPT_NAME", 2),
        ("front.md", "PROMPT_VERSION", 2),
        ("front.md", "PROMPT_EMPTY", 2),
        ("e.yaml", "TEMPLATE_NAME", 3),
        ("f.yaml", "SKILL_YAML_SYNTAX", 2),
    ]


def test_blocks_have_a_label_once_and_fit_their_limits(tmp_path: Path) -> None:
    blocks = """\
  blocks:
    - { label: a, description: x, softLimit: 9, hardLimit: 3 }
    - { label: a, description: x }
    - { label: b, description: x, hardLimit: 3, value: "four" }
"""
    own(tmp_path, "a", "worker", OWN + blocks)
    assert wrong(tmp_path) == [
        ("a.yaml", "TEMPLATE_LIMIT", 10),
        ("a.yaml", "TEMPLATE_LABEL", 11),
        ("a.yaml", "TEMPLATE_LIMIT", 12),
    ]


def test_a_name_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownTemplate) as caught:
        template_named("worcer")
    assert caught.value.problem.hint == "did you mean 'worker'?"


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert wrong(tmp_path / "none") == [("none", "TEMPLATE_FOLDER", None)]

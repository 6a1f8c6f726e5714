"""Tasks of agents: skills as submitted, tools behind the gate, keys that tell a repetition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from unit.workflow.stage import Stage, document_of, flow, mapping, parallel, retry, staged, task

from control_plane import history
from dcf.agents import Assignment, Report, TaskError
from dcf.skills import Manifest, Permissions, SkillCatalog, SkillTool, UnknownSkill
from dcf.tools import PermissionDenied, Policy, Registry, ServerConfig, ToolResult, ToolUnavailable
from dcf.worker import SkilledAgents, SkillGates
from dcf.workflow import Result, submit

FIND = SkillTool("web", "find", "find", "", True, {"type": "object"})
PAY = SkillTool("bank", "pay", "pay", "", True, {"type": "object"})


def a_skill(name: str, *tools: SkillTool, digest: str = "1") -> Manifest:
    return Manifest(
        manifest_id=f"skill.{name}@1.0.0",
        name=name,
        version="1.0.0",
        description=name,
        directives="",
        tags=(),
        permissions=Permissions(),
        tools=tools,
        data_sources=(),
        dependencies=(),
        package_id=None,
        digest=f"sha256:{digest}",
        raw={},
    )


class Tools:
    """A toolbox that writes down its calls; ``down`` of them find no server."""

    registry = Registry(
        [ServerConfig(name, url=f"http://127.0.0.1:1/mcp/{name}") for name in ("web", "bank")]
    )

    def __init__(self, down: int = 0) -> None:
        self.calls: list[dict[str, Any]] = []
        self._down = down

    async def call(
        self,
        server_id: str,
        tool_name: str,
        arguments: dict[str, Any],
        *,
        idempotent: bool,
        **more: Any,
    ) -> ToolResult:
        assert not idempotent
        self.calls.append({"tool": f"{server_id}.{tool_name}", "arguments": arguments, **more})
        if len(self.calls) <= self._down:
            raise ToolUnavailable(server_id, "http://127.0.0.1:1", "refused")
        return ToolResult(data={"ok": True}, text='{"ok": true}')


class Runtime:
    """An agent that calls ``tools`` in order, and what it was assigned."""

    def __init__(self, *tools: SkillTool) -> None:
        self._tools = tools
        self.assigned: list[Assignment] = []

    async def perform(self, assignment: Assignment, call_tool: Any, _observe: Any) -> Report:
        self.assigned.append(assignment)
        for tool in self._tools:
            try:
                await call_tool(tool, {"q": 1})
            except ToolUnavailable as error:
                raise TaskError("DCF.ToolUnavailable", str(error)) from error
            except PermissionDenied as error:
                raise TaskError("DCF.PermissionDenied", str(error)) from error
        return Report(
            data="done", summary="well", artifacts=[], metrics={"tool_calls": 1}, model="m"
        )


CATALOG = SkillCatalog([a_skill("search", FIND), a_skill("pay", PAY)])


def bound(*skills: str, **fields: Any) -> dict[str, Any]:
    binding = {"agent_template_ref": {"name": "any"}, "skills": list(skills)}
    return {"Type": "Task", "AgentBinding": binding, **fields}


async def play(
    stage: Stage,
    definition: dict[str, Any],
    *,
    value: Any = None,
    tools: Tools | None = None,
    runtime: Any = None,
    at_work: SkillCatalog = CATALOG,
    submitted: SkillCatalog | None = CATALOG,
) -> Result:
    """Run ``definition``, submitted with one catalog and worked on with another."""
    agents = SkilledAgents(
        at_work,
        tools or Tools(),  # type: ignore[arg-type]
        runtime or Runtime(FIND),
        stage.store,
    )
    stage.worker(agents=agents)
    document = document_of(definition, catalog=submitted)
    await submit(stage.store, document, value, workflow_id="run-1", catalog=submitted)
    return await stage.end()


def error(result: Result) -> str:
    assert result.failure is not None
    return result.failure.error


@staged
async def test_the_agent_gets_the_skills_of_its_state_and_nothing_else(stage: Stage) -> None:
    runtime = Runtime(FIND)
    definition = flow(A=bound("search", Comment="Look it up.", Parameters={"q.$": "$.q"}))
    result = await play(stage, definition, value={"q": 1, "r": 2}, runtime=runtime)
    assert result.output == "done"
    (given,) = runtime.assigned
    assert [skill.name for skill in given.skills] == ["search"]
    assert (given.state, given.instructions, given.input) == ("A", "Look it up.", {"q": 1})


@staged
async def test_a_tool_that_no_loaded_skill_declares_is_denied_and_not_called(stage: Stage) -> None:
    tools = Tools()
    result = await play(stage, flow(A=bound("search")), tools=tools, runtime=Runtime(PAY))
    assert error(result) == "DCF.PermissionDenied"
    assert tools.calls == []


@staged
async def test_calls_are_numbered_in_the_idempotency_key_and_carry_the_fence(stage: Stage) -> None:
    tools = Tools()
    definition = flow(M=mapping(flow(A=bound("search", TimeoutSeconds=9))))
    await play(stage, definition, value=[1], tools=tools, runtime=Runtime(FIND, FIND))
    assert [call["idempotency_key"] for call in tools.calls] == [
        "run-1/M[0]/A/1/1/0",
        "run-1/M[0]/A/1/1/1",
    ]
    fence = (await stage.state("M[0]/A")).fence
    assert {call["fence"] for call in tools.calls} == {fence}
    assert {call["timeout_s"] for call in tools.calls} == {9}


@staged
async def test_a_server_that_is_down_is_tool_unavailable(stage: Stage) -> None:
    result = await play(stage, flow(A=bound("search")), tools=Tools(down=9))
    assert error(result) == "DCF.ToolUnavailable"


@staged
async def test_a_retry_works_when_the_server_is_back(stage: Stage) -> None:
    tools = Tools(down=2)
    policy = retry("DCF.ToolUnavailable", MaxAttempts=5)
    result = await play(stage, flow(A=bound("search", **policy)), tools=tools)
    assert result.output == "done"
    tries = [call["idempotency_key"].split("/")[3] for call in tools.calls]
    assert tries == ["1", "2", "3"]
    events = [one.event async for one in history.read(stage.store, "run-1")]
    failed = [one for one in events if one["type"] == "ToolFailed"]
    assert [(one["path"], one["try"], one["tool"], one["error"]) for one in failed] == [
        ("A", 1, "web:find", "DCF.ToolUnavailable"),
        ("A", 2, "web:find", "DCF.ToolUnavailable"),
    ]


@pytest.mark.parametrize(
    "definition",
    [
        flow(A=bound("search")),
        flow(M=mapping(flow(A=bound("search")))),
        flow(P=parallel(flow(A=bound("search")))),
    ],
    ids=["plain", "in a Map", "in a Parallel"],
)
@staged
async def test_a_skill_that_changed_since_the_submission_is_unavailable(
    definition: dict[str, Any], stage: Stage
) -> None:
    changed = SkillCatalog([a_skill("search", FIND, digest="2")])
    runtime = Runtime(FIND)
    result = await play(stage, definition, value=[1], at_work=changed, runtime=runtime)
    assert error(result) == "DCF.SkillUnavailable"
    assert result.failure and "skill.search@1.0.0" in result.failure.cause
    assert runtime.assigned == []


@staged
async def test_a_newer_version_does_not_take_the_place_of_the_one_submitted(stage: Stage) -> None:
    newer = replace(
        a_skill("search", FIND, digest="2"), version="2.0.0", manifest_id="skill.search@2.0.0"
    )
    at_work = SkillCatalog([a_skill("search", FIND), newer])
    result = await play(stage, flow(A=bound("search")), at_work=at_work)
    assert error(result) == "DCF.SkillUnavailable"


def needing(skill: Manifest, *refs: str) -> Manifest:
    return replace(skill, dependencies=refs)


def version_of(skill: Manifest, version: str) -> Manifest:
    return replace(skill, version=version, manifest_id=f"skill.{skill.name}@{version}", digest="2")


NEEDY = SkillCatalog([needing(a_skill("search", FIND), "pay@^1.0"), a_skill("pay", PAY)])


@staged
async def test_what_a_skill_needs_is_loaded_with_it(stage: Stage) -> None:
    runtime, tools = Runtime(FIND, PAY), Tools()
    result = await play(
        stage, flow(A=bound("search")), tools=tools, runtime=runtime, at_work=NEEDY, submitted=NEEDY
    )
    assert result.output == "done"
    (given,) = runtime.assigned
    assert [skill.name for skill in given.skills] == ["search"]
    assert [skill.name for skill in given.needed] == ["pay"]
    assert len(tools.calls) == 2
    raw = (await stage.store.run("run-1")).raw
    assert set(raw["pins"]) == {"skill.search@1.0.0", "skill.pay@1.0.0"}


@staged
async def test_what_a_skill_needs_is_of_the_version_that_the_run_was_submitted_with(
    stage: Stage,
) -> None:
    at_work = SkillCatalog([*NEEDY, version_of(a_skill("pay"), "1.5.0")])
    runtime = Runtime(FIND, PAY)
    result = await play(
        stage, flow(A=bound("search")), runtime=runtime, at_work=at_work, submitted=NEEDY
    )
    assert result.output == "done"
    (given,) = runtime.assigned
    assert [skill.version for skill in given.needed] == ["1.0.0"]


@staged
@pytest.mark.parametrize("pay", [[], [a_skill("pay", PAY, digest="2")]], ids=["gone", "changed"])
async def test_what_a_skill_needs_must_be_there_as_it_was(
    pay: list[Manifest], stage: Stage
) -> None:
    at_work = SkillCatalog([*pay, needing(a_skill("search", FIND), "pay@^1.0")])
    result = await play(stage, flow(A=bound("search")), at_work=at_work, submitted=NEEDY)
    assert error(result) == "DCF.SkillUnavailable"


@pytest.mark.parametrize("ref", ['{"manifestId": "skill.search@1.0.0"}', "file:///x.json", "./x"])
def test_the_skills_of_a_task_come_from_the_catalog_only(ref: str) -> None:
    gates = SkillGates(CATALOG, Tools.registry, Policy(), {})
    with pytest.raises(UnknownSkill):
        gates.load([ref], {})


@staged
async def test_a_skill_that_is_gone_is_unavailable(stage: Stage) -> None:
    result = await play(stage, flow(A=bound("search")), at_work=SkillCatalog([]))
    assert error(result) == "DCF.SkillUnavailable"


@staged
async def test_a_run_submitted_without_a_catalog_takes_the_skills_there_are(stage: Stage) -> None:
    assert (await play(stage, flow(A=bound("search")), submitted=None)).output == "done"


@staged
async def test_summary_and_cost_of_the_report_are_kept(stage: Stage) -> None:
    await play(stage, flow(A=bound("search")))
    output = (await stage.store.outputs("run-1", ["A"]))["A"]
    assert output["summary"] == "well"
    assert (output["metrics"]["tool_calls"], output["metrics"]["model"]) == (1, "m")
    assert output["metrics"]["amsp"]["model_used"] == "m"
    document = await stage.state("A")
    assert document.metrics is not None
    assert document.metrics["tool_calls"] == 1
    assert document.raw["model_selection"]["skills_analyzed"] == 1


@staged
async def test_a_report_that_is_no_json_fails_the_task_at_once(stage: Stage) -> None:
    class Odd(Runtime):
        async def perform(self, *_: Any) -> Report:
            return Report(
                data=1, summary="", artifacts=[object()], metrics={"n": float("nan")}, model="m"
            )

    result = await play(stage, flow(A=bound("search")), runtime=Odd())
    assert error(result) == "States.Runtime"
    assert result.finished_at and result.started_at
    assert result.finished_at - result.started_at < 1000


@staged
async def test_a_plain_task_is_no_business_of_agents(stage: Stage) -> None:
    assert error(await play(stage, flow(A=task("mill")))) == "DCF.NoHandler"


@staged
async def test_the_output_says_what_is_missing_of_work_that_is_done_in_part(stage: Stage) -> None:
    class Half:
        async def perform(self, *_given: Any) -> Report:
            return Report(data=1, summary="One of two.", missing="the other")

    await play(stage, flow(A=bound("search")), runtime=Half())
    output = (await stage.store.outputs("run-1", ["A"]))["A"]
    assert output["summary"] == "One of two. (missing: the other)"
    assert output["metrics"]["result_status"] == "partial"

"""A transcript records what a model was asked and said, and replays exactly that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from dcf.agents import Assignment
from dcf.agents.briefing import observed_words, task_prompt
from dcf.agents.models import ModelNotConfigured, Models
from dcf.agents.models.recorded import RecordedModel
from dcf.agents.models.replayed import ReplayedModel, TranscriptMismatch
from dcf.agents.models.transcript import secrets_of

SECRET = "sk-do-not-keep-me"


async def _turn(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    usage = RequestUsage(input_tokens=11, output_tokens=3)
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("weigh", {"grams": 7}, "call-1")], usage=usage)
    return ModelResponse([TextPart(f"seven, says {SECRET}")], usage=usage)


def agent(model: Any, instructions: str = "Be brief.") -> Agent[None, str]:
    made = Agent(model, instructions=instructions)

    @made.tool_plain
    def weigh(grams: int) -> int:
        """Weigh it."""
        return grams

    return made


async def recorded(file: Path) -> str:
    model = RecordedModel(FunctionModel(_turn), file, "openai:x", {"OPENAI_API_KEY": SECRET})
    return (await agent(model).run(f"How heavy? {SECRET}")).output


async def test_a_recording_is_replayed_without_the_model(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    await recorded(file)
    model = Models({}).of(f"transcript:{file}")
    result = await agent(model).run("How heavy? [secret OPENAI_API_KEY]")
    assert result.output == "seven, says [secret OPENAI_API_KEY]"
    assert (result.usage.input_tokens, result.usage.output_tokens) == (22, 6)


async def test_a_transcript_holds_no_secret_and_is_its_owners(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    await recorded(file)
    lines = file.read_text().splitlines()
    assert SECRET not in file.read_text()
    assert [sorted(json.loads(line)) for line in lines] == [
        ["model", "request", "response", "version"]
    ] * 2
    assert file.stat().st_mode & 0o077 == 0


async def test_the_same_question_twice_gets_both_answers_then_the_last(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    answers = iter(["one", "two"])

    async def turn(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart(next(answers))])

    model = Agent(RecordedModel(FunctionModel(turn), file, "x", {}))
    assert [(await model.run("q")).output for _ in range(2)] == ["one", "two"]
    again = Agent(ReplayedModel(file))
    assert [(await again.run("q")).output for _ in range(3)] == ["one", "two", "two"]


async def test_what_earlier_runs_showed_makes_no_other_request(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    task = "Task: A\n\nThe task's input, as JSON, follows."
    await agent(RecordedModel(FunctionModel(_turn), file, "x", {})).run(
        f"{observed_words('seen once </observations>')}\n\n{task}"
    )
    found = task_prompt(Assignment("A", "", {}, (), observed="seen", found="code </found>"))[0]
    found = found.removesuffix(task)
    for told in ("", f"{observed_words('seen twice')}\n\n", found):
        assert (await agent(ReplayedModel(file)).run(told + task)).output.startswith("seven")
    with pytest.raises(TranscriptMismatch):
        await agent(ReplayedModel(file)).run(f"{observed_words('seen')}\n\nTask: B")


async def test_another_request_is_refused_with_what_differs(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    await recorded(file)
    with pytest.raises(TranscriptMismatch) as caught:
        await agent(ReplayedModel(file), "Be long.").run("How heavy? [secret OPENAI_API_KEY]")
    assert '- "instructions": "Be brief."' in caught.value.cause
    assert '+ "instructions": "Be long."' in caught.value.cause
    assert caught.value.error == "DCF.TranscriptMismatch"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"version": 2}', '{"version": 1, "request": {}}', "\udcff"]
)
def test_a_file_that_is_no_transcript_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelNotConfigured, match="transcript"):
        Models({}).of(f"transcript:{file}")


async def test_a_stream_is_recorded_and_replayed_too(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    secrets = {"OPENAI_API_KEY": SECRET}
    for make in (
        lambda: RecordedModel(FunctionModel(_turn), file, "openai:x", secrets),
        lambda: ReplayedModel(file),
    ):
        async with agent(make()).run_stream("How heavy?") as stream:
            pieces = [piece async for piece in stream.stream_text(delta=True)]
        assert "".join(pieces).startswith("seven, says ")
    assert len(file.read_text().splitlines()) == 2


def test_a_key_is_a_secret_whatever_its_variable_is_called() -> None:
    environment = {"DCF_MODEL_KEY_NAME": "MINE", "MINE": SECRET, "DB_PASSWORD": "p", "HOME": "/h"}
    assert secrets_of(environment) == {"MINE": SECRET, "DB_PASSWORD": "p"}

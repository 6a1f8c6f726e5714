"""What is known of a project that answers a question, and what is logged about it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.agent_life import by_tool
from dcf.mcp.agents_home import local_memory
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.roles import ROLES
from dcf.mcp.tool import tool
from dcf.personal_form import PersonalSetting
from dcf.retrieval import (
    AuditLog,
    Caller,
    ContextQuestion,
    FolderUnusable,
    NewItem,
    ObservationRetriever,
    PlaybookRetriever,
    RerankerSetting,
    Retrieval,
    RetrievalProblem,
    Scored,
    StoreProblem,
    ThreadRetriever,
    limit_of,
    projects_of,
    shares_of,
)

_ROOTS = "DCF_RETRIEVAL_ROOTS"
_PROBLEMS = (RetrievalProblem, StoreProblem, FolderUnusable)
FilePath = Annotated[str | None, Obvious("The file that it is about."), Alias("filePath")]
_ROOT = "The project's folder, if the server has several."
Root = Annotated[str | None, Obvious(_ROOT)]


class LoggedArtifact(Envelope, total=False):
    """What was kept."""

    id: Annotated[str, Field(description="Its id.")]
    uri: Annotated[str, Field(description="Its address.")]


class FoundContext(Envelope, total=False):
    """What was found, of all kinds, the best first."""

    context: Annotated[
        list[dict[str, Any]],
        Field(
            description="{type: memory, observation, thread, playbook, code_snippet, document or"
            " fact, score, text, uri, why, tokens, file_path}; memory has tags, source, timestamp"
            " too, the others first_line, last_line."
        ),
    ]


@tool(*ROLES, strict=True)
async def log_artifact(
    platform: Platform,
    text: Annotated[str, Obvious("An error, a decision, the output of a run.")],
    tags_json: Annotated[
        list[str] | None, Obvious("As in error, fix, decision."), Alias("tags")
    ] = None,
    source: Annotated[str | None, Obvious("Who says it, as in pytest.")] = None,
    file_path: FilePath = None,
    root: Root = None,
) -> LoggedArtifact:
    """Keep an error, a decision or a run's output for augmented_context."""
    retrieval, project = await _retrieval(platform, root, "log_artifact")
    try:
        item = await retrieval.log(
            project, NewItem(text, tuple(tags_json or ()), source, file_path)
        )
    except _PROBLEMS as error:
        raise Refused(error.code, str(error), hint=error.hint) from error
    return {"status": "kept", "id": item.id, "uri": item.citation}


@tool(*ROLES)
async def augmented_context(
    platform: Platform,
    query: Annotated[str, Obvious("A question, an error, a stack trace.")],
    file_path: FilePath = None,
    limit: Annotated[int | None, Obvious("At most so many.")] = None,
    budget: Annotated[int | None, Obvious("Tokens that all of it may cost.")] = None,
    tags_json: Annotated[
        list[str] | None, Obvious("What has these comes earlier."), Alias("tags")
    ] = None,
    root: Root = None,
) -> FoundContext:
    """Logged items, observations, threads, playbooks, code, documents and facts that answer."""
    retrieval, project = await _retrieval(platform, root, "augmented_context")
    try:
        most = limit_of(limit, budget)
        question = ContextQuestion(
            project, query, file_path, most, budget=budget, tags=tuple(tags_json or ())
        )
        answered = await retrieval.context(question, Caller("mcp"))
        if retrieval.audit is not None:
            await retrieval.audit.close()
    except _PROBLEMS as error:
        raise Refused(error.code, str(error), hint=error.hint) from error
    answer: FoundContext = {"context": [_entry(one) for one in answered.found]}
    if answered.problems:
        answer["warnings"] = [one.with_hint for one in answered.problems]
    return answer


def project_context(
    platform: Platform, budget: int | None, tool_name: str
) -> Callable[[str], Awaitable[list[dict[str, str]]]] | None:
    """Finds what the server's project has for an objective, in at most ``budget`` tokens; None for
    no budget."""
    if budget is None:
        return None

    async def find(objective: str) -> list[dict[str, str]]:
        retrieval, project = await _retrieval(platform, None, tool_name)
        question = ContextQuestion(project, objective, limit=limit_of(None, budget), budget=budget)
        try:
            answered = await retrieval.context(question, Caller("mcp"))
        except _PROBLEMS as error:
            raise Refused(error.code, str(error), hint=error.hint) from error
        finally:
            if retrieval.audit is not None:
                await retrieval.audit.close()
        return [
            {"citation": one.candidate.citation, "text": one.candidate.text}
            for one in answered.found
        ]

    return find


async def _retrieval(platform: Platform, root: str | None, tool_name: str) -> tuple[Retrieval, str]:
    """Of the project that ``root`` names. Raises Refused for a folder that is not the server's."""
    named = platform.config.env.get(_ROOTS) or str(platform.config.workspace)
    try:
        projects = projects_of([Path(one) for one in named.split(os.pathsep) if one], None)
        project = projects.chosen(None, root)
    except RetrievalProblem as error:
        raise Refused(error.code, str(error), hint=f"{_ROOTS} says which there are") from error
    personal, problems = PersonalSetting.from_env(platform.config.env)
    reranking, unusable = RerankerSetting.from_env(platform.config.env)
    shares, unfit = shares_of(platform.config.env)
    problems += (*unusable, *unfit)
    if problems:
        raise Refused(problems[0].code, "; ".join(one.message for one in problems))
    own = await local_memory(platform)
    code = platform.code(await own.search.embedder())
    try:
        memory, stores = await platform.stores.of(own, by_tool(tool_name))
    except StoreProblem as error:
        raise Refused(error.code, str(error), hint=error.hint) from error
    seen, playbooks = ObservationRetriever(memory), PlaybookRetriever(memory)
    clock = memory.ledger.clock
    audit = AuditLog.at_home(platform.config.home, clock, platform.config.env)
    retrieval = Retrieval(
        stores.items,
        code,
        clock,
        documents=stores.documents,
        personal=personal,
        observations=seen,
        threads=ThreadRetriever(memory),
        playbooks=playbooks,
        reranker=reranking.reranker(personal),
        shares=shares,
        # One graph has the runs of all projects: where there are several none is told of it.
        facts=platform.facts if len(projects.roots) == 1 else None,
        audit=audit,
    )
    return retrieval, project


def _entry(scored: Scored) -> dict[str, Any]:
    one = scored.candidate
    entry: dict[str, Any] = {
        "type": one.type,
        "score": scored.score,
        "relevance": scored.relevance,
        "text": one.text,
        "uri": one.citation,
        "tokens": scored.tokens,
        "why": list(scored.why),
    }
    return {**entry, **one.about}


FAMILY = (log_artifact, augmented_context)

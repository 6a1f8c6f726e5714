"""``dcf retrieval log``, ``context`` and ``code``."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.opening import person, source_in
from dcf.cli.memory.show import show_passage
from dcf.cli.memory.wording import code_excerpt, excerpt, moment
from dcf.cli.retrieval.opening import (
    demand_kept,
    memory_settings,
    note_read,
    open_code,
    open_items,
    open_retrieval,
    place_of,
    store_of,
)
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NoSuch, listed
from dcf.cli.wording import counted
from dcf.memory import UnknownPassage
from dcf.problem import Problem
from dcf.retrieval import (
    Answered,
    Bundle,
    Caller,
    Candidate,
    ContextQuestion,
    Item,
    NewItem,
    Scored,
    UnknownItem,
    with_costs,
)
from dcf.secret_form import without_secrets

_EXCERPT = 300
_ADDRESS = "dcf://memory/"
_MEANING = (
    "floor: kept for a kind that answers; ceiling: beyond it a kind gets only what the others leave"
)


async def log_item(settings: Settings, setting: RetrievalSetting, new: NewItem) -> Answer:
    """Keep an item of the project. Raises InvalidItem, NotSo, a MemoryProblem."""
    demand_kept(setting.store)
    project = setting.projects.chosen(None, None)
    async with open_retrieval(settings, setting, person("`dcf retrieval log`")) as retrieval:
        item = await retrieval.log(project, new)
    fields = {"stored": {**asdict(item), "tags": list(item.tags), "citation": item.citation}}
    return Answer(fields, [f"Logged as {item.citation}"], status="logged")


async def delete_item(settings: Settings, setting: RetrievalSetting, item_id: str) -> Answer:
    """Give an item of the project up, by its id or its address. Raises UnknownItem, NotSo, a
    MemoryProblem."""
    item_id = item_id.removeprefix(_ADDRESS)
    demand_kept(setting.store)
    project = setting.projects.chosen(None, None)
    by = person("`dcf retrieval delete`")
    async with open_retrieval(settings, setting, by) as retrieval:
        await retrieval.forget(project, item_id, Caller(by.name))
    return Answer({"deleted": item_id}, [f"Deleted {item_id}"], status="deleted")


async def show_logged(settings: Settings, item_id: str) -> Answer:
    """A logged item, where the environment has them kept, or a passage of the memory. Raises
    BadInput, NoSuch, NotSo, a MemoryProblem, a StoreProblem."""
    store = store_of(settings)
    looked: list[str] = []
    if store.backend in ("file", "postgres"):
        async with open_items(settings, store) as items:
            with suppress(UnknownItem):
                return _logged(await items.get(item_id))
        looked.append(f"{store.backend}:{place_of(settings, store)}")
    elsewhere = memory_settings(settings, store)
    memories = {source_in(one).path.resolve(): one for one in (elsewhere, settings)}
    for path, one in memories.items():
        if looked and not await asyncio.to_thread(path.exists):
            continue
        with suppress(UnknownPassage):
            return await show_passage(one, item_id)
        looked.append(f"the memory {path}")
    message = f"there is no logged item and no passage {item_id} in {', nor in '.join(looked)}"
    hint = "it may have been deleted, or its time was over; MEM_BACKEND and MEM_PATH name the place"
    if store.backend == "memory":
        hint = "MEM_BACKEND=memory keeps it in the service alone, which ends with it"
    raise NoSuch("memory_unknown_passage", message, hint)


def _logged(item: Item) -> Answer:
    about = " ".join(filter(None, (item.source, item.file_path, *item.tags)))
    head = Text.assemble((item.citation, "bold"), (f"  {moment(item.timestamp)}  {about}", "dim"))
    fields = {"item": {**asdict(item), "tags": list(item.tags), "citation": item.citation}}
    return Answer(fields, [head, Text(item.text)])


async def ask(settings: Settings, setting: RetrievalSetting, question: ContextQuestion) -> Answered:
    """What answers ``question`` in the project that is chosen. Raises InvalidQuestion, NotSo, a
    MemoryProblem."""
    demand_kept(setting.store)
    asked = replace(question, project=setting.projects.chosen(None, None))
    by = person("`dcf retrieval context`")
    async with open_retrieval(settings, setting, by, goes_on=False) as retrieval:
        return await retrieval.context(asked, Caller(by.name))


async def find_context(
    settings: Settings,
    setting: RetrievalSetting,
    question: ContextQuestion,
    *,
    explain: bool,
) -> Answer:
    """Memory and code that answer. Raises InvalidQuestion, NotSo, a MemoryProblem."""
    answered = await ask(settings, setting, question)
    project = setting.projects.chosen(None, None)
    bundle = answered.bundle
    parts = {kind: asdict(part) for kind, part in bundle.parts.items()} if bundle else {}
    fields: dict[str, Any] = {
        "query": without_secrets(question.query),
        "context": [_entry(one) for one in answered.found],
        "problems": [one.to_dict() for one in answered.problems],
        **({"budget": bundle.budget, "used": bundle.used, "kinds": parts} if bundle else {}),
    }
    show: list[Any] = [line for one in answered.found for line in _lines(one, explain=explain)]
    if explain:
        # What a budget was filled from has its costs.
        left_out = answered.left_out if bundle else with_costs(answered.left_out)
        fields["left_out"] = [{**_entry(one), "reason": one.left_out} for one in left_out]
        show += [_left_out(one) for one in left_out]
    if not answered.found:
        show[:0] = _nothing(project, bundle)
    if bundle is not None:
        show.append(Text(f"{bundle.used:,} of {bundle.budget:,} tokens", "bold"))
        show += [_shares(bundle), Text(_MEANING, "dim")] if explain else []
    return Answer(fields, [*show, *_warnings(answered.problems)])


async def find_code(
    settings: Settings, setting: RetrievalSetting, query: str, limit: int, *, wait: bool
) -> Answer:
    """Pieces of the project's code. Raises CodeProblem."""
    # As they are indexed; an answer tells the question again.
    query = without_secrets(query)
    async with open_code(settings) as code:
        retriever = code.of(setting.projects.chosen(None, None))
        problems = (await retriever.sync()).problems if wait else await retriever.ready(query)
        hits = await retriever.find(query, limit=limit)
    await note_read(settings, str(retriever.root), [hit.citation for hit in hits])
    fields = {
        "query": without_secrets(query),
        "hits": [{**asdict(hit), "why": list(hit.why), "citation": hit.citation} for hit in hits],
        "problems": [one.to_dict() for one in problems],
    }
    show: list[Any] = []
    for hit in hits:
        place = f"{hit.path}:{hit.first_line}-{hit.last_line}"
        cost = f"{hit.tokens:,} tokens"
        show.append(Text.assemble((place, "bold"), f"  {hit.symbol}  {hit.score:.3f}  {cost}"))
        show.append(Text(f"  {hit.citation}  {'; '.join(hit.why)}", "dim"))
        show += [Text(f"  {line}") for line in code_excerpt(hit.text)]
    return Answer(
        fields, [*(show or [f"Nothing was found in {retriever.root}."]), *_warnings(problems)]
    )


async def index_code(settings: Settings, setting: RetrievalSetting, screen: Screen) -> Answer:
    """Index all of the project's code. Raises CodeProblem."""
    async with open_code(settings) as code:
        retriever = code.of(setting.projects.chosen(None, None))
        with screen.working(f"indexing {retriever.root}") as progress:
            synced = await retriever.sync(progress.tell)
    fields: dict[str, Any] = {"root": str(retriever.root), **asdict(synced), "files": synced.files}
    fields["problems"] = [one.to_dict() for one in synced.problems]
    told = f"{synced.added:,} new, {synced.changed:,} changed, {synced.removed:,} gone"
    files = counted(synced.files, "file", "files")
    show: list[Any] = [*listed(synced.problems), f"{files} of {retriever.root} indexed: {told}"]
    return Answer(fields, show, status="indexed")


def _nothing(project: str, bundle: Bundle | None) -> list[str]:
    """That there is no entry, and why; of an answer without room a warning says so."""
    if bundle is None or not bundle.left_out:
        return [f"Nothing was found in {project}."]
    if bundle.missed is not None:
        return []
    return [f"Nothing answers; {len(bundle.left_out):,} texts hardly do."]


def _entry(scored: Scored) -> dict[str, Any]:
    one = scored.candidate
    why = list(scored.why)
    entry = {"type": one.type, "score": scored.score, "text": one.text, "citation": one.citation}
    entry["relevance"] = scored.relevance
    entry["tokens"] = scored.tokens
    return {**entry, "why": why, **one.about}


def _left_out(one: Scored) -> Text:
    cost = f"{one.tokens:,} tokens"
    return Text(
        f"left out: {one.candidate.citation}  {one.score:.3f}  {cost}  {one.left_out}", "dim"
    )


def _lines(scored: Scored, *, explain: bool) -> list[Text]:
    one = scored.candidate
    head = _head(one)
    judged = "" if scored.relevance is None else f"  relevance {scored.relevance:.2f}"
    cost = f"  {scored.tokens:,} tokens" if explain else ""
    whole = one.about.get("whole_tokens")
    said = code_excerpt(one.text) if one.kind == "code" else excerpt(one.text, _EXCERPT)
    lines = [
        Text.assemble((one.citation, "bold"), f"  {scored.score:.3f}{judged}{cost}  {head}"),
        *(Text(f"  {line}") for line in said),
        *([Text(f"  cut: the whole costs {whole:,} tokens", "dim")] if whole else []),
        *([Text(f"  {one.outdated}", "yellow")] if one.outdated else []),
        *(Text(f"  also {citation}", "dim") for citation in one.about.get("also", ())),
    ]
    return [*lines, *(Text(f"  {why}", "dim") for why in scored.why if explain)]


def _head(one: Candidate) -> str:
    about = one.about
    if one.kind == "document":
        return " > ".join((about["file_path"], *about["headings"]))
    if one.kind == "fact":
        return f"graph, known from {about['support']}"
    if one.kind == "code":
        place = f"{about['file_path']}:{about['first_line']}-{about['last_line']}"
        return f"{place}  {about['symbol']}"
    if one.kind == "thread":
        said = " ".join(filter(None, (about["source"], about["title"], about["role"])))
        return f"{moment(one.timestamp)}  {said}"
    said = " ".join(filter(None, (about.get("source"), about.get("file_path"), *one.tags)))
    return f"{moment(one.timestamp)}  {said}"


def _shares(bundle: Bundle) -> Table:
    """What each kind got of the budget."""
    table = Table("", "floor", "ceiling", "used", "told", "left out", box=None, header_style="dim")
    for kind, part in bundle.parts.items():
        numbers = (part.floor, part.ceiling, part.used, part.taken, part.left_out)
        table.add_row(kind, *(f"{one:,}" for one in numbers))
    return table


def _warnings(problems: tuple[Problem, ...]) -> list[Text]:
    lines: list[Text] = []
    for one in problems:
        if one.file is None:
            lines.append(Text(f"warning: {one.message}", "yellow"))
            lines += [Text(f"  hint: {one.hint}", "yellow")] if one.hint else []
    return lines

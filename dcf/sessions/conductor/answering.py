"""Commands about the session and answers to what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcf.sessions import delegating
from dcf.sessions.conductor.book import Book
from dcf.sessions.conductor.line import Wish, read_line
from dcf.sessions.conductor.request import Item, Request
from dcf.sessions.conductor.work import Work
from dcf.sessions.errors import SessionProblem, TaskOver

HELP = """\
Say what is to be done: one task in a sentence, several as a list. A task may say
`order_id=7` (input), `@anna` or `for billing:` (who), `[urgent]`, `after 1`, `within 5m`,
`skill:NAME` and `workflow:NAME`. Then: `status`, `cancel 2`, `retry 2`, `drop 2`, `yes`, `no`."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What an answer is about: items that are ``asked`` about, or over. ``problem`` says why it is
    about nothing."""

    numbers: tuple[int, ...] = ()
    problem: str = ""


def meant(book: Book, do: str, said: Mapping[str, str]) -> Meant:
    """Which items a command ``retry``, ``accept`` or ``drop`` means: the one that is named, else
    the only one that is asked about, else, to be tried again, the last one that failed."""
    asked = [item.number for _, item in book.questions]
    if said.get("task"):
        number = int(said["task"])
        found = book.item(number)
        if found is None:
            return Meant(problem=f"There is no task {number}. {_known(book)}")
        return Meant((number,))
    if len(asked) == 1:
        return Meant((asked[0],))
    if asked:
        numbers = " or ".join(map(str, asked))
        return Meant(problem=f"Which one: {numbers}? Say `{_word(do)} {asked[0]}`, for example.")
    failed = [item.number for _, item in book.items if item.status == "failed"]
    if do == "retry" and failed:
        return Meant((failed[-1],))
    return Meant(problem="There is nothing that this answers. Say `status` to see what there is.")


def changed(item: Item, do: str, said: Mapping[str, str]) -> Item:
    """The item as the answer makes it: with what it adds, or without what stood in its way."""
    more = read_line(said["more"]) if said.get("more") else Wish("")
    item = replace(
        item,
        inputs={**item.inputs, **more.inputs},
        priority=more.priority or item.priority,
        timeout_s=more.timeout_s or item.timeout_s,
        skills=more.skills or item.skills,
        workflow=more.workflow or item.workflow,
    )
    if more.whom is not None:
        item = replace(item, whom=f"{'@' if more.is_name else ''}{more.whom}")
    question = item.question
    topic = question.topic if question is not None else None
    # Only a plain word is a yes: what merely adds something leaves the question open.
    if do == "accept" and not said.get("more"):
        if topic == "companion":
            item = replace(item, whom=None, specialization=None)
        if topic == "skill":
            item = replace(item, skills=(), any_skill=True)
    elif do == "accept" and topic == "after":
        return replace(item, status="held")
    return replace(item, question=None, status="held")


def again(work: Work, number: int, before: Item, item: Item) -> str:
    """Let the item go out again as ``item``, which was ``before``; what is said of it."""
    found = work.book.item(number)
    if found is None or found[1] != before:
        return f"{number} has changed meanwhile; say `status` to see it."
    request, current = found
    if current.status in ("open", "held"):
        return f"{number} is under way; there is nothing to try again."
    if current.status == "succeeded":
        return f"{number} is done. Say it anew if it is to be done once more."
    _answered(work, request, current, "again")
    work.book.put(replace(request, answer=None))
    # The user decided: what went wrong before counts no more.
    item = replace(item, spent=0, errors=())
    if item.question is not None:
        work.ask(request, item, item.question.topic, item.question.text)
    else:
        work.tell(request, item)
    _hold_followers(work, number)
    return ""


def drop(work: Work, number: int) -> str:
    """Leave an item undone; why that cannot be, or ""."""
    found = work.book.item(number)
    if found is None:
        return f"There is no task {number}."
    request, item = found
    if item.is_over:
        return f"{number} is {item.status} already."
    _answered(work, request, item, "drop")
    if item.status == "open":
        return _cancel(work, item.task_id or "", str(number))
    work.tell(request, replace(item, status="cancelled", question=None))
    return ""


def cancel(work: Work, wanted: str) -> str:
    """Cancel the task with this number or id, or all that is open; what is said of it."""
    if wanted.lower() in ("all", "everything"):
        numbers = [item.number for _, item in work.book.items if not item.is_over]
        said = list(filter(None, (drop(work, number) for number in numbers)))
        if not numbers:
            return "Nothing is open."
        return "\n".join([f"Cancelled: {', '.join(map(str, numbers))}.", *said])
    if wanted.isdigit():
        return drop(work, int(wanted)) or f"{wanted} is cancelled."
    return _cancel(work, wanted, wanted)


def _cancel(work: Work, task_id: str, name: str) -> str:
    try:
        delegating.cancel(work.draft, task_id, by=work.by, reason="the user cancelled it")
    except TaskOver as over:
        return str(over)
    except SessionProblem as problem:
        return f"{problem}. {problem.hint}"
    return "" if name.isdigit() else f"{name} is cancelled."


def _answered(work: Work, request: Request, item: Item, how: str) -> None:
    if item.status == "asked":
        work.draft.tell("Answered", request=request.request_id, task=item.number, answer=how)


def _hold_followers(work: Work, number: int) -> None:
    """What failed only because it was to follow this one waits for it again."""
    for request, item in list(work.book.items):
        if number in item.after and item.status == "failed" and not item.errors:
            if not request.is_open:
                request = work.book.put(replace(request, answer=None))
            work.tell(request, replace(item, status="held", result=None))
            _hold_followers(work, item.number)


def _known(book: Book) -> str:
    numbers = [str(item.number) for _, item in book.items][-20:]
    return f"There are {', '.join(numbers)}." if numbers else "There are none yet."


def _word(do: str) -> str:
    return "yes" if do == "accept" else do

"""What can go wrong in retrieval. A class's docstring is its message."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem, ProblemError
from dcf_agents.installation import extra_command


class RetrievalProblem(ProblemError):
    """Nothing can be logged or found so."""

    code = "retrieval_problem"


class InvalidItem(RetrievalProblem):
    """{text}."""

    code = "retrieval_invalid_item"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(text="; ".join(one.message for one in problems))


class InvalidQuestion(RetrievalProblem):
    """{text}."""

    code = "retrieval_invalid_question"


class UnknownItem(RetrievalProblem):
    """There is no logged item {item_id} in this project."""

    code = "retrieval_unknown_item"
    hint = "it may have been deleted, or its time was over"


class RootRequired(RetrievalProblem):
    """root required: {served} are served here."""

    code = "retrieval_root_required"
    hint = "name one of them as root"


class RootNotServed(RetrievalProblem):
    """The folder {root} is refused: it is not served here, or not to this token; name another."""

    code = "retrieval_root_not_served"
    hint = (
        "`dcf retrieval serve --root DIR` serves a folder; a project's token opens that one alone"
    )


class AnswerersFailed(RetrievalProblem):
    """A process that was to answer questions ended before it answered any: {how}."""

    code = "retrieval_answerers_failed"
    hint = "what it wrote to stderr says why; `--processes 1` answers without others"


class BadProjectTokens(RetrievalProblem):
    """{file} does not say which token opens which project: {reason}."""

    code = "retrieval_project_tokens"
    hint = "write one project in a line: its token, a blank, its folder"


class FactsAway(RetrievalProblem):
    """Facts of the graph are not told: {reason}."""

    code = "retrieval_facts"
    hint = "the rest is told all the same; DCF_FACTS=off looks for none"


class RerankerFailed(RetrievalProblem):
    """The reranker {reranker} is not used: {reason}."""

    code = "retrieval_reranker"
    hint = "the list is in the order that it has without it; DCF_RERANKER says which it is"

    def __init__(self, reranker: str, reason: str) -> None:
        super().__init__(reranker=reranker, reason=reason)


class UnnamedProjects(RetrievalProblem):
    """It is not known which folders' items these are: {archives}."""

    code = "retrieval_unnamed_projects"
    hint = "name each project's folder, as it was then: --root DIR, which may be repeated"


class FolderUnusable(ProblemError):
    """Items and documents cannot be kept in the folder {folder}: {reason}."""

    code = "retrieval_folder"
    hint = "it must be a folder that you may write to, on a disk with room; MEM_PATH names another"


class StoreProblem(ProblemError):
    """The PostgreSQL database {where} does not keep items and documents: {reason}."""

    code = "retrieval_store"
    hint = "its role needs the right to make tables in the first schema of its search_path"


class StoreUnreachable(StoreProblem):
    """The PostgreSQL database {where} cannot be reached: {reason}."""

    code = "retrieval_store_unreachable"
    hint = "start its server, or mend DATABASE_URL; nothing that was answered is lost"


class StoreEmpty(StoreProblem):
    """The PostgreSQL database {where} has no logged items: nothing was ever logged there."""

    code = "retrieval_store_empty"
    hint = "name the database that has them: postgres:URL, or DATABASE_URL"


class StoreTooNew(StoreProblem):
    """The tables of {where} have the version {found}; this DCF knows versions up to {known}."""

    code = "retrieval_store_too_new"
    hint = "use the newer DCF that wrote them, or another database"


class DriverMissing(StoreProblem):
    """MEM_BACKEND=postgres needs the package asyncpg, which is not installed."""

    code = "retrieval_store_driver"

    def __init__(self) -> None:
        self.hint = extra_command("postgres")
        super().__init__()

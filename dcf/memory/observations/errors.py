"""What can go wrong with observations."""

from __future__ import annotations

from dcf.memory.errors import InvalidEntry, MemoryProblem


class UnknownObservation(MemoryProblem):
    """There is no observation {observation_id}."""

    code = "memory_unknown_observation"
    hint = "it may have been forgotten; `dcf memory history` says when and by whom"


class AmbiguousObservation(MemoryProblem):
    """Several observations have an id that begins with {observation_id}: {found}, for example."""

    code = "memory_ambiguous_observation"
    hint = "give more characters of the id"


class NothingChosen(MemoryProblem):
    """Neither an id nor a filter says which observations: that would be all of them."""

    code = "memory_observations_all"
    hint = "say ids or a filter; one that leaves all is a period: since 1970-01-01"


class BadChoice(InvalidEntry):
    """Which observations are meant is not clear: {text}."""

    code = "memory_bad_choice"


class IdsAndFilters(MemoryProblem):
    """There are ids ({ids}) and filters; one of the two says which observations."""

    code = "memory_observations_ids"
    hint = "leave out the filters, or the ids"


class SameObservation(MemoryProblem):
    """Observation {observation_id} of the same workflow and project says exactly that."""

    code = "memory_observation_same"
    hint = "forget one of the two: `dcf memory observations forget ID`; or say what differs"


class NoClaudeMem(MemoryProblem):
    """{path} is no database of claude-mem: {missing}."""

    code = "memory_no_claude_mem"
    hint = "its file is ~/.claude-mem/claude-mem.db, unless its settings say otherwise"

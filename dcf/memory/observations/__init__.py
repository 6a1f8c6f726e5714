"""What was learned from what happened."""

from dcf.memory.observations.errors import UnknownObservation
from dcf.memory.observations.finding import Filter
from dcf.memory.observations.observations import Observations

__all__ = ["Filter", "Observations", "UnknownObservation"]

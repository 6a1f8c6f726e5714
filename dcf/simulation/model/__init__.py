"""The control plane in plain Python: what each of its calls must answer and leave behind."""

from dcf.simulation.model.model import Model

__all__ = ["Model"]

"""DCF: durable workflows for agents whose skills load and unload at run time."""

__version__ = "0.1.0"

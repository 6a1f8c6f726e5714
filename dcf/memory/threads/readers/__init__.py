"""Readers of what people and agents have said and done, as other programs keep it: a format more is
an ``Adapter`` in ``ADAPTERS``."""

"""Conformance: a corpus of recorded executions, run through the interpreter or the engine."""

"""Intrinsic functions of JSONPath states: ``States.Format`` and its kin."""

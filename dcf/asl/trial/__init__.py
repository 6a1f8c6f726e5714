"""Machines and single states tried without a control plane."""

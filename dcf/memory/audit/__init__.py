"""The record of every change, and the way back."""

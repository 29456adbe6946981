"""Evaluation of the study's rows: the figures of its claims, its goals, its tables."""

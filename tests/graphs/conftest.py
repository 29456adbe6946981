"""Hypothesis without deadlines: the first call of a compiled function takes as long as its compilation."""

from hypothesis import settings

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

"""What the study's rows say: the figures of its claims, its goals, its tables."""

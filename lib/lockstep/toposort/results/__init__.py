"""The notebook's tables, goals, and lower bounds on the narrow graphs' times."""

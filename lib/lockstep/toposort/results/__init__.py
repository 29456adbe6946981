"""What the notebook shows of the rows: tables, goals, and the floor under the narrow graphs' times."""

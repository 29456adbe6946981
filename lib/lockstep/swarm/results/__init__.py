"""What the notebook shows of the rows: tables, goals, sentences."""

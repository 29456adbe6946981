"""What the notebook shows of the rows: tables, goals, and the forecast of layers."""

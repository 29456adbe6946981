"""What the notebook shows of the rows: tables and goals."""

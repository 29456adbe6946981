"""The notebook's tables and goals."""

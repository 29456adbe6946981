"""The notebook's tables, goals and sentences."""

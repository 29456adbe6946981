"""The notebook's tables, goals and forecast of layers."""

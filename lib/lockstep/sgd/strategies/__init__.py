"""The strategies, each beside its kernel; `table` lists them, `shared` is what they have in common."""

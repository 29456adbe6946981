"""The strategies, each beside its kernel; `table` lists them, `shared` is what those on the GPU have in common."""

"""The strategies, each beside its kernel; `table` lists them, `shared` holds their base classes."""

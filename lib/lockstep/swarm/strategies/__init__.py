"""The strategies, each beside its kernels; `table` lists them, `shared` is what they have in common."""

"""The strategies, each beside its kernels; `table` lists them, `shared` holds common code."""

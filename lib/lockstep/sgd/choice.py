"""Which strategy `auto` takes."""


def choose(ratings, rank, executor):
    """(strategy, reason)."""
    if executor is None:
        if ratings.m < 2_000_000:
            return "serial", f"no GPU, and {ratings.m:,} ratings are few"
        return "multicore", "no GPU"
    return "tiles", "a GPU"

"""Files that are kept from one run to the next, and may be lost at any time."""

import os

MOST = 8  # files of a kind; the oldest go


def write(file, content):
    """Put bytes into a file of the cache, all or nothing. That a cache cannot be written is no error."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in sorted(file.parent.glob(f"*{file.suffix}"), key=os.path.getmtime)[:-MOST]:
            old.unlink(missing_ok=True)
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_bytes(content)
        scratch.replace(file)
    except OSError:
        pass

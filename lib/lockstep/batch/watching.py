"""Whether a Dask cluster still computes: a scheduler may be lost, and workers may all be gone."""

import queue
import time

from lockstep.output import log, plural

SOON = 5.0  # seconds without a worker before a warning
LIMIT = 300.0  # seconds without a worker after which a run ends; `--worker-timeout`
POLL = 0.5  # seconds without a result between polls of the cluster's state


class ClusterError(RuntimeError):
    """The cluster was lost: its scheduler, all its workers, or each worker that took a certain piece."""

    status = 3


class Idle:
    """Counts the seconds in which no worker computes.

    Parameters
    ----------
    what : str
        Description of the idle state, for messages.
    limit : float
        Seconds.
    """

    def __init__(self, what, limit):
        self.what, self.limit = what, limit
        self.since, self.said = None, False

    def __call__(self, busy):
        """Record the present state.

        Raises
        ------
        ClusterError
            No worker has computed for `limit` seconds.
        """
        now = time.monotonic()
        if busy:
            self.since, self.said = None, False
            return
        self.since = now if self.since is None else self.since
        if now - self.since >= self.limit:
            raise ClusterError(f"{self.what} for {self.limit:g} s (--worker-timeout sets this limit)")
        if now - self.since >= SOON and not self.said:
            self.said = True
            log.warning(f"{self.what}; waiting for one, {self.limit:g} s at most (--worker-timeout)")


def workers_of(client, limit):
    """Addresses of a cluster's workers, sorted; waits until there is one.

    Raises
    ------
    ClusterError
        There is none within `limit` seconds, or the scheduler is lost.
    """
    idle = Idle(f"the scheduler at {address(client)} has no worker", limit)
    while not (found := asked(client, client.scheduler_info, n_workers=-1)["workers"]):
        idle(False)
        time.sleep(POLL)
    return sorted(found)


def finished(client, futures, limit):
    """(future, result) of the futures of a cluster, in the order in which they are done.

    Raises
    ------
    ClusterError
        The scheduler is lost, no worker takes what is left within `limit` seconds, or every worker that took a certain
        piece died.
    Exception
        What a piece raised.
    """
    done, left = queue.SimpleQueue(), len(futures)
    for future in futures:
        future.add_done_callback(done.put)
    while left:
        idle = Idle(f"no worker of the scheduler at {address(client)} takes the {plural(left, 'piece')} left", limit)
        while (found := _next(client, done)) is None:
            idle(any(asked(client, client.processing).values()))
        left -= 1
        yield found


def _next(client, done):
    """(future, result) of the next that is done, or None."""
    from distributed.client import CancelledError

    try:
        future = done.get(timeout=POLL)
    except queue.Empty:
        return None
    try:
        error = future.exception(timeout=POLL)
        result = None if error else future.result(timeout=POLL)
    except TimeoutError:  # the worker that has it died: it is computed again
        future.add_done_callback(done.put)
        return None
    except (OSError, CancelledError):
        raise _lost(client) from None
    if future.cancelled():  # as all pending futures when the connection breaks
        raise _lost(client)
    if error:
        raise _told(error)
    return future, result


def _told(error):
    """The piece's exception; a ClusterError if every worker that took it died."""
    from distributed import KilledWorker

    if not isinstance(error, KilledWorker):
        return error
    return ClusterError(f"{error.allowed_failures + 1} workers died, one after the other, of one piece ({error.task})")


def address(client):
    """Where the scheduler of a client is."""
    return client.scheduler.address


def asked(client, question, *what, **more):
    """Call a client's method.

    Raises
    ------
    ClusterError
        The scheduler is lost.
    """
    if client.status != "running":
        raise _lost(client)
    try:
        return question(*what, **more)
    except OSError:  # closed connections and late answers are such
        raise _lost(client) from None


def _lost(client):
    return ClusterError(f"the scheduler at {address(client)} no longer answers")

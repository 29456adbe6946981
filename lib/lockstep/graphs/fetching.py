"""Downloads that cannot hang: hosts are probed once, in parallel, before anything is fetched from them.

A machine may reach a package registry while every data host drops its packets. A host that does not answer
within 3 s (20 s for all hosts, name look-up included) is treated as unreachable until the program ends, and its
data sets are reported as missing.
"""

import fcntl
import os
import queue
import threading
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import pooch
import requests
from tqdm import tqdm

from .. import paths
from .graph import GraphError

CONNECT, BUDGET = 3.0, 20.0  # seconds
_answers = {}  # host -> None if reachable, else the reason


def offline():
    """Whether LOCKSTEP_OFFLINE forbids the network."""
    return os.environ.get("LOCKSTEP_OFFLINE", "") not in ("", "0")


def host_of(url):
    """Scheme and host of an address: what is probed, once."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def probe_hosts(urls: Sequence[str], budget: float = BUDGET) -> Any:
    """Probe the hosts of some addresses, each once.

    Parameters
    ----------
    urls : sequence of str
        Addresses.
    budget : float
        Seconds in all. Hosts are probed in parallel; timeouts are 3 s to connect and 3 s to respond.

    Returns
    -------
    dict
        Host -> None if reachable, else the reason as text. Cached until the program ends.
    """
    hosts = sorted({host_of(url) for url in urls})
    if offline():
        return dict.fromkeys(hosts, "the network is not used (LOCKSTEP_OFFLINE is set)")
    replies, waiting = queue.Queue(), {host for host in hosts if host not in _answers}
    for host in waiting:  # daemon threads: a name look-up cannot be interrupted and must not delay the exit
        threading.Thread(target=lambda host=host: replies.put((host, _ask(host))), daemon=True).start()
    end = time.monotonic() + budget
    while waiting:
        try:
            host, reason = replies.get(timeout=max(end - time.monotonic(), 0))
        except queue.Empty:
            _answers.update(dict.fromkeys(waiting, f"no answer within {budget:g} s"))
            break
        _answers[host] = reason
        waiting.discard(host)
    return {host: _answers[host] for host in hosts}


def _ask(host):
    try:
        requests.head(host, timeout=(CONNECT, CONNECT), allow_redirects=False).close()
    except requests.ConnectTimeout:
        return f"no connection within {CONNECT:g} s"
    except requests.ReadTimeout:
        return f"connected, but no answer within {CONNECT:g} s"
    except requests.RequestException as error:
        return f"no connection ({type(error).__name__})"
    return None


class _Resuming:
    """A downloader for pooch that resumes if the server's file is unchanged (HTTP Range with If-Range).

    The bytes received are in ``<name>.part`` in the cache, the ETag or Last-Modified in ``<name>.part.mark``.
    pooch moves the finished file into place, so a file under its final name is complete.
    """

    def __init__(self, part):
        self.part = part

    def __call__(self, url, output_file, _):
        mark = self.part.with_name(self.part.name + ".mark")
        with self._locked() as out:
            done = out.tell()
            headers = {"Accept-Encoding": "identity"}
            if done and mark.exists():
                headers |= {"Range": f"bytes={done}-", "If-Range": mark.read_text()}
            with self._reply(url, headers) as reply:
                reply.raise_for_status()
                here = f"bytes {done}-"
                if reply.status_code != 206 or not reply.headers.get("Content-Range", here).startswith(here):
                    out.truncate(0)
                    done = 0
                mark.write_text(reply.headers.get("ETag") or reply.headers.get("Last-Modified") or "none")
                length = reply.headers.get("Content-Length")
                total = done + int(length) if length else None
                with tqdm(
                    total=total, initial=done, unit="B", unit_scale=True, disable=None, desc=url.rsplit("/", 1)[-1],
                ) as bar:
                    for chunk in reply.iter_content(1 << 14):  # 16 KiB: an interrupted chunk is lost
                        out.write(chunk)
                        bar.update(len(chunk))
                if total is not None and out.tell() != total:
                    raise requests.ConnectionError(f"{out.tell()} of {total} bytes arrived")
            out.flush()
            os.replace(self.part, output_file)
            mark.unlink(missing_ok=True)

    def _locked(self):
        """The partial file, opened and locked: two programs must not write into one file."""
        while True:
            out = open(self.part, "ab")
            fcntl.flock(out, fcntl.LOCK_EX)
            if self.part.exists() and os.path.samestat(os.fstat(out.fileno()), self.part.stat()):
                return out
            out.close()  # while this one waited, another program finished the file and moved it into place

    @staticmethod
    def _reply(url, headers):
        """The server's reply; to a part that is complete already (416), the whole file."""
        reply = requests.get(url, headers=headers, stream=True, timeout=(CONNECT, 30))
        if reply.status_code != 416 or "Range" not in headers:
            return reply
        reply.close()
        whole = {name: value for name, value in headers.items() if name not in ("Range", "If-Range")}
        return requests.get(url, headers=whole, stream=True, timeout=(CONNECT, 30))


def fetch(url, name):
    """Fetch ``url`` into the cache folder and return the path; GraphError if that cannot be done."""
    paths.CACHE.mkdir(parents=True, exist_ok=True)
    reason = probe_hosts([url])[host_of(url)]
    if reason is not None:
        raise GraphError(f"{host_of(url)}: {reason}")
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # pooch would print a hash to paste; the graph is checked by its degrees instead
    try:
        return pooch.retrieve(
            url,
            known_hash=None,
            fname=name,
            path=paths.CACHE,
            downloader=_Resuming(paths.CACHE / f"{name}.part"),
        )
    except (requests.RequestException, OSError, ValueError) as error:
        raise GraphError(f"{url}: {error}") from None
    finally:
        logger.setLevel(level)

"""The dense form of tiles: host side of `resident.cu`. Ranges of users that fit in shared memory, edges in order."""

import numpy as np

from .plans import DevicePlan

WIDEST = 64  # features of a vector from which on a batch of them does not fit in registers


def _slots(degrees, warps, groups, shared, deal):
    """The group of each item of a block: first dealt to warps, so that a hub has few neighbours in its own. With
    `shared` the largest item has the first group, and two warps for itself."""
    slot = np.zeros(degrees.size, np.int64)
    hub = int(degrees.argmax()) if shared else -1
    first = 2 if shared else 0
    rest = np.flatnonzero(np.arange(degrees.size) != hub)
    warp = first + deal(degrees[rest], warps - first)
    for w in range(first, warps):
        mine = rest[warp == w]
        slot[mine] = w * groups + deal(degrees[mine], groups)
    return slot, hub


class Resident(DevicePlan):
    """What `tiles` does where its tiles are dense: whole ranges of users are brought into shared memory."""

    def dense(self):
        """Whether a tile's edges are worth bringing its whole range of users."""
        asked, ratings = self.given["users"], self.problem.ratings
        if asked is not None:
            return asked == "resident"
        blocks = int(self.given.get("blocks") or self.executor.multiprocessors)
        return self.problem.width <= WIDEST and 2 * ratings.m >= blocks * max(ratings.n_users, 1)

    def build_resident(self, deal, cut):
        """Orders the edges for `resident.cu`; False if a block's items leave no room for users.

        `deal` and `cut` give items to bins, largest first, and cut nodes into ranges of equal weight.
        """
        problem, executor, xp, given = self.problem, self.executor, self.xp, self.given
        ratings, width, on_gpu = problem.ratings, problem.width, executor.name == "cuda"
        user_degrees, item_degrees = ratings.degrees()
        # A warp that works alone is bound by its instructions: four features a lane, and long batches.
        self.lanes = int(given.get("lanes") or (max(1, min(width // 4, 8)) if on_gpu else 1))
        self.threads = int(given.get("threads") or (160 if on_gpu else 64))
        if self.threads < 64 or self.threads % 32:
            raise ValueError(
                f"threads={self.threads}: resident tiles take a warp to move users and one or more to work"
            )
        each = int(given["each"] or max(1, (16 if width < 64 else 8) // self.lanes))
        groups = (self.threads - 32) // self.lanes
        self.launch = self.kernel("resident", "resident.cu", THREADS=self.threads, EACH=each)
        # One block a multiprocessor: it takes nearly all of the shared memory.
        self.blocks = min(int(given.get("blocks") or executor.multiprocessors), executor.multiprocessors)
        with self.phase("schedule"):
            block = deal(item_degrees, self.blocks)
            table = np.argsort(block, kind="stable")
            sizes = np.bincount(block, minlength=self.blocks)
            table_starts = np.concatenate([[0], np.cumsum(sizes)])
            # Dummy users and slots of each group, the items; then, for each user, two vectors and a lock.
            fixed = groups * (2 * (width * 4 + 128) + each * self.lanes * 20) + int(sizes.max(initial=0)) * width * 4
            room = min((executor.max_shared - fixed - 64) // (2 * width * 4 + 1), 60_000)
            if room < 32 or sizes.max(initial=0) >= 1 << 15:
                return False
            # A range is visited `stride` rounds apart by two blocks: two at least, or they would wait for each other in
            # a circle; three give the range time to travel.
            stride = int(given["stride"] or max(3, -(-ratings.n_users // (room * self.blocks))))
            if stride < 2:
                raise ValueError(f"stride={stride}: resident tiles need 2 or more")
            weights = user_degrees + ratings.m / max(ratings.n_users, 1)  # neither too many edges nor too many users
            while True:
                user_range = cut(weights, self.blocks * stride)
                range_sizes = np.bincount(user_range, minlength=self.blocks * stride)
                if range_sizes.max(initial=0) <= room:
                    break
                stride += 1
            room, rounds = int(range_sizes.max(initial=1)), self.blocks * stride
            range_starts = np.concatenate([[0], np.cumsum(range_sizes)])
            slot = np.empty(ratings.n_items, np.int64)
            hubs = np.full(self.blocks, -1, np.int32)  # places of items that two warps share
            second = np.zeros(ratings.n_items, np.int64)  # how far the second group of such an item is from its first
            warps, neighbours = (self.threads - 32) // 32, 32 // self.lanes
            least = ratings.m / (8 * self.blocks) if given["hubs"] is None else given["hubs"] or np.inf
            for b, mine in enumerate(np.split(table, table_starts[1:-1])):
                share = bool(warps > 2 and mine.size and item_degrees[mine].max() >= max(least, 1))
                slot[mine], hubs[b] = _slots(item_degrees[mine], warps, neighbours, share, deal)
                if share:
                    second[mine[hubs[b]]] = neighbours
            place = np.empty(ratings.n_items, np.int64)
            place[table] = np.arange(ratings.n_items) - np.repeat(table_starts[:-1], sizes)
            visits = np.zeros((self.blocks, rounds, 4), np.int32)
            turns = np.arange(rounds)
            visits[:, :, 0] = (np.arange(self.blocks)[:, None] * stride + turns) % rounds
            visits[:, :, 1] = turns // stride  # the blocks that had the range before
            visits[:, :, 2] = (np.arange(self.blocks)[:, None] * rounds + turns) * groups
        self.shared = -(-(fixed + room * 2 * width * 4 + (room // 32 + 2) * 4) // 16) * 16
        users, items, values = self.bring()
        with self.phase("order"):
            item_block, slot, second, place, user_range, first_users = (
                executor.array(a) for a in (block.astype(np.int64), slot, second, place, user_range, range_starts)
            )
            segment = (user_range[users] - item_block[items] * stride) % rounds
            noise = (users.astype(xp.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(48)
            segment = (item_block[items] * rounds + segment) * groups + slot[items]
            segment += second[items] * (noise & np.uint64(1)).astype(xp.int64)
            key = segment.astype(xp.uint64) << np.uint64(40)
            key |= (place[items].astype(xp.uint64) << np.uint64(16)) | noise
            order = xp.argsort(key, kind="stable")
            del key, noise
            self.starts = xp.zeros(self.blocks * rounds * groups + 1, np.int32)
            self.starts[1:] = xp.cumsum(xp.bincount(segment, minlength=self.blocks * rounds * groups))
            del segment
            users, items, values = users[order], items[order], values[order]
            del order
            self.packed = xp.empty((max(ratings.m, 1), 2), np.int32)
            self.packed[: ratings.m, 0] = (users - first_users[user_range[users]]) | (place[items] << 16)
            self.packed[: ratings.m, 1] = values.view(np.int32)
        self.place(users, items, values)
        with self.phase("transfer"):
            self.visits = executor.array(visits.reshape(-1, 4))
            self.visit_starts = executor.array((np.arange(self.blocks + 1) * rounds).astype(np.int32))
            self.range_starts = executor.array(range_starts.astype(np.int32))
            self.hubs = executor.array(hubs)
            self.table = executor.array(table.astype(np.int32))
            self.table_starts = executor.array(table_starts.astype(np.int32))
            self.turn = executor.zeros(rounds, np.uint32)
        # Deep batches hold many locks at once: for groups with much more than their share of a tile.
        self.deep = max(4 * each * self.lanes, 2 * ratings.m // (self.blocks * rounds * groups))
        self.room = room
        self.stats.update(blocks=self.blocks, rounds=rounds, groups=groups, each=each, table_in_shared=True,
                          users="resident", room=room, shared_hubs=int((hubs >= 0).sum()),
                          items_by="degree")  # fmt: skip
        return True

    def sweep_resident(self):
        self.launch(
            self.blocks,
            self.threads,
            (
                self.visits,
                self.visit_starts,
                self.starts,
                self.range_starts,
                np.int32(self.room),
                np.int32(self.deep),
                self.hubs,
                self.packed,
                self.table,
                self.table_starts,
                self.turn,
                *self.state,
                *self.history,
                self.applied,
            ),
            shared=self.shared,
            cooperative=True,
        )

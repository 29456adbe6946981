"""Tiles with resident users: host side of `resident.cu`. Ranges of users that fit in shared memory, edges in order."""

import numpy as np

from .shared import DevicePlan

WIDEST = 64  # largest rank at which a batch of vectors fits in registers
BEYOND = 96  # edges that are read ahead where there are none
SEGMENTS = 1 << 24  # (block, range, group) up to which users are resident
LEAST_ROOM = 32  # users of a range
SPREAD = 1.7  # the range with the most users over the mean
# What a sweep at rank 16 takes on one H200, in microseconds, for the choice between layouts alone: no result depends
# on it. Set by sweeps of the twins and of real graphs; in brackets what each is on a graph made to show it alone.
# tests/sgd/test_tiles_estimate.py compares their sum, and the layouts that follow, with recorded sweeps. EDGE and
# FETCHED_ROUND stay far from their brackets: with those the estimates of recorded sweeps would be worse.
ROUND = 1.3  # a round in which a block has nothing to do [1.6 to 2.3: with hardly a rating in it]
ALONE = 0.055  # an update on the chain of an item that has a block for itself [0.054: a star]
COMPANY = 0.135  # an update on the chain of an item that shares its block [0.111: a star, `alone=0`]
EDGE = 0.0125  # an edge of a block whose groups are all at work [0.021: items of equal degree]
MOVED = 40_000  # bytes that a block's mover brings or takes back in a microsecond [29,000 to 34,000: an edge a user]
FETCHED_UPDATE = 6.0  # where users are fetched: an update on the chain of the busiest one [7.6: one user]
FETCHED_ROUND = 9.3  # where users are fetched: a round of a small graph [3.1: with hardly a rating in it]


def _slots(degrees, warps, groups, balance):
    """The group of each item of a block: first dealt to warps, so that a hub has few neighbours in its own."""
    warp = balance(degrees, warps)
    slot = np.empty(degrees.size, np.int64)
    for w in range(warps):
        mine = np.flatnonzero(warp == w)
        slot[mine] = w * groups + balance(degrees[mine], groups)
    return slot


def sort_keys(segment, segments, place, users, xp):
    """Keys that sort edges by segment, then by their item's place in its block; users of an item are scattered.

    Parameters
    ----------
    segment, place, users : int arrays, shape (m,)
    segments : int
        More than any segment, at most 2^31.
    xp : module
        NumPy or CuPy.

    Returns
    -------
    uint64 array, shape (m,)
        Up to 16 bits of a hash of the user, as many as segment and place (below 2^31) leave: two at least.
    """
    if segments > 2**31:
        raise ValueError(f"{segments:,} segments (blocks x rounds x groups); at most 2^31: take a smaller stride")
    places = int(place.max()).bit_length() if place.size else 0
    spare = min(16, 64 - (segments - 1).bit_length() - places)
    key = segment.astype(xp.uint64) << np.uint64(places + spare)
    key |= place.astype(xp.uint64) << np.uint64(spare)
    key |= (users.astype(xp.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - spare)
    return key


def segment_offsets(segment, segments, xp):
    """Where each segment begins among the edges in their order; int32 array, shape (segments + 1,)."""
    offsets = xp.zeros(segments + 1, np.int32)
    offsets[1:] = xp.cumsum(xp.bincount(segment, minlength=segments))
    return offsets


class Resident(DevicePlan):
    """What `tiles` does where by estimate it is faster: whole ranges of users are brought into shared memory."""

    def estimate(self, degrees, blocks, alone, free, user_bytes, item_bytes):
        """Microseconds of a sweep if so many of the largest items have a block for themselves; infinite without room.

        Parameters
        ----------
        degrees : int array, shape (items,)
            Falling.
        blocks, alone : int
        free, user_bytes, item_bytes : int
            Shared memory of a block, and what a user of its ranges and an item take of it.
        """
        users, others, bins = self.problem.ratings.n_users, degrees[alone:], blocks - alone
        room = (free - others.size / bins * item_bytes) / user_bytes
        if room < LEAST_ROOM:
            return np.inf
        rounds = blocks * max(2, np.ceil(SPREAD * users / (room * blocks)))
        chain = max(ALONE * degrees[:1].sum(), COMPANY * others[:1].sum(), EDGE * others.sum() / bins)
        return rounds * ROUND + users * 2 * item_bytes / MOVED + chain

    def layout(self, item_degrees, *shared):
        """(microseconds, blocks, items alone) of the best estimate. Few blocks have few rounds; many have room, hands
        to work, and hubs with a block for themselves."""
        most, given = self.executor.multiprocessors, self.options
        degrees = -np.sort(-item_degrees)
        choices = []
        asked = min(given.blocks or 0, most)
        for blocks in [asked] if asked else sorted({max(1, most * k // 16) for k in (1, 2, 3, 4, 6, 8, 12, 16)}):
            if given.alone is None:
                counts = {0, *(2**k for k in range(blocks.bit_length())), blocks - 1}
            else:
                counts = {int((degrees >= given.alone).sum()) if given.alone else 0}
            for alone in sorted(min(count, blocks - 1, degrees.size) for count in counts):
                choices.append((self.estimate(degrees, blocks, alone, *shared), blocks, alone))
        return min(choices)

    def worth(self, microseconds, user_degrees, item_degrees):
        """Whether resident users are the faster ones, by estimate."""
        if self.spatial(item_degrees):
            return False
        rounds = 2 * self.executor.multiprocessors
        return microseconds < max(rounds * FETCHED_ROUND, FETCHED_UPDATE * user_degrees.max(initial=0))

    def build_resident(self, balance, cut):
        """Orders the edges for `resident.cu`; False if a block's items leave no room for users, or if fetching them is
        faster and nothing else was asked for.

        `balance` and `cut` give items to bins, largest first, and cut nodes into ranges of equal weight.
        """
        groups, batch = self.shape_resident()
        with self.phase("schedule"):
            arranged = self.arrange(groups, batch, balance, cut)
        if not arranged:
            return False
        block, (table, table_offsets, slot, place, alone), user_range, range_offsets = arranged
        users, items, values = self.bring()
        with self.phase("order"):
            edges = self.order_resident(
                users, items, values, groups, block.astype(np.int64), slot, place, user_range, range_offsets
            )
        self.place(*edges)
        with self.phase("transfer"):
            array = self.executor.array
            self.range_offsets, self.alone = array(range_offsets.astype(np.int32)), array(alone)
            self.table, self.table_offsets = array(table.astype(np.int32)), array(table_offsets.astype(np.int32))
            self.blocks_done = self.executor.zeros(self.rounds, np.uint32)
        self.stats.update(blocks=self.blocks, rounds=self.rounds, groups=groups, batch=batch, table_in_shared=True,
                          users="resident", room=self.room, alone=int(alone.sum()), items_by="degree")  # fmt: skip
        return True

    def shape_resident(self):
        """Lanes and threads, and the kernel compiled for them; (groups of a block, edges that one locks at once)."""
        given, width, on_gpu = self.options, self.problem.width, self.executor.name == "cuda"
        # Four features a lane up to rank 32: a warp that works alone is bound by its instructions.
        self.lanes = given.lanes or (max(1, min(width // 4, 8)) if on_gpu else 1)
        self.threads = given.threads or (160 if on_gpu else 64)
        if self.threads < 64 or self.threads % 32:
            raise ValueError(
                f"threads={self.threads}: resident tiles take a warp to move users and one or more to work"
            )
        # Where few users fit, many locks at once are in the others' way.
        batch = given.batch or (self.lanes if width < 64 else max(1, self.lanes // 2))
        if batch > self.lanes:
            raise ValueError(f"batch={batch}: resident tiles lock at most an edge a lane at once, 1 to {self.lanes}")
        self.launch = self.kernel("resident", "resident.cu", THREADS=self.threads, BATCH=batch)
        return (self.threads - 32) // self.lanes, batch

    def arrange(self, groups, batch, balance, cut):
        """Which block owns an item, and in which range a user is.

        Returns
        -------
        (block of each item, as `slots` has it, range of each user, first user of each range) or None
            None as `build_resident` says.
        """
        given, ratings, width = self.options, self.problem.ratings, self.problem.width
        user_degrees, item_degrees = ratings.degrees()
        # Dummy users and slots of each group; then, for each user, two vectors and a lock. One block a
        # multiprocessor: it takes nearly all of the shared memory.
        fixed = groups * (2 * (width * 4 + 128) + batch * 20)
        fixed += 16 + 512 + self.threads * 8  # edges ahead of an item alone; exchange buffers
        free, user_bytes, item_bytes = self.executor.max_shared - fixed - 64, 2 * width * 4 + 1, width * 4
        time, self.blocks, count = self.layout(item_degrees, free, user_bytes, item_bytes)
        if given.users is None and not self.worth(time, user_degrees, item_degrees):
            return None
        block = self.share_out(item_degrees, balance, count, (free - LEAST_ROOM * user_bytes) // item_bytes)
        if block is None:
            return None
        sizes = np.bincount(block, minlength=self.blocks)
        most = int(sizes.max(initial=0)) * item_bytes
        user_range, range_sizes, stride = self.ranges(user_degrees, min((free - most) // user_bytes, 60_000), cut)
        if self.blocks * self.blocks * stride * groups >= SEGMENTS:
            return None
        self.stride, self.rounds, self.room = stride, self.blocks * stride, int(range_sizes.max(initial=1))
        self.shared = fixed + most + self.room * 2 * width * 4 + (self.room // 32 + 1) * 4
        self.shared = -(-self.shared // 16) * 16
        range_offsets = np.concatenate([[0], np.cumsum(range_sizes)])
        return block, self.slots(item_degrees, block, sizes, balance), user_range, range_offsets

    def ranges(self, user_degrees, room, cut):
        """(range of each user, users of each, ranges for each block): none holds more than `room`."""
        given, ratings = self.options, self.problem.ratings
        # A range is visited `stride` rounds apart by two blocks: two at least, or they would wait for each other in
        # a circle.
        stride = given.stride or max(2, -(-ratings.n_users // (room * self.blocks)))
        if stride < 2:
            raise ValueError(f"stride={stride}: resident tiles need 2 or more")
        weights = user_degrees + ratings.m / max(ratings.n_users, 1)  # neither too many edges nor too many users
        while True:
            found = cut(weights, self.blocks * stride)
            sizes = np.bincount(found, minlength=self.blocks * stride)
            if sizes.max(initial=0) <= room:
                return found, sizes, stride
            stride += 1

    def slots(self, item_degrees, block, sizes, balance):
        """(items by block, where each block begins, group and place of each item in its block, whether a block has one
        item alone)."""
        items = item_degrees.size
        table = np.argsort(block, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        slot, place, alone = np.empty(items, np.int64), np.empty(items, np.int64), np.zeros(self.blocks, np.int32)
        for b, mine in enumerate(np.split(table, offsets[1:-1])):
            slot[mine] = _slots(item_degrees[mine], (self.threads - 32) // 32, 32 // self.lanes, balance)
            alone[b] = mine.size == 1 and self.options.alone != 0 and self.distinct(mine[0], item_degrees)
        place[table] = np.arange(items) - np.repeat(offsets[:-1], sizes)
        return table, offsets, slot, place, alone

    def order_resident(self, users, items, values, groups, *where):
        """The edges by block, round and group, and `packed` as the kernel reads them."""
        xp, m = self.xp, self.problem.ratings.m
        block, slot, place, user_range, first_users = (self.executor.array(a) for a in where)
        segment = (user_range[users] - block[items] * self.stride) % self.rounds
        segment = (block[items] * self.rounds + segment) * groups + slot[items]
        segments = self.blocks * self.rounds * groups
        order = xp.argsort(sort_keys(segment, segments, place[items], users, xp), kind="stable")
        self.offsets = segment_offsets(segment, segments, xp)
        del segment
        users, items, values = users[order], items[order], values[order]
        del order
        self.packed = xp.empty((m + BEYOND, 2), np.int32)
        self.packed[m:] = 0
        self.packed[:m, 0] = (users - first_users[user_range[users]]) | (place[items] << 16)
        self.packed[:m, 1] = values.view(np.int32)
        return users, items, values

    def share_out(self, degrees, balance, count, most):
        """The block of each item: the `count` largest have one each, the others are dealt out. None if one then
        has more than `most` items.
        """
        order = np.argsort(-degrees, kind="stable")
        block = np.zeros(degrees.size, np.int32)
        block[order[:count]] = np.arange(count)
        others = degrees[order[count:]]
        mean = max(1, int(others.sum()) // max(others.size, 1))
        for own in (1, mean, 4 * mean, 16 * mean):  # what an item counts for beside its edges
            block[order[count:]] = count + balance(others + own, self.blocks - count)
            if np.bincount(block, minlength=1).max() <= min(most, (1 << 15) - 1):
                return block
        return None

    def distinct(self, item, degrees):
        """Whether no user has rated this item twice."""
        first = int(degrees[:item].sum())
        users = self.problem.ratings.users[first : first + degrees[item]]
        return bool(np.all(users[1:] != users[:-1]))

    def run_resident(self):
        self.launch(
            self.blocks, self.threads, shared=self.shared, cooperative=True, offsets=self.offsets,
            range_offsets=self.range_offsets, rounds=np.int32(self.rounds), stride=np.int32(self.stride),
            room=np.int32(self.room), alone=self.alone, edges=self.packed, table=self.table,
            table_offsets=self.table_offsets, blocks_done=self.blocks_done, **self.state, **self.record,
        )  # fmt: skip
        return self

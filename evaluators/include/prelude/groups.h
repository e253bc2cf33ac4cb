/* Cooperative groups: those of a block, its tiles, and lanes that happen to be active.
 *
 * Ours on every backend, since vendors' differ: AMD's lack reduce, scans and dim_threads(), and
 * NVIDIA's come with more headers than the compiler. A tile has no data: all of it follows from its type and
 * the thread. A backend brings, before it includes this:
 *   ks_wave_shfl, _up, _down and _xor (lanes that take part, a word, operand, width),
 *   ks_wave_ballot(lanes, vote), ks_wave_sync(lanes), ks_wave_active(), ks_block_sync(),
 *   ks_grid_sync() and whether there is such a thing, KS_GRIDS_WAIT. */
#ifndef KS_GROUPS_H
#define KS_GROUPS_H

namespace cooperative_groups {

KS_INLINE unsigned ks_threads() { return blockDim.x * blockDim.y * blockDim.z; }
KS_INLINE unsigned ks_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
KS_INLINE unsigned long long ks_lanes(unsigned count) {
    return count < 64 ? (1ull << count) - 1 : ~0ull;
}

/* A value of any trivial type, in words of 4 bytes. */
#define KS_GROUP_SHUFFLE(name)                                                                     \
    template <typename T>                                                                          \
    KS_INLINE T ks_group##name(unsigned long long lanes, T value, int operand, int width) {        \
        static_assert(__is_trivially_copyable(T), "lanes exchange plain data");               \
        unsigned words[(sizeof(T) + 3) / 4] = {};                                                  \
        memcpy(words, &value, sizeof(T));                                                          \
        for (unsigned &word : words) word = ks_wave##name(lanes, word, operand, width);            \
        memcpy(&value, words, sizeof(T));                                                          \
        return value;                                                                              \
    }
KS_GROUP_SHUFFLE(_shfl)
KS_GROUP_SHUFFLE(_shfl_up)
KS_GROUP_SHUFFLE(_shfl_down)
KS_GROUP_SHUFFLE(_shfl_xor)
#undef KS_GROUP_SHUFFLE

enum KsGroupKind { KS_GROUP_BLOCK, KS_GROUP_GRID, KS_GROUP_TILE, KS_GROUP_LANES };

struct thread_block {
    static KS_MEMBER void sync() { ks_block_sync(); }
    static KS_MEMBER unsigned thread_rank() { return ks_rank(); }
    static KS_MEMBER unsigned num_threads() { return ks_threads(); }
    static KS_MEMBER unsigned size() { return ks_threads(); }
    static KS_MEMBER dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static KS_MEMBER dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static KS_MEMBER dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static KS_MEMBER dim3 dim_threads() { return group_dim(); }
    static KS_MEMBER bool is_valid() { return true; }
};

/* sync() only where the launch is cooperative: the blocks wait for each other. */
struct grid_group {
    template <bool here = KS_GRIDS_WAIT> static KS_MEMBER void sync() {
        static_assert(here, "sync() of a grid: no launch on cpu is cooperative");
        ks_grid_sync();
    }
    static KS_MEMBER unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static KS_MEMBER unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static KS_MEMBER unsigned long long thread_rank() {
        return block_rank() * ks_threads() + ks_rank();
    }
    static KS_MEMBER unsigned long long num_threads() { return num_blocks() * ks_threads(); }
    static KS_MEMBER unsigned long long size() { return num_threads(); }
    static KS_MEMBER dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static KS_MEMBER dim3 dim_blocks() { return group_dim(); }
    static KS_MEMBER dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static KS_MEMBER bool is_valid() { return true; }
};

KS_INLINE thread_block this_thread_block() { return {}; }
KS_INLINE grid_group this_grid() { return {}; }

/* What a tile of n threads has, whatever it is a part of. */
template <unsigned n> struct KsTile {
    static_assert(n > 0 && (n & (n - 1)) == 0, "a tile's size is a power of two");
    static_assert(n <= WAVEFRONT, "a tile has at most as many threads as a wavefront: 64 on AMD's "
                                  "GPUs and on cpu, 32 on NVIDIA's");
    static constexpr bool ks_is_tile = true;
    static KS_MEMBER unsigned long long ks_members() {
        return ks_lanes(n) << (ks_rank() & (WAVEFRONT - 1) & ~(n - 1));
    }
    static KS_MEMBER void sync() { ks_wave_sync(ks_members()); }
    static KS_MEMBER unsigned thread_rank() { return ks_rank() & (n - 1); }
    static KS_MEMBER unsigned num_threads() { return n; }
    static KS_MEMBER unsigned size() { return n; }
    static KS_MEMBER bool is_valid() { return true; }
    template <typename T> KS_MEMBER T shfl(T value, int rank) const {
        return ks_group_shfl(ks_members(), value, rank, n);
    }
    template <typename T> KS_MEMBER T shfl_up(T value, unsigned delta) const {
        return ks_group_shfl_up(ks_members(), value, (int)delta, n);
    }
    template <typename T> KS_MEMBER T shfl_down(T value, unsigned delta) const {
        return ks_group_shfl_down(ks_members(), value, (int)delta, n);
    }
    template <typename T> KS_MEMBER T shfl_xor(T value, unsigned mask) const {
        return ks_group_shfl_xor(ks_members(), value, (int)mask, n);
    }
    KS_MEMBER unsigned long long ballot(int vote) const {
        const unsigned long long members = ks_members();
        const unsigned first = ks_rank() & (WAVEFRONT - 1) & ~(n - 1);
        return (ks_wave_ballot(members, vote) & members) >> first;
    }
    KS_MEMBER int any(int vote) const { return ballot(vote) != 0; }
    KS_MEMBER int all(int vote) const { return ballot(!vote) == 0; }
};

template <unsigned n, typename Parent = void> struct thread_block_tile : KsTile<n> {
    static KS_MEMBER unsigned ks_parent() {
        if constexpr (ks_is_same<Parent, thread_block>) return 0;
        else return Parent::num_threads();
    }
    static KS_MEMBER unsigned meta_group_rank() { return Parent::thread_rank() / n; }
    static KS_MEMBER unsigned meta_group_size() { return (Parent::num_threads() + n - 1) / n; }
};
/* Of any parent: it keeps the parent's size, 0 for the block. */
template <unsigned n> struct thread_block_tile<n, void> : KsTile<n> {
    unsigned parent = 0;
    thread_block_tile() = default;
    template <typename Parent>
    KS_MEMBER thread_block_tile(const thread_block_tile<n, Parent> &)
        : parent(thread_block_tile<n, Parent>::ks_parent()) {}
    KS_MEMBER unsigned ks_parent() const { return parent; }
    KS_MEMBER unsigned meta_group_rank() const {
        return (parent ? ks_rank() & (parent - 1) : ks_rank()) / n;
    }
    KS_MEMBER unsigned meta_group_size() const {
        return ((parent ? parent : ks_threads()) + n - 1) / n;
    }
};

/* Lanes of a wavefront. */
struct coalesced_group {
    unsigned long long members;
    unsigned meta_rank, meta_size;
    static constexpr bool ks_is_tile = false;

    KS_MEMBER unsigned num_threads() const { return __popcll(members); }
    KS_MEMBER unsigned size() const { return num_threads(); }
    KS_MEMBER unsigned thread_rank() const {
        return __popcll(members & ks_lanes(ks_rank() & (WAVEFRONT - 1)));
    }
    KS_MEMBER unsigned meta_group_rank() const { return meta_rank; }
    KS_MEMBER unsigned meta_group_size() const { return meta_size; }
    KS_MEMBER bool is_valid() const { return true; }
    KS_MEMBER void sync() const { ks_wave_sync(members); }
    /* The lane of a rank: members are taken away until it is the first one. */
    KS_MEMBER int ks_lane(unsigned rank) const {
        unsigned long long left = members;
        for (unsigned i = 0; i < rank; ++i) left &= left - 1;
        return __ffsll((long long)left) - 1;
    }
    template <typename T> KS_MEMBER T shfl(T value, int rank) const {
        return ks_group_shfl(members, value, ks_lane((unsigned)rank % num_threads()), WAVEFRONT);
    }
    template <typename T> KS_MEMBER T shfl_up(T value, unsigned delta) const {
        const unsigned rank = thread_rank();
        return shfl(value, (int)(rank < delta ? rank : rank - delta));
    }
    template <typename T> KS_MEMBER T shfl_down(T value, unsigned delta) const {
        const unsigned rank = thread_rank();
        return shfl(value, (int)(rank + delta < num_threads() ? rank + delta : rank));
    }
    KS_MEMBER unsigned long long ballot(int vote) const {
        const unsigned long long votes = ks_wave_ballot(members, vote) & members;
        unsigned long long told = 0, left = members;
        for (unsigned rank = 0; left; ++rank, left &= left - 1)
            told |= (unsigned long long)((votes & left & (0 - left)) != 0) << rank;
        return told;
    }
    KS_MEMBER int any(int vote) const { return (ks_wave_ballot(members, vote) & members) != 0; }
    KS_MEMBER int all(int vote) const { return (ks_wave_ballot(members, !vote) & members) == 0; }
};
KS_INLINE coalesced_group coalesced_threads() { return {ks_wave_active(), 0, 1}; }

/* Any group, known at run time. */
struct thread_group {
    KsGroupKind kind;
    unsigned threads;
    unsigned long long members;

    KS_MEMBER thread_group(KsGroupKind kind, unsigned threads, unsigned long long members)
        : kind(kind), threads(threads), members(members) {}
    KS_MEMBER thread_group(const thread_block &)
        : thread_group(KS_GROUP_BLOCK, ks_threads(), 0) {}
    KS_MEMBER thread_group(const grid_group &)
        : thread_group(KS_GROUP_GRID, (unsigned)grid_group::num_threads(), 0) {}
    template <unsigned n, typename Parent>
    KS_MEMBER thread_group(const thread_block_tile<n, Parent> &)
        : thread_group(KS_GROUP_TILE, n, KsTile<n>::ks_members()) {}
    KS_MEMBER thread_group(const coalesced_group &group)
        : thread_group(KS_GROUP_LANES, group.num_threads(), group.members) {}

    KS_MEMBER unsigned num_threads() const { return threads; }
    KS_MEMBER unsigned size() const { return threads; }
    KS_MEMBER bool is_valid() const { return true; }
    KS_MEMBER unsigned thread_rank() const {
        if (kind == KS_GROUP_BLOCK) return ks_rank();
        if (kind == KS_GROUP_GRID) return (unsigned)grid_group::thread_rank();
        return __popcll(members & ks_lanes(ks_rank() & (WAVEFRONT - 1)));
    }
    KS_MEMBER void sync() const {
        if (kind == KS_GROUP_BLOCK) ks_block_sync();
        else if (kind == KS_GROUP_GRID) ks_grid_sync();
        else ks_wave_sync(members);
    }
};

template <unsigned n, typename Parent>
KS_INLINE thread_block_tile<n, Parent> tiled_partition(const Parent &) {
    return {};
}
KS_INLINE thread_group tiled_partition(const thread_group &parent, unsigned n) {
    const unsigned first = ks_rank() & (WAVEFRONT - 1) & ~(n - 1);
    return parent.threads <= n ? parent : thread_group(KS_GROUP_TILE, n, ks_lanes(n) << first);
}
KS_INLINE coalesced_group tiled_partition(const coalesced_group &parent, unsigned n) {
    const unsigned tile = parent.thread_rank() / n;
    unsigned long long members = 0, left = parent.members;
    for (unsigned rank = 0; left; ++rank, left &= left - 1)
        if (rank / n == tile) members |= left & (0 - left);
    return {members, tile, (parent.num_threads() + n - 1) / n};
}
template <typename Group> KS_INLINE unsigned long long ks_members_of(const Group &group) {
    if constexpr (Group::ks_is_tile) return group.ks_members();
    else return group.members;
}
template <typename Group>
KS_INLINE coalesced_group binary_partition(const Group &group, bool vote) {
    const unsigned long long members = ks_members_of(group);
    const unsigned long long votes = ks_wave_ballot(members, vote) & members;
    return {vote ? votes : members & ~votes, vote ? 1u : 0u, 2};
}

template <typename Group> KS_INLINE void sync(const Group &group) { group.sync(); }
template <typename Group> KS_INLINE auto thread_rank(const Group &group) {
    return group.thread_rank();
}
template <typename Group> KS_INLINE auto group_size(const Group &group) {
    return group.num_threads();
}

#include "group_operations.h"

template <typename Group, typename = bool> inline constexpr bool ks_of_lanes = false;
template <typename Group>
inline constexpr bool ks_of_lanes<Group, decltype(bool(Group::ks_is_tile))> = true;
#define KS_OF_LANES                                                                                \
    static_assert(ks_of_lanes<Group>, "reduce and scans are for tiles and coalesced groups")

template <typename Group, typename T, typename Operation>
KS_INLINE T reduce(const Group &group, T value, Operation operation) {
    KS_OF_LANES;
    if constexpr (Group::ks_is_tile) {
        for (unsigned d = Group::num_threads() / 2; d > 0; d /= 2)
            value = operation(value, group.shfl_xor(value, d));
        return value;
    } else {
        const unsigned rank = group.thread_rank(), count = group.num_threads();
        for (unsigned d = 1; d < count; d *= 2) {
            const T other = group.shfl_down(value, d);
            if (rank % (2 * d) == 0 && rank + d < count) value = operation(value, other);
        }
        return group.shfl(value, 0);
    }
}
template <typename Group, typename T, typename Operation>
KS_INLINE T inclusive_scan(const Group &group, T value, Operation operation) {
    KS_OF_LANES;
    const unsigned rank = group.thread_rank(), count = group.num_threads();
    for (unsigned d = 1; d < count; d *= 2) {
        const T other = group.shfl_up(value, d);
        if (rank >= d) value = operation(other, value);
    }
    return value;
}
template <typename Group, typename T> KS_INLINE T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}
template <typename Group, typename T, typename Operation>
KS_INLINE T exclusive_scan(const Group &group, T value, Operation operation) {
    const T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? ks_identity<T>(operation) : before;
}
template <typename Group, typename T> KS_INLINE T exclusive_scan(const Group &group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups

#endif

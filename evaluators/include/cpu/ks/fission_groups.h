/* Cooperative groups for translated kernels: what a group tells its threads, by their indices.
 * What they exchange is put in place by the translator; see fission/groups.py. */
#ifndef KS_FISSION_GROUPS_H
#define KS_FISSION_GROUPS_H

#ifndef KS_MEMBER
#define KS_MEMBER inline __attribute__((always_inline))
#endif

namespace cooperative_groups {

/* Where a function is called: the thread's number in its block, and all indices; each by value, as
 * g++ takes what has an address out of vectors. */
#define KS_HERE int t, KsIndex thread, KsIndex block, KsIndex dim, KsIndex grid
#define KS_SAME t, thread, block, dim, grid
KS_INLINE unsigned ks_threads(KsIndex dim) { return dim.x * dim.y * dim.z; }
KS_INLINE int ks_lane(int t) { return t & (WAVEFRONT - 1); }
KS_INLINE unsigned long long ks_lanes(unsigned count) {
    return count < 64 ? (1ull << count) - 1 : ~0ull;
}

struct thread_block {};
struct grid_group {};
template <unsigned n> struct KsTile {
    static_assert(n > 0 && (n & (n - 1)) == 0, "a tile's size is a power of two");
    static_assert(n <= WAVEFRONT, "a tile has at most as many threads as a wavefront: 64 on AMD's "
                                  "GPUs and on cpu, 32 on NVIDIA's");
    static constexpr unsigned threads = n;
};
/* Of any parent: it keeps the parent's size, 0 for the block. */
template <unsigned n, typename P = void> struct thread_block_tile : KsTile<n> {
    using Parent = P;
    static constexpr unsigned parent = 0;
};
template <unsigned n, unsigned m, typename P>
struct thread_block_tile<n, thread_block_tile<m, P>> : KsTile<n> {
    using Parent = thread_block_tile<m, P>;
    static constexpr unsigned parent = m;
};
template <unsigned n> struct thread_block_tile<n, void> : KsTile<n> {
    using Parent = void;
    unsigned parent = 0;
    thread_block_tile() = default;
    template <typename P>
    KS_MEMBER thread_block_tile(const thread_block_tile<n, P> &tile) : parent(tile.parent) {}
};
struct coalesced_group {
    unsigned long long members;
    unsigned meta_rank, meta_size;
};
/* A tile whose size is known at run time. */
struct KsTileOf {
    unsigned threads;
};

KS_INLINE thread_block this_thread_block() { return {}; }
KS_INLINE grid_group this_grid() { return {}; }
template <unsigned n, typename Parent>
KS_INLINE thread_block_tile<n, Parent> tiled_partition(const Parent &) {
    return {};
}
template <typename Parent> KS_INLINE KsTileOf tiled_partition(const Parent &, unsigned n) {
    return {n};
}

KS_INLINE unsigned ks_group_size(KS_HERE, thread_block) { return ks_threads(dim); }
KS_INLINE unsigned ks_group_thread_rank(KS_HERE, thread_block) { return (unsigned)t; }
KS_INLINE dim3 ks_group_group_index(KS_HERE, thread_block) { return block; }
KS_INLINE dim3 ks_group_thread_index(KS_HERE, thread_block) { return thread; }
KS_INLINE dim3 ks_group_group_dim(KS_HERE, thread_block) { return dim; }
KS_INLINE dim3 ks_group_dim_threads(KS_HERE, thread_block) { return dim; }

KS_INLINE unsigned long long ks_group_block_rank(KS_HERE, grid_group) {
    return ((unsigned long long)block.z * grid.y + block.y) * grid.x + block.x;
}
KS_INLINE unsigned long long ks_group_num_blocks(KS_HERE, grid_group) {
    return (unsigned long long)grid.x * grid.y * grid.z;
}
KS_INLINE unsigned long long ks_group_size(KS_HERE, grid_group g) {
    return ks_group_num_blocks(KS_SAME, g) * ks_threads(dim);
}
KS_INLINE unsigned long long ks_group_thread_rank(KS_HERE, grid_group g) {
    return ks_group_block_rank(KS_SAME, g) * ks_threads(dim) + (unsigned)t;
}
KS_INLINE dim3 ks_group_group_dim(KS_HERE, grid_group) { return grid; }
KS_INLINE dim3 ks_group_dim_blocks(KS_HERE, grid_group) { return grid; }
KS_INLINE dim3 ks_group_block_index(KS_HERE, grid_group) { return block; }

/* Of a tile: either kind has threads, a power of two. */
#define KS_TILE_READS(Tile, ...)                                                                   \
    __VA_ARGS__ KS_INLINE unsigned ks_group_size(KS_HERE, Tile g) { return g.threads; }            \
    __VA_ARGS__ KS_INLINE unsigned ks_group_thread_rank(KS_HERE, Tile g) {                         \
        return (unsigned)t & (g.threads - 1);                                                      \
    }                                                                                              \
    __VA_ARGS__ KS_INLINE int ks_group_shfl(KS_HERE, Tile g, int rank) {                           \
        return ks_source_shfl(ks_lane(t), rank, (int)g.threads);                                   \
    }                                                                                              \
    __VA_ARGS__ KS_INLINE int ks_group_shfl_up(KS_HERE, Tile g, unsigned d) {                      \
        return ks_source_shfl_up(ks_lane(t), d, (int)g.threads);                                   \
    }                                                                                              \
    __VA_ARGS__ KS_INLINE int ks_group_shfl_down(KS_HERE, Tile g, unsigned d) {                    \
        return ks_source_shfl_down(ks_lane(t), d, (int)g.threads);                                 \
    }                                                                                              \
    __VA_ARGS__ KS_INLINE int ks_group_shfl_xor(KS_HERE, Tile g, int mask) {                       \
        return ks_source_shfl_xor(ks_lane(t), mask, (int)g.threads);                               \
    }                                                                                              \
    __VA_ARGS__ KS_INLINE unsigned long long ks_group_ballot(KS_HERE, Tile g,                      \
                                                             unsigned long long votes) {           \
        return votes >> (ks_lane(t) & ~(g.threads - 1)) & ks_lanes(g.threads);                     \
    }
#define KS_COMMA ,
KS_TILE_READS(KsTileOf, )
KS_TILE_READS(thread_block_tile<n KS_COMMA Parent>, template <unsigned n, typename Parent>)
#undef KS_TILE_READS
#undef KS_COMMA

template <unsigned n, typename Parent>
KS_INLINE unsigned ks_group_meta_group_rank(KS_HERE, thread_block_tile<n, Parent> g) {
    return (g.parent ? (unsigned)t & (g.parent - 1) : (unsigned)t) / n;
}
template <unsigned n, typename Parent>
KS_INLINE unsigned ks_group_meta_group_size(KS_HERE, thread_block_tile<n, Parent> g) {
    return ((g.parent ? g.parent : ks_threads(dim)) + n - 1) / n;
}

KS_INLINE unsigned ks_group_size(KS_HERE, coalesced_group g) {
    return (unsigned)__popcll(g.members);
}
KS_INLINE unsigned ks_group_thread_rank(KS_HERE, coalesced_group g) {
    return (unsigned)__popcll(g.members & ks_lanes(ks_lane(t)));
}
KS_INLINE unsigned ks_group_meta_group_rank(KS_HERE, coalesced_group g) { return g.meta_rank; }
KS_INLINE unsigned ks_group_meta_group_size(KS_HERE, coalesced_group g) { return g.meta_size; }
/* The lane of a rank: members are taken away until it is the first one. */
KS_INLINE int ks_group_shfl(KS_HERE, coalesced_group g, int rank) {
    const unsigned count = ks_group_size(KS_SAME, g);
    unsigned long long left = g.members;
    for (unsigned i = 0; count && i < (unsigned)rank % count; ++i) left &= left - 1;
    return left ? __builtin_ctzll(left) : 0;
}
KS_INLINE int ks_group_shfl_up(KS_HERE, coalesced_group g, unsigned d) {
    const unsigned rank = ks_group_thread_rank(KS_SAME, g);
    return ks_group_shfl(KS_SAME, g, (int)(rank < d ? rank : rank - d));
}
KS_INLINE int ks_group_shfl_down(KS_HERE, coalesced_group g, unsigned d) {
    const unsigned rank = ks_group_thread_rank(KS_SAME, g);
    return ks_group_shfl(KS_SAME, g, (int)(rank + d < ks_group_size(KS_SAME, g) ? rank + d : rank));
}
KS_INLINE int ks_group_shfl_xor(KS_HERE, coalesced_group g, int mask) {
    return ks_group_shfl(KS_SAME, g, (int)ks_group_thread_rank(KS_SAME, g) ^ mask);
}
KS_INLINE unsigned long long ks_group_ballot(KS_HERE, coalesced_group g,
                                             unsigned long long votes) {
    unsigned long long told = 0, left = g.members;
    for (unsigned rank = 0; left; ++rank, left &= left - 1)
        told |= (unsigned long long)((votes & left & (0 - left)) != 0) << rank;
    return told;
}
KS_INLINE coalesced_group ks_group_coalesced(KS_HERE, unsigned long long active) {
    return {active, 0, 1};
}
template <unsigned n, typename Parent>
KS_INLINE unsigned long long ks_members(KS_HERE, thread_block_tile<n, Parent>) {
    return ks_lanes(n) << (ks_lane(t) & ~(n - 1));
}
KS_INLINE unsigned long long ks_members(KS_HERE, coalesced_group g) { return g.members; }
template <typename Group>
KS_INLINE coalesced_group ks_group_binary(KS_HERE, Group g, unsigned long long votes, bool vote) {
    const unsigned long long members = ks_members(KS_SAME, g);
    return {members & (vote ? votes : ~votes), vote ? 1u : 0u, 2};
}

template <typename Group> KS_INLINE auto ks_group_num_threads(KS_HERE, Group g) {
    return ks_group_size(KS_SAME, g);
}
/* any() and all(): votes of those for and those against. */
template <typename Group>
KS_INLINE int ks_group_any(KS_HERE, Group g, unsigned long long votes) {
    return ks_group_ballot(KS_SAME, g, votes) != 0;
}
template <typename Group>
KS_INLINE int ks_group_all(KS_HERE, Group g, unsigned long long against) {
    return ks_group_ballot(KS_SAME, g, against) == 0;
}
template <typename Group> KS_INLINE bool ks_group_is_valid(KS_HERE, Group) { return true; }

#include "prelude/group_operations.h"

} // namespace cooperative_groups

template <typename Group> constexpr bool ks_is_tile = true;
template <> constexpr bool ks_is_tile<cooperative_groups::coalesced_group> = false;

/* Those that no group among their arguments leads to. */
using cooperative_groups::ks_group_binary, cooperative_groups::ks_group_coalesced;
template <typename T, typename Operation>
KS_INLINE T ks_group_identity(const Operation &operation) {
    return cooperative_groups::ks_identity<T>(operation);
}

/* What has a method of that name and is no group. */
#define KS_NO_GROUP(name)                                                                          \
    template <typename T>                                                                          \
    KS_INLINE auto ks_group_##name(KS_HERE, T &object) -> decltype(object.name()) {                \
        return object.name();                                                                      \
    }
KS_NO_GROUP(size) KS_NO_GROUP(num_threads) KS_NO_GROUP(thread_rank) KS_NO_GROUP(meta_group_rank)
KS_NO_GROUP(meta_group_size) KS_NO_GROUP(is_valid)
#undef KS_NO_GROUP

#endif

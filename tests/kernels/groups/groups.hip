// Cooperative groups in the ways in which people write them: a kernel each, of 256 threads.
#include <hip/hip_runtime.h>

namespace cg = cooperative_groups;

// A function that takes any group, of the block and of a tile.
__device__ int sum_of_group(cg::thread_group g, int *x, int value) {
    const int rank = g.thread_rank();
    for (unsigned i = g.size() / 2; i > 0; i /= 2) {
        x[rank] = value;
        g.sync();
        if (rank < (int)i) value += x[rank + i];
        g.sync();
    }
    return rank == 0 ? value : 0;
}
__global__ void any_group(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    __shared__ int work[256];
    int whole = sum_of_group(block, work, in[block.thread_rank()]);
    auto tile = cg::tiled_partition<16>(block);
    const unsigned first = block.thread_rank() - tile.thread_rank();
    int part = sum_of_group(tile, &work[first], in[block.thread_rank()]);
    out[block.thread_rank()] = whole + 1000 * part;
}

// The same as a template of the group's type.
template <typename Group> __device__ int sum_of_lanes(const Group &g, int value) {
    for (int d = g.size() / 2; d > 0; d >>= 1) value += g.shfl_down(value, d);
    return g.shfl(value, 0);
}
template <int N> __global__ void by_type(const int *in, int *out) {
    auto tile = cg::tiled_partition<N>(cg::this_thread_block());
    int t = threadIdx.x;
    out[t] = sum_of_lanes(tile, in[t]) + tile.meta_group_rank();
}

// A template of the tile's size, which a call leaves to be found.
template <unsigned N> __device__ int largest(cg::thread_block_tile<N> tile, int value) {
    return cg::reduce(tile, value, cg::greater<int>());
}
template <unsigned N, typename Parent>
__device__ int rank_of(const cg::thread_block_tile<N, Parent> &tile) {
    return tile.thread_rank() * 100 + tile.meta_group_rank();
}
__global__ void by_size(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto quarter = cg::tiled_partition<8>(warp);
    int i = block.thread_rank();
    out[i] = largest(warp, in[i]) + 1000 * largest<8>(quarter, in[i]) + 100000 * rank_of(quarter);
}

// Names without their namespace.
using namespace cooperative_groups;
__global__ void unqualified(const int *in, int *out) {
    thread_block block = this_thread_block();
    thread_block_tile<32> tile = tiled_partition<32>(block);
    __shared__ int sums[8];
    int value = reduce(tile, in[block.thread_rank()], plus<int>());
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = value;
    sync(block);
    int total = 0;
    for (unsigned w = 0; w < tile.meta_group_size(); ++w) total += sums[w];
    sync(tile);
    out[thread_rank(block)] = total + group_size(tile);
}

// Sums of wavefronts meet in the first one.
__global__ void two_steps(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ int sums[32];
    int sum = 0;
    for (unsigned i = block.thread_rank(); i < 1000; i += block.size()) sum += in[i % 256];
    sum = cg::reduce(warp, sum, cg::plus<int>{});
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        int all = warp.thread_rank() < warp.meta_group_size() ? sums[warp.thread_rank()] : 0;
        all = cg::reduce(warp, all, cg::plus<int>{});
        if (warp.thread_rank() == 0) sums[31] = all;
    }
    cg::sync(block);
    out[block.thread_rank()] = sums[31];
}

// One atomic operation for the lanes that are there.
__device__ int place(int *count) {
    auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, active.size());
    return active.shfl(first, 0) + active.thread_rank();
}
__global__ void aggregated(const int *in, int *out) {
    __shared__ int count;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) count = 0;
    block.sync();
    int at = -1;
    if (in[threadIdx.x] % 3 == 0) at = place(&count);
    block.sync();
    out[threadIdx.x] = (at >= 0 && at < count) + 10 * count;
}

// A row a tile; tiles beyond the rows leave at once.
__global__ void row_a_tile(const int *in, int *out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned row = cg::this_grid().thread_rank() / tile.size();
    if (row >= 5) return;
    int most = -1000000;
    for (unsigned i = tile.thread_rank(); i < 50; i += tile.size()) most = max(most, in[row * 50 + i]);
    most = cg::reduce(tile, most, [](int a, int b) { return a > b ? a : b; });
    int sum = 0;
    for (unsigned i = tile.thread_rank(); i < 50; i += 32) sum += most - in[row * 50 + i];
    for (int d = 16; d > 0; d /= 2) sum += tile.shfl_xor(sum, d);
    if (tile.thread_rank() == 0) out[row] = sum;
}

// Scans of tiles, and of the block by them.
__global__ void scans(const int *in, int *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    __shared__ int ends[8];
    int value = in[block.thread_rank()];
    int sum = cg::inclusive_scan(tile, value, cg::plus<int>());
    if (tile.thread_rank() == tile.size() - 1) ends[tile.meta_group_rank()] = sum;
    block.sync();
    for (unsigned w = 0; w < tile.meta_group_rank(); ++w) sum += ends[w];
    out[block.thread_rank()] = sum * 2 + (cg::exclusive_scan(tile, value) == sum);
}

// Votes, and what lanes of a branch are.
__global__ void votes(const int *in, int *out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int odd = in[threadIdx.x] & 1, told = 0;
    if (tile.any(odd) && !tile.all(odd)) told = __popcll(tile.ballot(odd));
    if (odd) {
        cg::coalesced_group group = cg::coalesced_threads();
        told += 100 * group.shfl_down(in[threadIdx.x] & 15, 1);
        told += 10000 * cg::reduce(group, 1, cg::plus<int>());
    }
    auto halves = cg::binary_partition(cg::tiled_partition<32>(cg::this_thread_block()), odd);
    out[threadIdx.x] = told + 1000000 * (int)halves.size() + (int)halves.thread_rank();
}

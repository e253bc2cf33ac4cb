// What a wavefront, a block and a launch are made of. Source: AMD, "AMD Instinct MI300 Instruction
// Set Architecture"; LLVM, "User Guide for AMDGPU Backend".
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;

constexpr int LANES = 64;
constexpr int MOST_OPERANDS = 6;
constexpr u32 MOST_WAVES = 16;  // of a block
constexpr u64 ALL = ~u64(0);
constexpr u64 SHARED_BASE = u64(1) << 48;   // flat addresses of LDS begin here
constexpr u64 PRIVATE_BASE = u64(2) << 48;  // and those of scratch here
enum Scalar { VCC = 106, M0 = 124, EXEC = 126, SCALARS = 128 };

enum class Kind : u32 { none, vector, scalar, integer, real, literal, scc, vccz, execz,
                        shared_base, shared_limit, private_base, private_limit, lane_sums };

// neg, abs, sext: of a source. part: an SDWA selection (0-3 byte, 4-5 word, 6 dword).
struct Operand {
    Kind kind;
    u32 index;      // of its first register
    u32 registers;  // of 32 bits
    u8 neg, abs, sext, part;
    u64 value;      // of a constant of 64 bits
    u32 as32;
    u32 as16;
};

enum Flag : u32 { RETURNS = 1, TO_LDS = 2, OFFEN = 4, IDXEN = 8, CLAMPED = 16, DPP = 32, SDWA = 64,
                  BOUND_ZERO = 128, GDS = 256, LITERAL = 512, POLLS = 1024, GUARDS = 2048 };

struct Instruction {
    u32 operation;
    u32 flags;
    u32 operands;
    i32 target;  // of a branch: an instruction's number; -1: none
    u64 address;
    u32 bytes;
    i32 offset, offset1;
    u32 op_sel, op_sel_hi, neg_lo, neg_hi;
    u32 omod;  // 0, or what the result is multiplied by: 1: 2, 2: 4, 3: 1/2
    u32 dpp, row_mask, bank_mask;
    u32 dst_part, dst_unused;  // SDWA; unused: 0 zeros, 1 sign, 2 preserved
    u32 cbsz, abid, blgp;
    u32 results;  // leading operands that are written
    Operand o[MOST_OPERANDS];
};

enum class Fault : u32 {
    none, outside, read_only, outside_lds, outside_scratch, unwritten_lds, undefined_address,
    undefined_branch, undefined_exec, trap, unsupported, bad_jump, misaligned, race, register_range,
    undefined_scalar, unwaited, undefined_store, unfinished_lds
};

struct FaultInfo {
    Fault fault;
    u32 instruction, lane, wave;
    u32 block[3];
    u32 bytes;
    u64 address;
    u32 writes;
    u32 other_wave;
    char what[128];
};

// A wavefront's first read of LDS that nobody had written; bytes: 0: none.
struct Unwritten {
    u32 instruction, lane, address, bytes;
};

struct Window {
    u64 start, end;
    u32 writable, id;
};

struct Wave;
using Handler = void (*)(Wave&, const Instruction&);

struct Entry {
    const char* name;
    Handler run;
    u32 results;  // leading operands that are written
};

// What a wavefront knows of each: that everything up to this time of it lies behind.
struct Clocks {
    u32 of[MOST_WAVES];
};

// Wavefronts, a bit each, the earliest time of any, and the last of them with its time.
struct Users {
    u32 first_at, last_at;
    u16 waves;
    u16 last;
};

// Who used a part of LDS since the last barrier (see lds_order.hpp), and the store that is there.
struct LdsUnit {
    u32 epoch;
    u32 written_at;
    u32 stored;          // the number of that store among its wavefront's accesses
    u8 writer, storer;   // waves plus one; 0: none
    bool by_vector;
    u16 lookers;         // readers that did no more than look (see polling.py's guards)
    Users readers, changers;  // changers: by atomic operations
};

struct Launch;

struct Block {
    Launch* launch;
    u32 id[3];
    u32 number;
    u32 waves, ended, waiting;
    u32 epoch;  // how many barriers all have passed
    std::vector<u8> lds, lds_undefined, lds_written;
    std::vector<LdsUnit> units;
    std::vector<Clocks> told;  // by what atomic operations change: what their wavefronts knew
    std::vector<Wave*> members;
};

// What is under way to a wavefront's registers: accesses are numbered as they are issued, and
// s_waitcnt says up to which number they are through. Scalar loads come in any order.
constexpr u32 MOST_VECTORS = 512;
struct Waits {
    u32 vector_issued, vector_through, local_issued, local_through;
    bool scalar_under_way;
    u32 vector_until[MOST_VECTORS], local_until[MOST_VECTORS];  // by vector register
    u32 scalar_until[SCALARS];
};

struct Wave {
    Block* block;
    Launch* launch;
    u32 index;   // in its block
    u32 vectors; // registers allocated
    u32* v;      // [vectors][LANES]
    u32* undefined;  // the same shape: bits never written
    u64* holes;  // [vectors]: lanes with undefined bits
    u32 s[SCALARS], s_undefined[SCALARS];
    u64 exec;
    u32 scc, scc_undefined;
    u32 mode;
    u32 pc;  // an instruction's number
    u32 gpr_index_mode;  // 1, 2, 4: sources, 8: result: M0[7:0] is added to their registers
    u64 flat_scratch;
    std::vector<u8> scratch, scratch_undefined;  // [LANES][bytes]
    bool ended, waiting, yields;
    Clocks known;
    bool atomic, learns, idle;  // the operation under way: it returns what it finds, and changes nothing
    u32 stored_local, stored_vector;  // accesses that were through when it last came to a barrier
    u32 until_nap, naps;
    u64 asleep_until;
    Window cached;
    Unwritten unwritten;
    Waits waits;
};

struct Random {
    u64 state;
    u64 next() {
        state += 0x9e3779b97f4a7c15ull;
        u64 z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    u32 below(u32 n) { return u32((next() >> 32) * n >> 32); }
};

struct Launch {
    const Instruction* code;
    u32 instructions;
    u64 code_start, code_end;
    const i32* at;  // (address - code_start) / 4 -> instruction's number, or -1
    const Handler* handlers;
    const u8* classes;  // see waits.hpp
    std::vector<Window> windows;
    u32 entry;
    u32 grid[3], size[3];
    u32 lds_bytes, scratch_bytes, vectors, accumulators;  // accumulators: where a0 is
    u32 user_scalars, workgroup_ids, mode, private_at;
    u32 user[32];
    bool shuffled, undefined_checks, loads_to_lds;
    u32 unit_shift;  // of an LdsUnit's bytes
    u64 turns, napped;
    Random random;
    u64* hits;
    u64* extra_lines;  // see count_lines()
    u64 next_block, blocks;
    u64 executed;
    u32 room;  // blocks at once
    u32 most_room;
    u64 since_end;
    std::vector<Block*> resident;
    std::unordered_map<u64, u32> undefined_memory;
    FaultInfo fault;
};

inline bool failed(const Wave& w) { return w.launch->fault.fault != Fault::none; }

inline void fail(Wave& w, Fault fault, u32 lane = 0, u64 address = 0, u32 bytes = 0,
                 u32 writes = 0, const char* what = "") {
    FaultInfo& info = w.launch->fault;
    if (info.fault != Fault::none) return;
    info.fault = fault;
    info.instruction = w.pc;
    info.lane = lane;
    info.wave = w.index;
    memcpy(info.block, w.block->id, sizeof info.block);
    info.bytes = bytes;
    info.address = address;
    info.writes = writes;
    strncpy(info.what, what, sizeof info.what - 1);
    bool undefined = fault == Fault::undefined_address || fault == Fault::undefined_branch || fault == Fault::undefined_exec ||
                     fault == Fault::undefined_scalar || fault == Fault::undefined_store;
    if (!undefined || !w.unwritten.bytes) return;  // else: most likely from there
    info.fault = Fault::unwritten_lds;
    info.instruction = w.unwritten.instruction;
    info.lane = w.unwritten.lane;
    info.address = w.unwritten.address;
    info.bytes = w.unwritten.bytes;
    info.writes = 0;
}

inline void unsupported(Wave& w, const char* what) { fail(w, Fault::unsupported, 0, 0, 0, 0, what); }

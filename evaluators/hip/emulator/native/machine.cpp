// Launches: blocks start, wavefronts take turns, and the first fault ends it. The interface is C.
#include "memory.hpp"
#include "tables.hpp"
#include "waits.hpp"

namespace {
const Table& table() {
    static const Table all = [] {
        Table t;
        vector_integer(t), vector_bits(t), vector_real(t), vector_convert(t), vector_packed(t), vector_compare(t);
        vector_across(t), scalar_arithmetic(t), scalar_control(t), global_memory(t), lds_memory(t), matrix(t);
        return t;
    }();
    return all;
}

constexpr u64 MOST_NAPS = 20000;  // turns of a launch, and a quarter of all
constexpr u32 OFTEN = 8;          // naps of a wavefront

// Bytes that an instruction of LDS moves at least, as a power of two up to 4.
u8 unit_shift_of(const char* name) {
    if (!starts(name, "ds_") && !starts(name, "flat_")) return 2;
    for (const char* part : {"b8", "u8", "i8", "byte"})
        if (strstr(name, part)) return 0;
    for (const char* part : {"b16", "u16", "i16", "short"})
        if (strstr(name, part)) return 1;
    return 2;
}

u32 threads_of(const Launch& launch) { return launch.size[0] * launch.size[1] * launch.size[2]; }

Wave* new_wave(Launch& launch, Block& block, u32 index) {
    Wave* w = new Wave();
    w->block = &block;
    w->launch = &launch;
    w->index = index;
    w->vectors = launch.vectors;
    size_t cells = size_t(launch.vectors) * LANES;
    w->v = new u32[cells];
    w->undefined = new u32[cells];
    w->holes = new u64[launch.vectors];
    // Registers hold what nobody wrote: something else each time.
    for (size_t i = 0; i < cells; i += 2) {
        u64 x = launch.random.next();
        w->v[i] = u32(x);
        if (i + 1 < cells) w->v[i + 1] = u32(x >> 32);
    }
    memset(w->undefined, 0xff, cells * 4);
    for (u32 i = 0; i < launch.vectors; ++i) w->holes[i] = launch.undefined_checks ? ALL : 0;
    for (u32 i = 0; i < SCALARS; ++i) {
        w->s[i] = u32(launch.random.next());
        w->s_undefined[i] = launch.undefined_checks ? ~0u : 0;
    }
    w->scc_undefined = launch.undefined_checks;
    w->s_undefined[M0] = 0;
    w->s[M0] = 0;
    w->mode = launch.mode;
    w->pc = launch.entry;
    w->until_nap = 1 + launch.random.below(2);
    for (u32 i = 0; i < launch.user_scalars; ++i) {
        w->s[i] = launch.user[i];
        w->s_undefined[i] = 0;
    }
    u32 at = launch.user_scalars;
    for (u32 axis = 0; axis < 3; ++axis)
        if (launch.workgroup_ids >> axis & 1) {
            w->s[at] = block.id[axis];
            w->s_undefined[at++] = 0;
        }
    u32 threads = threads_of(launch), first = index * LANES;
    for (u32 l = 0; l < LANES; ++l) {
        u32 t = first + l;
        if (t < threads) w->exec |= u64(1) << l;
        u32 x = t % launch.size[0], y = t / launch.size[0] % launch.size[1], z = t / launch.size[0] / launch.size[1];
        w->v[l] = x | y << 10 | z << 20;
    }
    w->holes[0] &= ~w->exec;
    w->scratch.resize(size_t(launch.scratch_bytes) * LANES);
    for (auto& byte : w->scratch) byte = u8(launch.random.state >> 17 ^ size_t(&byte));
    w->scratch_undefined.assign(w->scratch.size(), launch.undefined_checks ? 0xff : 0);
    return w;
}

void free_wave(Wave* w) {
    delete[] w->v;
    delete[] w->undefined;
    delete[] w->holes;
    delete w;
}

Block* new_block(Launch& launch, u64 number) {
    Block* block = new Block();
    block->launch = &launch;
    block->number = u32(number);
    block->id[0] = u32(number % launch.grid[0]);
    block->id[1] = u32(number / launch.grid[0] % launch.grid[1]);
    block->id[2] = u32(number / launch.grid[0] / launch.grid[1]);
    block->waves = (threads_of(launch) + LANES - 1) / LANES;
    block->lds.resize(launch.lds_bytes);
    for (size_t i = 0; i < block->lds.size(); ++i) block->lds[i] = u8(launch.random.next());
    block->lds_undefined.assign(launch.lds_bytes, launch.undefined_checks ? 0xff : 0);
    block->lds_written.assign(launch.lds_bytes, 0);
    block->units.assign((launch.lds_bytes >> launch.unit_shift) + 2, LdsUnit{});
    for (u32 i = 0; i < block->waves; ++i) block->members.push_back(new_wave(launch, *block, i));
    forget_order(*block);
    return block;
}

void free_block(Block* block) {
    for (Wave* w : block->members) free_wave(w);
    delete block;
}

void release_barrier(Block& block) {
    if (block.waiting + block.ended < block.waves || !block.waiting) return;
    for (Wave* w : block.members) w->waiting = false;
    block.waiting = 0;
    ++block.epoch;
    forget_order(block);
}

// Between what a wavefront reads of memory that others may write and what it makes of it, or between
// what it writes and the flag that says so, others get a long turn: often at first, then rarer and
// rarer, as loops would take for ever.
void may_nap(Wave& w) {
    Launch& launch = *w.launch;
    if (--w.until_nap) return;
    ++w.naps;
    w.until_nap = 1 + launch.random.below(2u << (w.naps < OFTEN ? 0 : std::min(w.naps - OFTEN, 20u)));
    if (launch.napped > MOST_NAPS + launch.turns / 4) return;
    u64 turns = launch.random.next() % (u64(16) << launch.random.below(6));
    launch.napped += turns;
    w.asleep_until = launch.turns + turns;
    w.yields = true;
}

// Up to that many instructions of one wavefront.
u64 turn(Wave& w, u64 most) {
    Launch& launch = *w.launch;
    u64 done = 0;
    while (done < most && !w.ended && !w.waiting && !w.yields) {
        if (w.pc >= launch.instructions) {
            fail(w, Fault::bad_jump);
            break;
        }
        const Instruction& in = launch.code[w.pc];
        launch.hits[w.pc] += 1;
        Access access = Access(launch.classes[in.operation]);
        if (under_way(w.waits)) check_waits(w, in, access);
        if (failed(w)) break;
        launch.handlers[in.operation](w, in);
        ++done;
        ++launch.executed;  // which the clock is
        if (failed(w)) break;
        if (access != Access::none) note_access(w, in, access);
        ++w.pc;
        bool remote = access == Access::vector || access == Access::flat || access == Access::scalar;
        if (launch.shuffled && remote && w.cached.writable && !(in.flags & POLLS)) may_nap(w);
    }
    w.yields = false;
    if (w.ended) ++w.block->ended;
    if (w.waiting) {
        ++w.block->waiting;
        w.stored_local = w.waits.local_through;
        w.stored_vector = w.waits.vector_through;
    }
    if (w.ended || w.waiting) release_barrier(*w.block);
    return done;
}

void start_blocks(Launch& launch) {
    while (launch.resident.size() < launch.room && launch.next_block < launch.blocks)
        launch.resident.push_back(new_block(launch, launch.next_block++));
}
}  // namespace

extern "C" {
u32 ks_operations() { return u32(table().size()); }
const char* ks_operation_name(u32 i) { return table()[i].name; }
u32 ks_operation_results(u32 i) { return table()[i].results; }
u32 ks_instruction_bytes() { return sizeof(Instruction); }

struct Setup {
    const Instruction* code;
    u64 instructions, code_start, code_end;
    const i32* at;
    const Window* windows;
    u64 window_count, seed;
    u64* hits;
    u64* extra_lines;
    u32 entry, lds_bytes, scratch_bytes, vectors, accumulators, user_scalars, workgroup_ids, mode;
    u32 grid[3], size[3];
    u32 user[32];
    u32 shuffled, undefined_checks, room, most_room;
};

Launch* ks_launch(const Setup* s) {
    Launch* launch = new Launch();
    launch->code = s->code;
    launch->instructions = u32(s->instructions);
    launch->code_start = s->code_start;
    launch->code_end = s->code_end;
    launch->at = s->at;
    launch->windows.assign(s->windows, s->windows + s->window_count);
    launch->random.state = s->seed;
    launch->hits = s->hits;
    launch->extra_lines = s->extra_lines;
    launch->entry = s->entry;
    launch->lds_bytes = s->lds_bytes;
    launch->scratch_bytes = s->scratch_bytes;
    launch->vectors = s->vectors;
    launch->user_scalars = s->user_scalars;
    launch->workgroup_ids = s->workgroup_ids;
    launch->mode = s->mode;
    for (u32 i = 0; i < 3; ++i) launch->grid[i] = s->grid[i], launch->size[i] = s->size[i];
    memcpy(launch->user, s->user, sizeof s->user);
    launch->shuffled = s->shuffled;
    launch->undefined_checks = s->undefined_checks;
    launch->room = s->room;
    launch->most_room = s->most_room;
    launch->blocks = u64(s->grid[0]) * s->grid[1] * s->grid[2];
    static std::vector<Handler> handlers = [] {
        std::vector<Handler> all;
        for (const Entry& one : table()) all.push_back(one.run);
        return all;
    }();
    launch->handlers = handlers.data();
    static std::vector<u8> classes = [] {
        std::vector<u8> all;
        for (const Entry& one : table()) all.push_back(u8(access_of(one.name)));
        return all;
    }();
    launch->classes = classes.data();
    static const std::vector<u8> shifts = [] {
        std::vector<u8> all;
        for (const Entry& one : table()) all.push_back(unit_shift_of(one.name));
        return all;
    }();
    launch->unit_shift = 2;
    for (u64 i = 0; i < s->instructions; ++i) {
        launch->loads_to_lds |= bool(s->code[i].flags & TO_LDS);
        if (shifts[s->code[i].operation] < launch->unit_shift) launch->unit_shift = shifts[s->code[i].operation];
    }
    return launch;
}

// Up to so many instructions more. 0: to go on; 1: done; 2: a fault.
u32 ks_run(Launch* launch, u64 budget) {
    u64 until = launch->executed + budget;
    start_blocks(*launch);
    while (!launch->resident.empty() && launch->executed < until) {
        if (launch->fault.fault != Fault::none) return 2;
        u64 before = launch->executed;
        if (launch->shuffled) {
            Block& block = *launch->resident[launch->random.below(u32(launch->resident.size()))];
            u32 ready = 0;
            ++launch->turns;
            auto awake = [&](const Wave& w) { return !w.ended && !w.waiting && w.asleep_until <= launch->turns; };
            for (Wave* w : block.members) ready += awake(*w);
            u32 pick = ready ? launch->random.below(ready) : 0;
            for (Wave* w : block.members)
                if (awake(*w) && pick-- == 0) {
                    // Mostly short turns, at times long ones.
                    u64 most = u64(1) << launch->random.below(10);
                    turn(*w, 1 + launch->random.next() % most);
                    break;
                }
        } else {
            for (size_t i = 0; i < launch->resident.size(); ++i)
                for (Wave* w : launch->resident[i]->members) {
                    if (w->ended || w->waiting) continue;  // counted once as such
                    turn(*w, 20000);
                    if (launch->fault.fault != Fault::none) return 2;
                }
        }
        launch->since_end += launch->executed - before;
        for (size_t i = 0; i < launch->resident.size();) {
            Block* block = launch->resident[i];
            if (block->ended < block->waves) { ++i; continue; }
            free_block(block);
            launch->resident.erase(launch->resident.begin() + i);
            launch->since_end = 0;
        }
        // Blocks may wait for others that have not begun: let more of them in.
        if (launch->since_end > 300000 * u64(launch->resident.size() + 1) && launch->room < launch->most_room) {
            launch->room = launch->room * 2 < launch->most_room ? launch->room * 2 : launch->most_room;
            launch->since_end = 0;
        }
        start_blocks(*launch);
    }
    if (launch->fault.fault != Fault::none) return 2;
    return launch->resident.empty() ? 1 : 0;
}

const FaultInfo* ks_fault(Launch* launch) { return &launch->fault; }
u64 ks_executed(Launch* launch) { return launch->executed; }
void ks_free(Launch* launch) {
    for (Block* block : launch->resident) free_block(block);
    delete launch;
}
}

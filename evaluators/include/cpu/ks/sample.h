/* Which blocks of a launch the oracle runs: all in random order, or of a large one a sample. */
#ifndef KS_SAMPLE_H
#define KS_SAMPLE_H

/* Whether a launch left a block out, since loading: read by the parent (cpu/library_memory.py). */
static unsigned ks_left_out __asm__("ks_left_out") __attribute__((used));

/* Blocks that lie near a random one: its neighbours, and the first ones of its row and column,
 * since these are what blocks share work with. The first group holds the first block and the last.
 * A sample ends with the group in which the launch's accesses exceed KS_SAMPLE, unless a third of
 * the launch is through by then: the rest takes twice as long at most, and what all blocks make can
 * be judged. */
class KsBlocks {
  public:
    KS_QUIET KsBlocks() : count(gridDim.x * gridDim.y * gridDim.z), order(count) {
        if (KS_SAMPLE) __builtin_memset(seen, 0, sizeof seen);
    }

    /* Whether there is one more, and which. */
    KS_QUIET bool next(unsigned &block) {
#if KS_SAMPLE
        if (ks_in_order && !spent() && taken < count) return block = taken++, true;
        for (; !ks_in_order && at <= count; ++at, member = 0) {
            if (member == 0 && (spent() || taken + MEMBERS > MOST)) break;
            while (member < MEMBERS)
                if (take(block = near(ks_backwards ? MEMBERS - 1 - member++ : member++)))
                    return true;
        }
        ks_left_out |= taken < count;
        return false;
#else
        return at < count && (block = order[at++], true);
#endif
    }

  private:
    enum { MEMBERS = 5, MOST = 1 << 13 };
    unsigned count, at = 0, member = 0, taken = 0;
    KsOrder order;
    static unsigned seen[2 * MOST]; /* a table of those taken, plus one */

    KS_QUIET bool spent() const {
        return ks_accesses > (taken < count / 3 ? 1 : 3) * KS_SAMPLE;
    }

    KS_QUIET unsigned near(unsigned which) const {
        if (at == 0) return which ? count - 1 : 0;
        const unsigned b = order[at - 1], x = gridDim.x, plane = x * gridDim.y;
        const unsigned group[MEMBERS] = {b, (b + 1) % count, (b + x) % count, b / x * x,
                                         b / plane * plane + b % x};
        return group[which];
    }

    /* Whether it had not been taken before. */
    KS_QUIET bool take(unsigned block) {
        for (unsigned i = block * 2654435769u;; ++i) {
            unsigned &place = seen[i % (2 * MOST)];
            if (place == block + 1) return false;
            if (place) continue;
            place = block + 1;
            ++taken;
            return true;
        }
    }
};
unsigned KsBlocks::seen[2 * MOST];

#endif

/* In which order blocks and threads take turns: a random one, its reverse, that of their numbers. */
#ifndef KS_RANDOM_ORDER_H
#define KS_RANDOM_ORDER_H

static unsigned long long ks_random_state = KS_SEED; /* chosen by the parent */
static bool ks_backwards, ks_in_order; /* in_order: of their numbers, as if nothing came between */

/* SplitMix64 (Steele, Lea, Flood 2014). */
__attribute__((no_sanitize("thread"))) static unsigned long long
ks_random(unsigned long long &state = ks_random_state) {
    unsigned long long z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

/* A permutation of the numbers below count: k -> (factor * k + shift) mod count. */
struct KsOrder {
    unsigned long long count, factor, shift;

    __attribute__((no_sanitize("thread"))) explicit KsOrder(unsigned count)
        : count(count), factor(1), shift(0) {
        if (count < 2 || ks_in_order) return;
        do factor = 1 + ks_random() % (count - 1);
        while (common_factor(factor, count) != 1);
        shift = ks_random() % count;
    }
    __attribute__((no_sanitize("thread"))) unsigned operator[](unsigned k) const {
        const unsigned long long at = ks_backwards ? count - 1 - k : k;
        return (unsigned)((factor * at + shift) % count);
    }
    __attribute__((no_sanitize("thread"))) static unsigned long long
    common_factor(unsigned long long a, unsigned long long b) {
        while (b) {
            const unsigned long long rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    }
};

/* The second run of a kernel's launches has the orders of the first the other way: so one of the two
 * has any two threads in the order that shows their race. The third one is as no GPU would be relied
 * on to be: what a kernel does only as long as blocks and threads come in the order of their numbers
 * is done then, and watched. */
struct KsOrders {
    unsigned long long drawn, run, launch; /* launch: the kernel's how manieth of the run */

    __attribute__((no_sanitize("thread"))) void begin(const KsLaunch *asked) {
        const unsigned long long now = asked->run;
        launch = now == run ? launch + 1 : 0;
        run = now;
        unsigned long long state = KS_SEED ^ (run / 3 << 32 | launch);
        ks_random_state = drawn = ks_random(state);
        ks_backwards = run % 3 == 1;
        ks_in_order = run % 3 == 2;
    }
    /* Each block draws the orders of its threads anew, the same ones whenever it comes. */
    __attribute__((no_sanitize("thread"))) void of_block(unsigned block) {
        ks_random_state = drawn ^ (block + 1) * 0xD1342543DE82EF95ull;
    }
};

#endif

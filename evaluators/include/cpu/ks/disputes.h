/* Places to which two threads wrote, unordered: does it matter which of them comes last?
 *
 * It does once the last values differ, by more than another order of a sum would make, and somebody
 * reads the place, in this launch or a later one, or it belongs to an output. */
#ifndef KS_DISPUTES_H
#define KS_DISPUTES_H

/* Four bytes, by their address over four. */
struct KsDispute {
    unsigned long long place; /* 0: of none */
    const char *code;         /* of the later write */
    unsigned rival, value;    /* what the other thread wrote; what the launch left in the end */
    unsigned block;           /* that wrote later */
    unsigned char bytes, size; /* which of the four; what the later write wrote at once */
    bool across;               /* the other thread is of another block */
};

enum { KS_DISPUTES = 1 << 13, KS_DISPUTE_PROBES = 4 };
static KsDispute ks_disputes[KS_DISPUTES];
static unsigned ks_dispute_count; /* or more */

KS_QUIET static KsDispute *ks_dispute_slot(unsigned long long place, int probe) {
    return &ks_disputes[((place * 0x9E3779B97F4A7C15ull >> 51) + probe) % KS_DISPUTES];
}

KS_QUIET static KsDispute *ks_dispute_at(unsigned long long place) {
    for (int i = 0; ks_dispute_count && i < KS_DISPUTE_PROBES; ++i)
        if (ks_dispute_slot(place, i)->place == place) return ks_dispute_slot(place, i);
    return nullptr;
}

KS_QUIET static unsigned ks_value(unsigned long long place) {
    unsigned value;
    ks_copy((unsigned char *)&value, (const unsigned char *)(place * 4), 4);
    return value;
}

KS_QUIET static bool ks_in_output(unsigned long long place) {
    for (unsigned long long i = 0; i < ks_launch->output_count; ++i)
        if (place * 4 - ks_launch->outputs[i].at < ks_launch->outputs[i].bytes) return true;
    return false;
}

/* As a number; zero for what is none, or is as small as integers that count are. */
KS_QUIET static double ks_number(unsigned bits) {
    const unsigned exponent = bits & 0x7F800000;
    return exponent && exponent != 0x7F800000 ? __builtin_bit_cast(float, bits) : 0.0;
}

KS_QUIET static double ks_size(double number) { return number < 0 ? -number : number; }

/* The largest number in the 128 bytes round a place: sums may cancel, and leave their rounding. */
KS_QUIET static double ks_largest_near(unsigned long long place) {
    double largest = 0.0;
    for (unsigned long long near = place & -32ull; near <= (place | 31); ++near) {
        if (ks_in_output(near) != ks_in_output(place)) continue;
        const double size = ks_size(ks_number(ks_value(near)));
        if (size > largest) largest = size;
    }
    return largest;
}

/* Numbers that differ by rounding alone, as far as bits tell. */
KS_QUIET static bool ks_close_floats(unsigned a, unsigned b, unsigned long long place) {
    if ((a | b) << 1 == 0) return true;
    if (a << 1 > 0xFF000000 && b << 1 > 0xFF000000) return true; /* NaNs */
    const double x = ks_number(a), y = ks_number(b);
    if ((x == 0 && a << 1) || (y == 0 && b << 1)) return false;
    return ks_size(x - y) <= 1e-3 * ks_largest_near(place);
}

/* The same number of float16 or of bfloat16, or one a few steps away. */
KS_QUIET static bool ks_close_halves(unsigned a, unsigned b) {
    const int apart = (int)(a & 0x7FFF) - (int)(b & 0x7FFF);
    if (a == b) return true;
    return (a ^ b) < 0x8000 && (a & 0x7FFF) >= 0x400 && (b & 0x7FFF) >= 0x400 && apart <= 4 &&
           apart >= -4;
}

KS_QUIET static bool ks_close_doubles(unsigned long long a, unsigned long long b) {
    const double x = __builtin_bit_cast(double, a), y = __builtin_bit_cast(double, b);
    return ks_size(x - y) <= 1e-10 * ks_size(x);
}

/* The place's value with what the other thread wrote in its stead. */
KS_QUIET static unsigned ks_rival(const KsDispute *dispute) {
    unsigned mask = 0;
    for (int i = 0; i < 4; ++i) mask |= (dispute->bytes >> i & 1) * 0xFFu << 8 * i;
    return (dispute->rival & mask) | (ks_value(dispute->place) & ~mask);
}

KS_QUIET static bool ks_differs(const KsDispute *dispute) {
    const unsigned a = ks_rival(dispute), b = ks_value(dispute->place);
    if (a == b || (dispute->bytes == 15 && ks_close_floats(a, b, dispute->place)))
        return false;
    const bool halves = dispute->size == 2 || (a >> 16 && b >> 16);
    if (halves && ks_close_halves(a & 0xFFFF, b & 0xFFFF) && ks_close_halves(a >> 16, b >> 16))
        return false;
    const KsDispute *other = dispute->size >= 8 ? ks_dispute_at(dispute->place ^ 1) : nullptr;
    if (!other) return true;
    const KsDispute *low = dispute->place & 1 ? other : dispute;
    const KsDispute *high = dispute->place & 1 ? dispute : other;
    const unsigned long long top = ks_value(high->place);
    return !ks_close_doubles((unsigned long long)ks_rival(high) << 32 | ks_rival(low),
                             top << 32 | ks_value(low->place));
}

/* A place for one more; none where all that lie near differ. */
KS_QUIET static KsDispute *ks_new_dispute(unsigned long long place) {
    for (int i = 0; i < KS_DISPUTE_PROBES; ++i) {
        KsDispute *slot = ks_dispute_slot(place, i);
        if (!slot->place || !ks_differs(slot)) return slot;
    }
    return nullptr;
}

/* A thread is about to write where last was the last write. */
KS_QUIET static void ks_dispute(const KsWord *last, unsigned long long place, unsigned char bytes,
                                size_t size, int thread, const char *code) {
    const bool here = last->block >= ks_first_block;
    KsDispute *old = ks_dispute_at(place);
    if (!here || ks_ordered(last, thread)) {
        if (old && !(here && old->across && last->block == ks_block_number)) old->place = 0;
        return;
    }
    if (!ks_foreign(last, thread) || last->atomic || !(last->bytes & bytes)) return;
    KsDispute *slot = old ? old : ks_new_dispute(place);
    if (!slot) return;
    ks_dispute_count += slot->place == 0;
    *slot = {place, code, ks_value(place), 0, ks_block_number,
             (unsigned char)(last->bytes & bytes), (unsigned char)(size < 16 ? size : 16),
             last->block != ks_block_number};
}

/* Is what a thread reads a matter of luck? What a launch left counts as long as it is there. */
KS_QUIET static bool ks_reads_luck(unsigned long long place, unsigned char bytes) {
    const KsDispute *dispute = ks_dispute_at(place);
    if (!dispute || !(dispute->bytes & bytes)) return false;
    if (dispute->block < ks_first_block && ks_value(place) != dispute->value) return false;
    if (dispute->block != ks_block_number && ks_in_lds(place)) return false;
    return ks_differs(dispute);
}

/* The launch is through: what it left in outputs is final, the rest may be read later. */
KS_QUIET static void ks_end_launch() {
    if (!ks_dispute_count) return;
    for (KsDispute &dispute : ks_disputes) {
        if (!dispute.place || dispute.block < ks_first_block || !ks_differs(&dispute)) continue;
        if (ks_in_output(dispute.place)) ks_tell(KS_WRITES_ANOTHER_VALUE, dispute.code);
        dispute.value = ks_value(dispute.place);
    }
}

#endif

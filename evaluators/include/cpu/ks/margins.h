/* Writes beside a buffer, in its pages: no page that is hidden ends them there, and those that put
 * back what lay there are found by no comparison. */
#ifndef KS_MARGINS_H
#define KS_MARGINS_H

KS_QUIET static inline void ks_check_inside(unsigned long long address, size_t size,
                                            const char *code) {
    for (unsigned long long i = 0; i < ks_launch->margin_count; ++i) {
        const KsSpan &margin = ks_launch->margins[i];
        if (address - margin.at < margin.bytes || address + size - 1 - margin.at < margin.bytes)
            ks_tell(KS_WRITES_BESIDE, code);
    }
}

#endif

// Random words from a key of 128 bits and a counter: Philox 4x64-10 (Salmon et al., Parallel
// random numbers: as easy as 1, 2, 3, SC 2011), the same that numpy.random.Philox draws.

struct Four {
    Word word[4];
};

__device__ Four random_words(const Word* key, Word block) {
    Word key0 = key[0], key1 = key[1];
    Word c0 = block + 1, c1 = 0, c2 = 0, c3 = 0; // numpy counts before it draws
    for (int round = 0; round < 10; ++round) {
        const Word m0 = 0xD2E7470EE14C6C93ull, m1 = 0xCA5A826395121157ull;
        Word high0 = __umul64hi(m0, c0), low0 = m0 * c0;
        Word high1 = __umul64hi(m1, c2), low1 = m1 * c2;
        c0 = high1 ^ c1 ^ key0, c1 = low1;
        c2 = high0 ^ c3 ^ key1, c3 = low0;
        key0 += 0x9E3779B97F4A7C15ull;
        key1 += 0xBB67AE8584CAA73Bull;
    }
    return Four{{c0, c1, c2, c3}};
}

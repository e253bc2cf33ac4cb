// The functions of launch plans' expressions, as evaluators/expression.py has them.
[[maybe_unused]] long long floor_div(long long a, long long b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
[[maybe_unused]] long long floor_mod(long long a, long long b) { return a - floor_div(a, b) * b; }
[[maybe_unused]] long long ceil_div(long long a, long long b) { return -floor_div(-a, b); }
[[maybe_unused]] long long align_up(long long a, long long b) { return ceil_div(a, b) * b; }
[[maybe_unused]] long long min_of(long long a, long long b) { return b < a ? b : a; }
[[maybe_unused]] long long max_of(long long a, long long b) { return b > a ? b : a; }
[[maybe_unused]] long long log2_ceil(long long a) {
    long long bits = 0;
    while (bits < 63 && (1LL << bits) < a) ++bits;
    return bits;
}
[[maybe_unused]] double floor_of(double a) { // of what a long long holds
    return (double)(long long)a - ((double)(long long)a > a);
}
[[maybe_unused]] double floor_div(double a, double b) { return floor_of(a / b); }
[[maybe_unused]] double floor_mod(double a, double b) { return a - floor_of(a / b) * b; }
[[maybe_unused]] double ceil_div(double a, double b) { return -floor_of(-a / b); }
[[maybe_unused]] double align_up(double a, double b) { return ceil_div(a, b) * b; }
[[maybe_unused]] double min_of(double a, double b) { return b < a ? b : a; }
[[maybe_unused]] double max_of(double a, double b) { return b > a ? b : a; }
[[maybe_unused]] long long log2_ceil(double a) { return log2_ceil((long long)a); }

/* std::initializer_list, which compilers make of {a, b, c} by its members' order. */
#ifndef KS_INITIALIZER_LIST_H
#define KS_INITIALIZER_LIST_H

namespace std {
template <typename T> class initializer_list {
    const T *first;
    decltype(sizeof 0) count;
    constexpr initializer_list(const T *first, decltype(sizeof 0) count)
        : first(first), count(count) {}

public:
    using value_type = T;
    constexpr initializer_list() : first(nullptr), count(0) {}
    constexpr decltype(sizeof 0) size() const { return count; }
    constexpr const T *begin() const { return first; }
    constexpr const T *end() const { return first + count; }
};
} // namespace std

#endif

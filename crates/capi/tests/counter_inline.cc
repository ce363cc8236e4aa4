// FH_COUNTER_ADD in inline functions and templates that two units have, of which the linker keeps one.
#include "freehold/counter.h"

template <class T>
struct adding {
    static int to(const fh_counter_place *place, T value) { return FH_COUNTER_ADD(place, value); }
};

inline int twice(const fh_counter_place *place) {
    return FH_COUNTER_ADD(place, 1) + adding<unsigned>::to(place, 2);
}

int first(const fh_counter_place *place);
int second(const fh_counter_place *place);

#ifdef FIRST
int first(const fh_counter_place *place) {
    int (*volatile call)(const fh_counter_place *) = twice;
    return call(place);
}

int main() {
    fh_counter *counter;
    fh_counter_place place;
    uint64_t sum = 0;
    if (fh_counter_new(&counter) != FH_OK || fh_counter_get_place(counter, &place) != FH_OK) return 1;
    if (first(&place) != FH_OK || second(&place) != FH_OK) return 1;
    if (fh_counter_get(counter, &sum) != FH_OK || fh_counter_destroy(counter) != FH_OK) return 1;
    return sum != 6;
}
#else
int second(const fh_counter_place *place) {
    int (*volatile call)(const fh_counter_place *) = twice;
    return call(place);
}
#endif

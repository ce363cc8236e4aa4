/* What FH_COUNTER_ADD costs beside the call: its instructions are counted in `counter_add_inline` as it is disassembled, since no
 * tool steps through a restartable sequence; times are the least of ten rounds, by turns. */
#define _GNU_SOURCE
#include "freehold/counter.h"
#include <stdio.h>
#include <time.h>

#define ADDS 1000000
#define ROUNDS 10

__attribute__((noinline)) int counter_add_inline(const fh_counter_place *place, uint64_t value) {
    return FH_COUNTER_ADD(place, value);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
    static fh_counter_place place;
    fh_counter *counter;
    uint64_t sum = 0;
    double least[2] = {1e9, 1e9};
    if (fh_counter_new(&counter) || fh_counter_get_place(counter, &place)) return 2;
    for (int round = 0; round < 2 * ROUNDS; round++) {
        double begin = seconds();
        if (round % 2 == 0)
            for (uint64_t at = 0; at < ADDS; at++) fh_counter_add(counter, at);
        else
            for (uint64_t at = 0; at < ADDS; at++) FH_COUNTER_ADD(&place, at);
        double took = (seconds() - begin) / ADDS * 1e9;
        if (took < least[round % 2]) least[round % 2] = took;
    }
    if (counter_add_inline(&place, 1) || fh_counter_get(counter, &sum)) return 2;
    if (sum != 2 * ROUNDS * (uint64_t)ADDS / 2 * (ADDS - 1) + 1) return 2;
#ifdef FH_COUNTER_ADD_IS_INLINE
    if (place.area_offset == 0) return 3;
#else
    return 3;
#endif
    printf("%.2f %.2f\n", least[0], least[1]);
    return least[1] > 1.25 * least[0];
}

/* FH_COUNTER_ADD: sums are right while threads are moved, preempted and interrupted by signals whose handler adds as well, and
 * while other adds to the same counters are calls. */
#define _GNU_SOURCE
#include "check.h"
#include "freehold/counter.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define THREADS 6
#define COUNTERS 3

static fh_counter *counters[COUNTERS];
static fh_counter_place places[COUNTERS];
static atomic_ulong in_handlers, moves;
static atomic_bool done;
static pthread_t running[THREADS];

static void on_signal(int signal) {
    (void)signal;
    FH_COUNTER_ADD(&places[0], 1);
    fh_counter_add(counters[1], 1);
    atomic_fetch_add_explicit(&in_handlers, 1, memory_order_relaxed);
}

/* Adds for a second. Returns how often. */
static void *work(void *number) {
    uint64_t *adds = number;
    int bad = 0;
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        for (int at = 0; at < 1000; at++) {
            bad += FH_COUNTER_ADD(&places[0], 1) != FH_OK;
            bad += FH_COUNTER_ADD(&places[2], (uint64_t)-3) != FH_OK;
            if (at % 2 == 0)
                bad += FH_COUNTER_ADD(&places[1], 2) != FH_OK;
            else
                bad += fh_counter_add(counters[1], 2) != FH_OK;
        }
        *adds += 1000;
    }
    return (void *)(size_t)bad;
}

/* Moves threads from CPU to CPU, and interrupts them. */
static void disturb(double seconds) {
    struct timespec begin, now;
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned long round = 0;; round++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) > seconds) return;
        for (unsigned thread = 0; thread < THREADS; thread++) {
            unsigned cpu = (unsigned)(round + thread) % (unsigned)CPU_COUNT(&all);
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            if (CPU_ISSET(cpu, &all) && pthread_setaffinity_np(running[thread], sizeof one, &one) == 0) atomic_fetch_add(&moves, 1);
            pthread_kill(running[thread], SIGUSR1);
        }
    }
}

int main(void) {
    uint64_t adds[THREADS] = {0}, all = 0, sum = 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int at = 0; at < COUNTERS; at++) {
        OK(fh_counter_new(&counters[at]));
        OK(fh_counter_get_place(counters[at], &places[at]));
    }
    CODE(fh_counter_get_place(NULL, &places[0]), FH_ENULL);
    CODE(fh_counter_get_place(counters[0], NULL), FH_ENULL);
#ifdef FH_COUNTER_ADD_IS_INLINE
    if (places[0].area_offset == 0)
        printf("not run inline: this process has no restartable sequences\n");
    else {
        /* In line: the add is in a slot of a CPU. */
        uint64_t before = 0;
        for (unsigned cpu = 0; cpu < places[0].cpus; cpu++) before += *(uint64_t *)((char *)places[0].first + cpu * places[0].stride_bytes);
        FH_COUNTER_ADD(&places[0], 5);
        for (unsigned cpu = 0; cpu < places[0].cpus; cpu++) sum += *(uint64_t *)((char *)places[0].first + cpu * places[0].stride_bytes);
        CHECK(before == 0 && sum == 5);
        OK(fh_counter_reset(counters[0], &sum));
        CHECK(sum == 5);
    }
#else
    printf("not run inline: not for this processor or compiler\n");
#endif
    for (int at = 0; at < THREADS; at++) CHECK(pthread_create(&running[at], NULL, work, &adds[at]) == 0);
    disturb(1.0);
    atomic_store(&done, true);
    for (int at = 0; at < THREADS; at++) {
        void *bad;
        CHECK(pthread_join(running[at], &bad) == 0);
        CHECK(bad == NULL);
        all += adds[at];
    }
    OK(fh_counter_get(counters[0], &sum));
    CHECK(sum == all + in_handlers);
    OK(fh_counter_get(counters[1], &sum));
    CHECK(sum == 2 * all + in_handlers);
    OK(fh_counter_get(counters[2], &sum));
    CHECK(sum == (uint64_t)-3 * all);
    CHECK(in_handlers > 0);
    printf("%llu rounds, %lu moves, %lu signals\n", (unsigned long long)all, moves, in_handlers);
    for (int at = 0; at < COUNTERS; at++) OK(fh_counter_destroy(counters[at]));
    return report("counter");
}

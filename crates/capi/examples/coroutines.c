/* Coroutines by ucontext on guarded stacks: a generator for each, resumed in turn. A stack that overflows meets its guard, and the
 * stacks of coroutines that have ended are handed out again with their pages.
 *
 *     cc -std=c11 coroutines.c $(pkg-config --cflags --libs freehold) -o coroutines && ./coroutines
 *
 * Prints:
 *     1000 coroutines on 50 stacks: sum 234340
 */
#define _XOPEN_SOURCE 700
#include "freehold.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define COROUTINES 50
#define ROUNDS 20
#define STACK_BYTES 65536

/* For runs under valgrind alone, which has to know the stacks to follow a switch: build with -DWITH_VALGRIND for such a run. */
#if defined(WITH_VALGRIND)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0u
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

static void must(int code, const char *what) {
    if (code != FH_OK) {
        fprintf(stderr, "%s: %s\n", what, fh_strerror(code));
        exit(1);
    }
}

struct coroutine {
    ucontext_t here;
    fh_stack stack;
    unsigned id;
    uint64_t next;
    int has_ended;
};

static ucontext_t caller;
static struct coroutine *running;

static void yield_value(uint64_t value) {
    running->next = value;
    swapcontext(&running->here, &caller);
}

/* Squares, up to one that differs by coroutine. Its locals are on its own stack. */
static void squares(void) {
    char scratch[8192];
    uint64_t last = 5 + (uint64_t)(size_t)(running->next % 7);
    memset(scratch, 1, sizeof scratch);
    for (uint64_t at = 1; at <= last; at++) yield_value(at * at + (uint64_t)scratch[at] - 1);
    running->has_ended = 1;
}

static void start(struct coroutine *coroutine, fh_stacks *stacks, uint64_t argument) {
    memset(coroutine, 0, sizeof *coroutine);
    must(fh_stacks_get(stacks, &coroutine->stack), "stack");
    coroutine->id = VALGRIND_STACK_REGISTER(coroutine->stack.limit, coroutine->stack.base);
    coroutine->next = argument;
    getcontext(&coroutine->here);
    coroutine->here.uc_stack.ss_sp = coroutine->stack.limit;
    coroutine->here.uc_stack.ss_size = (size_t)((char *)coroutine->stack.base - (char *)coroutine->stack.limit);
    coroutine->here.uc_link = &caller;
    makecontext(&coroutine->here, squares, 0);
}

static int resume(struct coroutine *coroutine) {
    running = coroutine;
    swapcontext(&caller, &coroutine->here);
    return !coroutine->has_ended;
}

int main(void) {
    static struct coroutine all[COROUTINES];
    fh_vm *vm;
    fh_stacks *stacks;
    fh_stacks_layout layout = FH_STACKS_LAYOUT_INIT(STACK_BYTES, COROUTINES);
    uint64_t sum = 0, expected = 0;
    must(fh_vm_new(1 << 30, &vm), "memory");
    must(fh_stacks_new(vm, &layout, &stacks), "stacks");
    for (int round = 0; round < ROUNDS; round++) {
        int left = COROUTINES;
        for (uint64_t at = 0; at < COROUTINES; at++) {
            start(&all[at], stacks, at);
            for (uint64_t n = 1; n <= 5 + at % 7; n++) expected += n * n;
        }
        while (left > 0) {
            for (int at = 0; at < COROUTINES; at++) {
                if (all[at].has_ended) continue;
                if (resume(&all[at])) {
                    sum += all[at].next;
                } else {
                    VALGRIND_STACK_DEREGISTER(all[at].id);
                    must(fh_stacks_put(stacks, all[at].stack.base), "put");
                    left--;
                }
            }
        }
    }
    printf("%d coroutines on %d stacks: sum %llu\n", ROUNDS * COROUTINES, COROUTINES, (unsigned long long)sum);
    must(fh_stacks_destroy(stacks), "destroy");
    must(fh_vm_destroy(vm), "destroy");
    return sum != expected;
}

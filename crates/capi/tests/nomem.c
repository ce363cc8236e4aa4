/* Every allocation fails in turn, alone and with all that follow. A call that fails returns FH_ENOMEM, has changed nothing, and succeeds when there is memory
 * again. Linked with --wrap, so the library's own malloc is this one. */
/* fork. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_memalign(size_t align, size_t size);

/* Allocations until one is refused; below 0 none is. */
static long until = -1;
static long refused;
/* Whether all that follow are refused, too, until the call returns. */
static int for_good;

static int refuse(void) {
    if (until < 0 || until-- > 0) return 0;
    refused++;
    until = for_good ? 0 : -1;
    return 1;
}

void *__wrap_malloc(size_t size) { return refuse() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuse() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return refuse() ? NULL : __real_realloc(old, size); }
void *__wrap_memalign(size_t align, size_t size) { return refuse() ? NULL : __real_memalign(align, size); }

/* Makes a call with the first, the second ... allocation refused, until it succeeds: because none was refused, or because what was
 * refused was not needed. `unchanged` holds after each refusal that the call returned. */
#define EACH_FAILS(call, unchanged)                                             \
    do {                                                                        \
        long refuse_at = 0, before;                                                    \
        for (;;) {                                                              \
            before = refused;                                                   \
            until = refuse_at++;                                                     \
            int answer = (call);                                                  \
            until = -1;                                                         \
            if (refused == before) {                                            \
                CODE(answer, FH_OK);                                            \
                break;                                                          \
            }                                                                   \
            /* What was refused was not needed, or the call returned it. */     \
            if (answer == FH_OK) {                                              \
                spared++;                                                       \
                break;                                                          \
            }                                                                   \
            CODE(answer, FH_ENOMEM);                                            \
            returned++;                                                         \
            CHECK(unchanged);                                                   \
        }                                                                       \
    } while (0)

static long spared, returned;

static uint64_t regions_of(fh_space *space) {
    fh_space_stats stats;
    stats.size = sizeof stats;
    OK(fh_space_get_stats(space, &stats));
    return stats.regions;
}

static uint64_t shared_regions_of(fh_shared_space *space) {
    fh_space_stats stats;
    stats.size = sizeof stats;
    OK(fh_shared_space_get_stats(space, &stats));
    return stats.regions;
}

static void spaces(void) {
    fh_space *space = NULL;
    fh_request request = FH_REQUEST_INIT(0x1000);
    fh_span place;
    fh_region region;
    fh_move *move = NULL;
    uint8_t *bytes = NULL;
    size_t len = 0;
    EACH_FAILS(fh_space_new(span(0, UINT32_MAX), 4096, FH_LOWEST, &space), space == NULL);
    for (uint64_t at = 0; at < 300; at++)
        EACH_FAILS(fh_space_alloc(space, &request, value(at), &place, NULL), regions_of(space) == at);
    for (uint64_t at = 0; at < 100; at++)
        EACH_FAILS(fh_space_alloc_at(space, span(0x10000000 + at * 0x2000, 0x10000fff + at * 0x2000), 0, value(at), NULL),
                   regions_of(space) == 300 + at);
    OK(fh_space_alloc_at(space, span(0x30000000, 0x303fffff), 0, value(1), NULL));
    for (uint64_t at = 1; at < 300; at++)
        EACH_FAILS(fh_space_split(space, 0x30000000 + at * 0x1000, NULL, NULL), regions_of(space) == 400 + at);
    for (uint64_t at = 299; at >= 1; at--) {
        until = 0;
        OK(fh_space_merge(space, 0x30000000 + (at - 1) * 0x1000, NULL, NULL));
        until = -1;
    }
    OK(fh_space_free(space, 0x30000000, &region, NULL));
    EACH_FAILS(fh_space_begin_move(space, 0, 0x20000000, &move, NULL), move == NULL);
    until = 0;
    OK(fh_space_commit_move(space, move, NULL));
    until = -1;
    EACH_FAILS(fh_space_free_range(space, span(0x3000, 0x8fff), NULL, NULL, NULL), regions_of(space) == 400);
    EACH_FAILS(fh_space_snapshot(space, NULL, NULL, &bytes, &len), bytes == NULL);
    fh_space *other = NULL;
    EACH_FAILS(fh_space_restore(bytes, len, FH_LOWEST, NULL, NULL, &other), other == NULL);
    free(bytes);
    EACH_FAILS(fh_space_validate(other), 1);
    CHECK(regions_of(other) == regions_of(space));
    OK(fh_space_validate(space));
    OK(fh_space_destroy(space, NULL, NULL));
    OK(fh_space_destroy(other, NULL, NULL));
}

static void shared(void) {
    fh_shared_space *space = NULL;
    fh_request request = FH_REQUEST_INIT(0x1000);
    fh_span place;
    fh_region region;
    EACH_FAILS(fh_shared_space_new(span(0, UINT32_MAX), 4096, FH_LOWEST, &space), space == NULL);
    for (uint64_t at = 0; at < 300; at++) {
        EACH_FAILS(fh_shared_space_alloc(space, &request, value(at), &place, NULL), shared_regions_of(space) == at);
        OK(fh_shared_space_find(space, place.last, &region));
        CHECK(region.value == value(at));
    }
    for (uint64_t at = 0; at < 100; at++)
        EACH_FAILS(fh_shared_space_free(space, at * 0x1000, &region, NULL), shared_regions_of(space) == 300 - at);
    EACH_FAILS(fh_shared_space_validate(space), 1);
    OK(fh_shared_space_destroy(space, NULL, NULL));
}

static void maps(void) {
    fh_map *map = NULL;
    fh_plan *plan = NULL;
    fh_map_transaction *both = NULL;
    uint64_t len;
    EACH_FAILS(fh_map_new(&map), map == NULL);
    for (uint64_t at = 0; at < 300; at++)
        EACH_FAILS(fh_map_store(map, span(at * 10, at * 10 + 7), value(at), NULL, NULL), fh_map_load(map, at * 10) == NULL);
    struct seen old = {0};
    EACH_FAILS(fh_map_store(map, span(13, 22), value(1), see_entry, &old), old.count == 0);
    EACH_FAILS(fh_map_remove_range(map, span(44, 83), see_entry, &old), fh_map_load(map, 60) == value(6));
    EACH_FAILS(fh_map_plan_store(map, span(101, 102), &plan), plan == NULL && fh_map_load(map, 101) == value(10));
    until = 0;
    OK(fh_plan_commit(plan, value(9)));
    until = -1;
    EACH_FAILS(fh_map_transaction_begin(map, &both), both == NULL);
    for (uint64_t at = 30; at < 200; at++)
        EACH_FAILS(fh_map_transaction_store(both, span(at * 10 + 2, at * 10 + 3), value(at)), 1);
    until = 0;
    OK(fh_map_transaction_commit(both));
    until = -1;
    EACH_FAILS(fh_map_validate(map), 1);
    OK(fh_map_len(map, &len));
    CHECK(len > 600);
    fh_map *copy = NULL;
    fh_request request = FH_REQUEST_INIT(3);
    fh_span place;
    uint64_t entries = len;
    EACH_FAILS(fh_map_clone(map, &copy), copy == NULL);
    OK(fh_map_destroy(copy, NULL, NULL));
    for (int at = 0; at < 40; at++, entries++)
        EACH_FAILS(fh_map_alloc(map, &request, at % 2, value(3), &place), fh_map_len(map, &len) == FH_OK && len == entries);
    OK(fh_map_destroy(map, NULL, NULL));
}

static void trees(void) {
    fh_tree *tree = NULL;
    fh_tree_transaction *both = NULL;
    fh_tree_snapshot *then = NULL;
    fh_entry entry;
    EACH_FAILS(fh_tree_new(&tree), tree == NULL);
    for (uint64_t at = 0; at < 300; at++)
        EACH_FAILS(fh_tree_store(tree, span(at * 10, at * 10 + 7), value(at), NULL, NULL), fh_tree_load(tree, at * 10) == NULL);
    struct seen old = {0};
    EACH_FAILS(fh_tree_store(tree, span(13, 22), value(1), see_entry, &old), old.count == 0);
    EACH_FAILS(fh_tree_erase(tree, 55, &entry), fh_tree_load(tree, 55) == value(5));
    EACH_FAILS(fh_tree_remove_range(tree, span(64, 93), see_entry, &old), fh_tree_load(tree, 70) == value(7));
    EACH_FAILS(fh_tree_snapshot_new(tree, &then), then == NULL);
    EACH_FAILS(fh_tree_transaction_begin(tree, &both), both == NULL);
    for (uint64_t at = 30; at < 200; at++)
        EACH_FAILS(fh_tree_transaction_store(both, span(at * 10 + 2, at * 10 + 3), value(1)), fh_tree_load(tree, at * 10 + 2) == value(at));
    until = 0;
    OK(fh_tree_transaction_commit(both));
    until = -1;
    CHECK(fh_tree_load(tree, 302) == value(1));
    OK(fh_tree_snapshot_destroy(then));
    EACH_FAILS(fh_tree_validate(tree), 1);
    OK(fh_tree_destroy(tree, NULL, NULL));
}

static void counts(void) {
    fh_counter *counter = NULL;
    fh_gauge *gauge = NULL;
    fh_histogram *histogram = NULL;
    fh_histogram_snapshot *read = NULL;
    fh_counters *many = NULL;
    fh_registry *registry = NULL;
    const fh_counter *hits = NULL;
    fh_label label = {"path", "/a"};
    char *page = NULL;
    size_t len = 0;
    uint64_t sum = 0;
    EACH_FAILS(fh_counter_new(&counter), counter == NULL);
    until = 0;
    for (int at = 0; at < 10; at++) OK(fh_counter_add(counter, 1));
    OK(fh_counter_get(counter, &sum));
    until = -1;
    CHECK(sum == 10);
    EACH_FAILS(fh_gauge_new(&gauge), gauge == NULL);
    EACH_FAILS(fh_histogram_new(&histogram), histogram == NULL);
    OK(fh_histogram_record(histogram, 5));
    EACH_FAILS(fh_histogram_read(histogram, &read), read == NULL);
    EACH_FAILS(fh_counters_new(1000, &many), many == NULL);
    EACH_FAILS(fh_registry_new(&registry), registry == NULL);
    char name[] = "a0_total";
    for (int at = 0; at < 50; at++) {
        name[0] = (char)('a' + at % 26);
        name[1] = (char)('0' + at / 26);
        EACH_FAILS(fh_registry_counter(registry, name, &label, 1, &hits), 1);
    }
    EACH_FAILS(fh_registry_render(registry, 0, &page, &len), page == NULL);
    free(page);
    page = NULL;
    /* A family of more than 64 KiB, and buckets. */
    char text[256];
    fh_label long_label = {"path", text};
    const fh_gauge *depth = NULL;
    const fh_histogram *latency = NULL;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int at = 0; at < 500; at++) {
        text[0] = (char)('a' + at % 26);
        text[1] = (char)('a' + at / 26);
        OK(fh_registry_gauge(registry, "depth", &long_label, 1, &depth));
    }
    EACH_FAILS(fh_registry_histogram(registry, "latency_seconds", &label, 1, 1e9, &latency), 1);
    OK(fh_histogram_record(latency, 1000));
    for (uint32_t is_open = 0; is_open < 2; is_open++) {
        EACH_FAILS(fh_registry_render(registry, is_open, &page, &len), page == NULL);
        CHECK(len > 100000);
        free(page);
        page = NULL;
    }
    OK(fh_registry_destroy(registry));
    OK(fh_counters_destroy(many));
    OK(fh_histogram_snapshot_destroy(read));
    OK(fh_histogram_destroy(histogram));
    OK(fh_gauge_destroy(gauge));
    OK(fh_counter_destroy(counter));
}

static void pooled(void) {
    fh_pooled *pooled = NULL;
    fh_span places[200];
    EACH_FAILS(fh_pooled_new(span(0x10000000, 0x1fffffff), 4096, &pooled), pooled == NULL);
    for (uint64_t at = 0; at < 200; at++)
        EACH_FAILS(fh_pooled_alloc(pooled, 4096 * (1 + at % 20), &places[at]), 1);
    EACH_FAILS(fh_pooled_validate(pooled), 1);
    until = 0;
    for (int at = 0; at < 200; at++) OK(fh_pooled_free(pooled, places[at].first, NULL));
    until = -1;
    OK(fh_pooled_destroy(pooled));
}

static void memory(void) {
    fh_vm *vm = NULL;
    fh_slots *slots = NULL;
    fh_stacks *stacks = NULL;
    void *block = NULL;
    fh_slots_layout layout = FH_SLOTS_LAYOUT_INIT(8192, 8);
    fh_stacks_layout of = FH_STACKS_LAYOUT_INIT(65536, 8);
    EACH_FAILS(fh_vm_new(1 << 30, &vm), vm == NULL);
    EACH_FAILS(fh_vm_alloc(vm, 10000, 0, &block, NULL), block == NULL);
    OK(fh_vm_free(vm, block, 10000));
    EACH_FAILS(fh_slots_new(vm, &layout, &slots), slots == NULL);
    EACH_FAILS(fh_stacks_new(vm, &of, &stacks), stacks == NULL);
    OK(fh_slots_destroy(slots));
    OK(fh_stacks_destroy(stacks));
    EACH_FAILS(fh_vm_validate(vm), 1);
    OK(fh_vm_destroy(vm));
}

static int first_counter(void) {
    fh_counter *counter;
    return fh_counter_new(&counter);
}

static int first_gauge(void) {
    fh_gauge *gauge;
    return fh_gauge_new(&gauge);
}

static int first_histogram(void) {
    fh_histogram *histogram;
    return fh_histogram_new(&histogram);
}

static int first_vm(void) {
    fh_vm *vm;
    return fh_vm_new(1 << 24, &vm);
}

static int first_pooled(void) {
    fh_span span = {0, 0xfffff};
    fh_pooled *pooled;
    return fh_pooled_new(span, 4096, &pooled);
}

/* The first call of a process also makes what all later ones use: with the nth allocation refused, and for good. */
static void firsts(void) {
    int (*const calls[])(void) = {first_counter, first_gauge, first_histogram, first_vm, first_pooled};
    for (size_t at = 0; at < sizeof calls / sizeof calls[0]; at++) {
        int status = 1;
        for (long nth = 0; nth < 300 && status != 0; nth++) {
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                until = nth;
                for_good = 1;
                int answer = calls[at]();
                until = -1;
                if ((answer != FH_OK && answer != FH_ENOMEM) || calls[at]() != FH_OK) _exit(2);
                _exit(refused > 0);
            }
            CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) < 2);
        }
        CHECK(status == 0);
    }
}

int main(void) {
    firsts();
    EACH_FAILS(fh_thread_register(), 1);
    for (for_good = 0; for_good < 2; for_good++) {
        spaces();
        shared();
        maps();
        pooled();
        trees();
        counts();
        memory();
    }
    printf("%ld allocations refused: %ld returned as FH_ENOMEM, %ld done without\n", refused, returned, spared);
    CHECK(returned > 100);
    return report("nomem");
}

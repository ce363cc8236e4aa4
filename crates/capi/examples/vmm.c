/* A bus of a virtual machine: windows, devices that are plugged in, moved and taken out, and virtual CPUs that look up the device of
 * an address without a lock.
 *
 *     cc -std=c11 vmm.c $(pkg-config --cflags --libs freehold) -lpthread -o vmm && ./vmm
 *
 * Prints:
 *     at 0xc000d000: the place is taken, by device 3
 *     500 rounds; look-ups found their devices: yes
 */
#include "freehold.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CPUS 3
#define DEVICES 16
#define ROUNDS 500

static void must(int code, const char *what) {
    if (code != FH_OK) {
        fprintf(stderr, "%s: %s\n", what, fh_strerror(code));
        exit(1);
    }
}

struct device {
    uint64_t number;
    atomic_uint_fast64_t reads;
};

static fh_shared_space *bus;
static atomic_int stop;
static const fh_span low_window = {0xc0000000, 0xffffffff};

/* A virtual CPU: what a guest's read of an address does. */
static void *cpu(void *ctx) {
    uint64_t seed = (uint64_t)(size_t)ctx, found = 0;
    must(fh_thread_register(), "register");
    while (!atomic_load(&stop)) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t address = low_window.first + (seed >> 33) % 0x100000;
        fh_region region;
        must(fh_read_enter(), "enter");
        /* The device stays in place until the exit, even if it is unplugged meanwhile. */
        if (fh_shared_space_find(bus, address, &region) == FH_OK) {
            struct device *device = region.value;
            atomic_fetch_add_explicit(&device->reads, 1, memory_order_relaxed);
            found++;
        }
        must(fh_read_exit(), "exit");
    }
    return (void *)(size_t)found;
}

static struct device *device_new(uint64_t number) {
    struct device *device = calloc(1, sizeof *device);
    if (device == NULL) exit(1);
    device->number = number;
    return device;
}

/* Takes a device out. Its memory goes once no virtual CPU can be in it. */
static void unplug(uint64_t first) {
    fh_region region;
    must(fh_shared_space_free(bus, first, &region, NULL), "unplug");
    must(fh_synchronize(), "synchronize");
    free(region.value);
}

static int give_back(void *ctx, const fh_region *region) {
    struct device *device = region->value;
    *(uint64_t *)ctx += atomic_load(&device->reads);
    free(device);
    return 0;
}

int main(void) {
    fh_span all = {0, UINT64_MAX}, bars[DEVICES];
    fh_request request = FH_REQUEST_INIT(0x4000);
    pthread_t threads[CPUS];
    must(fh_shared_space_new(all, 0x1000, FH_LOWEST, &bus), "bus");
    request.align_bytes = 0x4000;
    request.window = low_window;
    for (uint64_t at = 0; at < DEVICES; at++)
        must(fh_shared_space_alloc(bus, &request, device_new(at), &bars[at], NULL), "plug");

    /* A place that is taken: the error says by whom. */
    fh_conflict conflict = FH_CONFLICT_INIT;
    struct device *late = device_new(99);
    fh_span wanted = {bars[3].first + 0x1000, bars[3].first + 0x1fff};
    int code = fh_shared_space_alloc_at(bus, wanted, 0, late, &conflict);
    if (code != FH_EOCCUPIED) {
        fprintf(stderr, "a place that is taken: %s\n", fh_strerror(code));
        return 1;
    }
    printf("at %#llx: %s, by device %llu\n", (unsigned long long)wanted.first, fh_strerror(code),
           (unsigned long long)((struct device *)conflict.value)->number);
    free(late);

    for (size_t at = 0; at < CPUS; at++)
        if (pthread_create(&threads[at], NULL, cpu, (void *)(at + 1)) != 0) return 1;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        /* Hot-plug, a move in two phases, and hot-unplug. */
        fh_span bar;
        fh_move *move;
        must(fh_shared_space_alloc(bus, &request, device_new(100 + round), &bar, NULL), "plug");
        must(fh_shared_space_begin_move(bus, bar.first, bar.first + 0x40000, &move, NULL), "begin");
        must(fh_shared_space_commit_move(bus, move, &bar), "commit");
        unplug(bar.first);
    }
    atomic_store(&stop, 1);
    uint64_t found = 0, reads = 0;
    for (size_t at = 0; at < CPUS; at++) {
        void *result;
        if (pthread_join(threads[at], &result) != 0) return 1;
        found += (uint64_t)(size_t)result;
    }
    must(fh_shared_space_validate(bus), "validate");
    must(fh_shared_space_destroy(bus, give_back, &reads), "destroy");
    /* Devices that were unplugged took their reads with them. */
    printf("%d rounds; look-ups found their devices: %s\n", ROUNDS, reads <= found ? "yes" : "no");
    return reads > found;
}

/* The extents of a disk: which file has which blocks. A write cuts what was there, free space is found from both ends, and a change
 * of several extents is made at once or not at all.
 *
 *     cc -std=c11 extents.c $(pkg-config --cflags --libs freehold) -o extents && ./extents
 *
 * Prints:
 *     overwritten:
 *          900..=999    mail
 *         2000..=2099   logs
 *     lowest free run of 4096: 4096
 *     highest free run of 4096: 94208
 *     extents:
 *            0..=899    mail
 *         2100..=2499   logs
 *         8192..=9391   data
 */
#include "freehold.h"
#include <stdio.h>
#include <stdlib.h>

static void must(int code, const char *what) {
    if (code != FH_OK) {
        fprintf(stderr, "%s: %s\n", what, fh_strerror(code));
        exit(1);
    }
}

static fh_span blocks(uint64_t first, uint64_t count) {
    fh_span span = {first, first + count - 1};
    return span;
}

/* Prints an extent, or a part of one, and counts it. */
static int show(void *ctx, const fh_entry *extent) {
    printf("  %6llu..=%-6llu %s\n", (unsigned long long)extent->span.first, (unsigned long long)extent->span.last,
           (const char *)extent->value);
    ++*(int *)ctx;
    return 0;
}

int main(void) {
    static char mail[] = "mail", logs[] = "logs", data[] = "data";
    fh_span disk = {0, 99999}, gap;
    fh_map *extents;
    int shown = 0, lost = 0;
    must(fh_map_new(&extents), "map");
    must(fh_map_store(extents, blocks(0, 1000), mail, NULL, NULL), "store");
    must(fh_map_store(extents, blocks(2000, 500), logs, NULL, NULL), "store");

    /* `show` gets the parts that are cut away. What is left of both extents stays in the map. */
    printf("overwritten:\n");
    must(fh_map_store(extents, blocks(900, 1200), data, show, &lost), "store");

    /* A map counts indexes, here blocks, whatever a block's size is: 4096 blocks, from a multiple of 4096 on. */
    fh_request request = FH_REQUEST_INIT(4096);
    request.align_bytes = 4096;
    request.window = disk;
    must(fh_map_lowest_gap(extents, &request, &gap), "lowest gap");
    printf("lowest free run of 4096: %llu\n", (unsigned long long)gap.first);
    must(fh_map_highest_gap(extents, &request, &gap), "highest gap");
    printf("highest free run of 4096: %llu\n", (unsigned long long)gap.first);

    /* A file is moved: both changes are made, or none. */
    fh_map_transaction *move;
    must(fh_map_transaction_begin(extents, &move), "begin");
    must(fh_map_transaction_remove_range(move, blocks(900, 1200)), "remove");
    must(fh_map_transaction_store(move, blocks(8192, 1200), data), "store");
    must(fh_map_transaction_commit(move), "commit");

    printf("extents:\n");
    must(fh_map_for_each(extents, disk, show, &shown), "for each");
    must(fh_map_validate(extents), "validate");
    must(fh_map_destroy(extents, NULL, NULL), "destroy");
    return shown != 3 || lost != 2;
}

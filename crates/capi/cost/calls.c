/* The calls of the library that `calls.rs` makes in Rust: the same state, the same number of calls. */
#include "freehold.h"

#define CALLS 1000
#define STEP 0x4000

int main(void) {
    fh_tree *tree;
    fh_space *space;
    fh_counter *counter;
    fh_span all = {0, UINT64_MAX};
    uint64_t found = 0;
    if (fh_tree_new(&tree) || fh_space_new(all, 0x1000, FH_LOWEST, &space) || fh_counter_new(&counter)) return 1;
    for (uint64_t at = 0; at < CALLS; at++) {
        fh_span place = {at * STEP, at * STEP + 0xfff};
        if (fh_tree_store(tree, place, &found, NULL, NULL) || fh_space_alloc_at(space, place, 0, &found, NULL)) return 1;
    }
    for (uint64_t at = 0; at < CALLS; at++) {
        fh_region region;
        found += fh_tree_load(tree, at * STEP) != NULL;
        found += fh_space_find(space, at * STEP, &region) == FH_OK;
        found += fh_counter_add(counter, at) == FH_OK;
    }
    return found != 3 * CALLS;
}

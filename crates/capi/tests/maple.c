/* Each function of range maps: what it does, and each error that it can return. */
#include "check.h"
#include <pthread.h>

static void maps(void) {
    fh_map *map = NULL;
    fh_entry entry;
    fh_conflict conflict = FH_CONFLICT_INIT;
    fh_span gap;
    CODE(fh_map_new(NULL), FH_ENULL);
    OK(fh_map_new(&map));
    CHECK(fh_map_load(NULL, 0) == NULL && fh_map_load(map, 0) == NULL);
    OK(fh_map_store(map, span(0, 99), value(1), NULL, NULL));
    CODE(fh_map_store(map, span(0, 99), NULL, NULL, NULL), FH_ENULL);
    CODE(fh_map_store(map, span(9, 0), value(1), NULL, NULL), FH_EINVAL);
    struct seen old = {0};
    OK(fh_map_store(map, span(40, 120), value(2), see_entry, &old));
    CHECK(old.count == 1 && old.first.first == 40 && old.first.last == 99 && old.first_value == value(1));
    CHECK(fh_map_load(map, 39) == value(1) && fh_map_load(map, 40) == value(2));
    CODE(fh_map_insert(map, span(110, 130), value(3), &conflict), FH_EOCCUPIED);
    CHECK(conflict.span.first == 40 && conflict.value == value(2));
    OK(fh_map_insert(map, span(200, 299), value(3), NULL));
    OK(fh_map_find(map, 250, &entry));
    CHECK(entry.span.first == 200 && entry.value == value(3));
    CODE(fh_map_find(map, 150, &entry), FH_ENOENT);
    OK(fh_map_next(map, 150, &entry));
    CHECK(entry.span.first == 200);
    CODE(fh_map_next(map, 300, &entry), FH_ENOENT);
    OK(fh_map_prev(map, 150, &entry));
    CHECK(entry.span.last == 120);
    fh_request request = FH_REQUEST_INIT(50);
    OK(fh_map_lowest_gap(map, &request, &gap));
    CHECK(gap.first == 121 && gap.last == 170);
    request.align_bytes = 64;
    request.window = span(0, 1023);
    OK(fh_map_highest_gap(map, &request, &gap));
    CHECK(gap.first == 960);
    request.size_bytes = 2000;
    CODE(fh_map_lowest_gap(map, &request, &gap), FH_ENOSPC);
    request.guard_bytes = 1;
    CODE(fh_map_highest_gap(map, &request, &gap), FH_EINVAL);
    fh_map *copy = NULL;
    fh_request more = FH_REQUEST_INIT(50);
    OK(fh_map_clone(map, &copy));
    OK(fh_map_alloc(copy, &more, 0, value(7), &gap));
    CHECK(gap.first == 121 && gap.last == 170 && fh_map_load(copy, 170) == value(7) && fh_map_load(map, 170) == NULL);
    OK(fh_map_alloc(copy, &more, 1, value(8), &gap));
    CHECK(gap.last == UINT64_MAX);
    CODE(fh_map_alloc(copy, &more, 2, value(8), &gap), FH_EENUM);
    CODE(fh_map_alloc(copy, &more, 0, NULL, &gap), FH_ENULL);
    CODE(fh_map_alloc(copy, &request, 0, value(8), &gap), FH_EINVAL);
    more.window = span(130, 175);
    CODE(fh_map_alloc(copy, &more, 0, value(8), &gap), FH_ENOSPC);
    OK(fh_map_validate(copy));
    OK(fh_map_destroy(copy, NULL, NULL));
    CODE(fh_map_clone(NULL, &copy), FH_ENULL);
    uint64_t len = 0;
    OK(fh_map_len(map, &len));
    CHECK(len == 3);
    struct seen all = {0}, gaps = {0};
    CHECK(fh_map_for_each(map, ALL, see_entry, &all) == 0 && all.count == 3);
    CHECK(fh_map_for_each_gap(map, ALL, see_span, &gaps) == 0 && gaps.count == 2);
    CHECK(gaps.last.last == UINT64_MAX);

    fh_plan *plan = NULL;
    OK(fh_map_plan_store(map, span(10, 19), &plan));
    CODE(fh_map_erase(map, 10, NULL), FH_EBUSY);
    CODE(fh_map_destroy(map, NULL, NULL), FH_EBUSY);
    CHECK(fh_map_load(map, 10) == NULL);
    CODE(fh_plan_commit(plan, NULL), FH_ENULL);
    OK(fh_plan_commit(plan, value(4)));
    CHECK(fh_map_load(map, 19) == value(4));
    OK(fh_map_plan_store(map, span(10, 19), &plan));
    OK(fh_plan_cancel(plan));
    CHECK(fh_map_load(map, 19) == value(4));

    fh_map_transaction *both = NULL;
    for (int commit = 0; commit < 2; commit++) {
        OK(fh_map_transaction_begin(map, &both));
        CODE(fh_map_validate(map), FH_EBUSY);
        OK(fh_map_transaction_store(both, span(500, 509), value(5)));
        OK(fh_map_transaction_remove_range(both, span(0, 5)));
        OK(fh_map_transaction_find(both, 505, &entry));
        CHECK(entry.value == value(5));
        struct seen inside = {0};
        CHECK(fh_map_transaction_for_each(both, span(0, 15), see_entry, &inside) == 0 && inside.count == 2);
        OK(commit ? fh_map_transaction_commit(both) : fh_map_transaction_cancel(both));
        CHECK((fh_map_load(map, 505) == value(5)) == commit && (fh_map_load(map, 3) == NULL) == commit);
    }
    OK(fh_map_erase(map, 505, &entry));
    CHECK(entry.span.first == 500 && entry.value == value(5));
    CODE(fh_map_erase(map, 505, &entry), FH_ENOENT);
    struct seen gone = {0};
    OK(fh_map_remove_range(map, span(15, 45), see_entry, &gone));
    CHECK(gone.count == 3 && gone.first_value == value(4) && gone.last.last == 45);
    OK(fh_map_validate(map));
    struct seen left = {0};
    OK(fh_map_destroy(map, see_entry, &left));
    CHECK(left.count == 4);
}

static void *commits_foreign(void *transaction) {
    /* Another thread's transaction is refused, and stays. */
    CODE(fh_tree_transaction_commit((fh_tree_transaction *)transaction), FH_EBUSY);
    CODE(fh_tree_transaction_store((fh_tree_transaction *)transaction, span(1, 1), value(1)), FH_EBUSY);
    return NULL;
}

static void trees(void) {
    fh_tree *tree = NULL;
    fh_entry entry;
    fh_conflict conflict = FH_CONFLICT_INIT;
    fh_span place;
    OK(fh_thread_register());
    OK(fh_tree_new(&tree));
    CHECK(fh_tree_load(NULL, 0) == NULL && fh_tree_load(tree, 0) == NULL);
    OK(fh_tree_store(tree, span(0, 99), value(1), NULL, NULL));
    CODE(fh_tree_store(tree, span(0, 99), NULL, NULL, NULL), FH_ENULL);
    struct seen old = {0};
    OK(fh_tree_store(tree, span(40, 120), value(2), see_entry, &old));
    CHECK(old.count == 1 && old.first.first == 40 && old.first.last == 99 && old.first_value == value(1));
    CODE(fh_tree_insert(tree, span(110, 130), value(3), &conflict), FH_EOCCUPIED);
    CHECK(conflict.span.first == 40 && conflict.value == value(2));
    OK(fh_tree_insert(tree, span(200, 299), value(3), NULL));
    CHECK(fh_tree_load(tree, 250) == value(3));
    OK(fh_tree_find(tree, 250, &entry));
    CHECK(entry.span.last == 299);
    OK(fh_tree_next(tree, 150, &entry));
    CHECK(entry.span.first == 200);
    OK(fh_tree_prev(tree, 150, &entry));
    CHECK(entry.span.last == 120);
    CODE(fh_tree_next(tree, 300, &entry), FH_ENOENT);
    fh_request request = FH_REQUEST_INIT(64);
    request.window = span(0, 1023);
    request.align_bytes = 64;
    OK(fh_tree_lowest_gap(tree, &request, &place));
    CHECK(place.first == 128);
    OK(fh_tree_highest_gap(tree, &request, &place));
    CHECK(place.first == 960);
    CODE(fh_tree_lowest_gap(tree, &request, NULL), FH_ENULL);
    OK(fh_tree_alloc(tree, &request, 0, value(4), &place));
    CHECK(place.first == 128);
    OK(fh_tree_alloc(tree, &request, 1, value(5), &place));
    CHECK(place.first == 960 && fh_tree_load(tree, 1023) == value(5));
    CODE(fh_tree_alloc(tree, &request, 2, value(5), &place), FH_EENUM);
    request.size_bytes = 2000;
    CODE(fh_tree_alloc(tree, &request, 0, value(5), &place), FH_ENOSPC);
    CODE(fh_tree_highest_gap(tree, &request, &place), FH_ENOSPC);
    uint64_t len = 0;
    OK(fh_tree_len(tree, &len));
    CHECK(len == 5);
    struct seen all = {0}, gaps = {0};
    CHECK(fh_tree_for_each(tree, ALL, see_entry, &all) == 0 && all.count == 5);
    CHECK(fh_tree_for_each_gap(tree, span(0, 959), see_span, &gaps) == 0 && gaps.count == 3);

    fh_tree_snapshot *before = NULL;
    OK(fh_tree_snapshot_new(tree, &before));
    CODE(fh_tree_destroy(tree, NULL, NULL), FH_EBUSY);
    fh_tree_transaction *both = NULL;
    for (int commit = 0; commit < 2; commit++) {
        OK(fh_tree_transaction_begin(tree, &both));
        fh_tree_transaction *second = NULL;
        CODE(fh_tree_transaction_begin(tree, &second), FH_EBUSY);
        CODE(fh_tree_store(tree, span(1, 1), value(1), NULL, NULL), FH_EBUSY);
        CODE(fh_tree_store(tree, span(1, 1), value(1), see_entry, &all), FH_EBUSY);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, commits_foreign, both) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        OK(fh_tree_transaction_store(both, span(500, 509), value(6)));
        OK(fh_tree_transaction_remove_range(both, span(0, 5)));
        CODE(fh_tree_transaction_insert(both, span(505, 520), value(7), &conflict), FH_EOCCUPIED);
        CHECK(conflict.value == value(6));
        OK(fh_tree_transaction_find(both, 505, &entry));
        CHECK(fh_tree_load(tree, 505) == NULL && fh_tree_load(tree, 3) == value(1));
        OK(commit ? fh_tree_transaction_commit(both) : fh_tree_transaction_cancel(both));
        CHECK((fh_tree_load(tree, 505) == value(6)) == commit && (fh_tree_load(tree, 3) == NULL) == commit);
    }
    OK(fh_tree_snapshot_find(before, 3, &entry));
    CHECK(entry.value == value(1));
    CODE(fh_tree_snapshot_find(before, 505, &entry), FH_ENOENT);
    struct seen then = {0};
    CHECK(fh_tree_snapshot_for_each(before, ALL, see_entry, &then) == 0 && then.count == 5);
    OK(fh_tree_snapshot_destroy(before));

    OK(fh_tree_erase(tree, 505, &entry));
    CHECK(entry.span.first == 500 && entry.value == value(6));
    CODE(fh_tree_erase(tree, 505, &entry), FH_ENOENT);
    struct seen gone = {0};
    OK(fh_tree_remove_range(tree, span(30, 50), see_entry, &gone));
    CHECK(gone.count == 2 && gone.last.last == 50);
    OK(fh_tree_remove_range(tree, span(60, 61), NULL, NULL));
    OK(fh_tree_validate(tree));
    struct seen left = {0};
    OK(fh_tree_destroy(tree, see_entry, &left));
    CHECK(left.count == 6);
}

int main(void) {
    maps();
    trees();
    return report("maple");
}

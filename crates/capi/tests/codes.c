/* Codes that the header documents and no other test reaches: NULL for each pointer that is not optional, sizes, ends, and places. */
#include "check.h"
#include <pthread.h>

static fh_conflict unsized_conflict = {0, {0, 0}, NULL, 0};
static fh_request unsized_request = {0, 1, 1, 0, {0, UINT64_MAX}};
static fh_request backwards = {sizeof(fh_request), 1, 1, 0, {2, 1}};
static const fh_span wrong = {9, 0};

static void spaces_of_null(void) {
    fh_span place;
    uint8_t *bytes;
    size_t len;
    CODE(fh_space_free(NULL, 0, NULL, NULL), FH_ENULL);
    CODE(fh_space_free_range(NULL, ALL, NULL, NULL, NULL), FH_ENULL);
    CODE(fh_space_for_each_free(NULL, see_span, NULL), FH_ENULL);
    CODE(fh_space_snapshot(NULL, NULL, NULL, &bytes, &len), FH_ENULL);
    CODE(fh_space_get_stats(NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_new(ALL, 1, FH_LOWEST, NULL), FH_ENULL);
    CODE(fh_shared_space_destroy(NULL, NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_alloc(NULL, &backwards, NULL, &place, NULL), FH_ENULL);
    CODE(fh_shared_space_alloc_at(NULL, ALL, 0, NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_free(NULL, 0, NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_find(NULL, 0, NULL), FH_ENULL);
    CODE(fh_shared_space_resize(NULL, 0, 1, NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_begin_move(NULL, 0, 1, NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_commit_move(NULL, NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_cancel_move(NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_for_each(NULL, ALL, see_region, NULL), FH_ENULL);
    CODE(fh_shared_space_snapshot(NULL, NULL, NULL, &bytes, &len), FH_ENULL);
    CODE(fh_shared_space_get_stats(NULL, NULL), FH_ENULL);
    CODE(fh_shared_space_validate(NULL), FH_ENULL);
}

static void spaces(void) {
    fh_space *space = NULL;
    fh_move *move = NULL, *second = NULL;
    OK(fh_space_new(span(0, 0xffff), 4096, FH_LOWEST, &space));
    OK(fh_space_alloc_at(space, span(0, 0x1fff), 0x1000, value(1), NULL));
    OK(fh_space_alloc_at(space, span(0x8000, 0x9fff), 0, value(2), NULL));
    CODE(fh_space_alloc_at(space, span(1, 0x1000), 0, NULL, NULL), FH_EINVAL);
    CODE(fh_space_alloc_at(space, span(0xf000, 0x10fff), 0, NULL, NULL), FH_ERANGE);
    CODE(fh_space_alloc_at(space, span(0x4000, 0x4fff), 0, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_space_free(space, 0, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_space_free_range(space, ALL, NULL, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_space_merge(space, 0, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_space_for_each(space, wrong, see_region, NULL), FH_EINVAL);
    CODE(fh_space_resize(space, 0, 0x1000, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_space_resize(space, 0, 1, NULL, NULL), FH_EINVAL);
    CODE(fh_space_resize(space, 0x8000, 0x9000, NULL, NULL), FH_ERANGE);
    CODE(fh_space_resize(space, 0x1000, 0x1000, NULL, NULL), FH_EINTERIOR);
    CODE(fh_space_resize(space, 0x4000, 0x1000, NULL, NULL), FH_EFREE);
    CODE(fh_space_resize(space, 0x10000, 0x1000, NULL, NULL), FH_ENOENT);
    CODE(fh_space_begin_move(space, 0, 0x4000, &move, &unsized_conflict), FH_ESIZE);
    CODE(fh_space_begin_move(space, 0, 1, &move, NULL), FH_EINVAL);
    CODE(fh_space_begin_move(space, 0, 0xf000, &move, NULL), FH_ERANGE);
    CODE(fh_space_begin_move(space, 0x1000, 0x4000, &move, NULL), FH_EINTERIOR);
    CODE(fh_space_begin_move(space, 0x4000, 0, &move, NULL), FH_EFREE);
    CODE(fh_space_begin_move(space, 0x10000, 0, &move, NULL), FH_ENOENT);
    OK(fh_space_alloc_at(space, span(0x3000, 0x3fff), 0, value(1), NULL));
    CODE(fh_space_merge(space, 0, NULL, NULL), FH_EINVAL);
    OK(fh_space_begin_move(space, 0x8000, 0xc000, &move, NULL));
    CODE(fh_space_begin_move(space, 0x8000, 0xc000, &second, NULL), FH_EMOVING);
    CODE(fh_space_resize(space, 0x8000, 0x1000, NULL, NULL), FH_EMOVING);
    CODE(fh_space_split(space, 0x9000, NULL, NULL), FH_EMOVING);
    CODE(fh_space_free_range(space, ALL, NULL, NULL, NULL), FH_EMOVING);
    OK(fh_space_cancel_move(space, move));
    OK(fh_space_destroy(space, NULL, NULL));
}

static void shared_spaces(void) {
    fh_shared_space *space = NULL, *other = NULL;
    fh_request request = FH_REQUEST_INIT(0x1000);
    fh_span place = {5, 5};
    fh_move *move = NULL, *second = NULL;
    uint8_t byte = 0;
    fh_space_stats stats = {0};
    CODE(fh_shared_space_new(wrong, 1, FH_LOWEST, &space), FH_EINVAL);
    CODE(fh_shared_space_restore(&byte, 1, FH_LOWEST, NULL, NULL, &space), FH_EFORMAT);
    CODE(fh_shared_space_restore(&byte, 1, 9, NULL, NULL, &space), FH_EENUM);
    CODE(fh_shared_space_restore(NULL, 1, FH_LOWEST, NULL, NULL, &space), FH_ENULL);
    OK(fh_shared_space_new(span(0, 0xffff), 4096, FH_LOWEST, &space));
    OK(fh_shared_space_new(span(0, 0xffff), 4096, FH_LOWEST, &other));
    OK(fh_shared_space_alloc_at(space, span(0, 0x1fff), 0, value(1), NULL));
    OK(fh_shared_space_alloc_at(space, span(0x8000, 0x9fff), 0, value(2), NULL));
    CODE(fh_shared_space_alloc(space, &unsized_request, NULL, &place, NULL), FH_ESIZE);
    CODE(fh_shared_space_alloc(space, &backwards, NULL, &place, NULL), FH_EINVAL);
    request.window = span(0x10000, 0x20000);
    CODE(fh_shared_space_alloc(space, &request, NULL, &place, NULL), FH_ERANGE);
    request.window = span(0, 0xfff);
    CODE(fh_shared_space_alloc(space, &request, NULL, &place, NULL), FH_EOCCUPIED);
    CHECK(place.first == 5 && place.last == 5);
    CODE(fh_shared_space_alloc_at(space, span(1, 0x1000), 0, NULL, NULL), FH_EINVAL);
    CODE(fh_shared_space_alloc_at(space, span(0xf000, 0x10fff), 0, NULL, NULL), FH_ERANGE);
    CODE(fh_shared_space_alloc_at(space, span(0x4000, 0x4fff), 0, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_shared_space_free(space, 0, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_shared_space_free(space, 0x1000, NULL, NULL), FH_EINTERIOR);
    CODE(fh_shared_space_free(space, 0x10000, NULL, NULL), FH_ENOENT);
    CODE(fh_shared_space_resize(space, 0, 0x1000, NULL, &unsized_conflict), FH_ESIZE);
    CODE(fh_shared_space_resize(space, 0, 1, NULL, NULL), FH_EINVAL);
    CODE(fh_shared_space_resize(space, 0, 0x9000, NULL, NULL), FH_EOCCUPIED);
    CODE(fh_shared_space_resize(space, 0x8000, 0x9000, NULL, NULL), FH_ERANGE);
    CODE(fh_shared_space_resize(space, 0x1000, 0x1000, NULL, NULL), FH_EINTERIOR);
    CODE(fh_shared_space_resize(space, 0x4000, 0x1000, NULL, NULL), FH_EFREE);
    CODE(fh_shared_space_resize(space, 0x10000, 0x1000, NULL, NULL), FH_ENOENT);
    CODE(fh_shared_space_begin_move(space, 0, 0x4000, &move, &unsized_conflict), FH_ESIZE);
    CODE(fh_shared_space_begin_move(space, 0, 1, &move, NULL), FH_EINVAL);
    CODE(fh_shared_space_begin_move(space, 0, 0x8000, &move, NULL), FH_EOCCUPIED);
    CODE(fh_shared_space_begin_move(space, 0, 0xf000, &move, NULL), FH_ERANGE);
    CODE(fh_shared_space_begin_move(space, 0x1000, 0x4000, &move, NULL), FH_EINTERIOR);
    CODE(fh_shared_space_begin_move(space, 0x4000, 0, &move, NULL), FH_EFREE);
    CODE(fh_shared_space_begin_move(space, 0x10000, 0, &move, NULL), FH_ENOENT);
    CODE(fh_shared_space_for_each(space, wrong, see_region, NULL), FH_EINVAL);
    CODE(fh_shared_space_get_stats(space, &stats), FH_ESIZE);
    OK(fh_shared_space_begin_move(space, 0x8000, 0xc000, &move, NULL));
    CODE(fh_shared_space_begin_move(space, 0x8000, 0xc000, &second, NULL), FH_EMOVING);
    CODE(fh_shared_space_resize(space, 0x8000, 0x1000, NULL, NULL), FH_EMOVING);
    CODE(fh_shared_space_free(space, 0x8000, NULL, NULL), FH_EMOVING);
    CODE(fh_shared_space_commit_move(other, move, NULL), FH_ESTALE);
    CODE(fh_shared_space_cancel_move(other, move), FH_ESTALE);
    OK(fh_shared_space_cancel_move(space, move));
    OK(fh_shared_space_destroy(other, NULL, NULL));
    OK(fh_shared_space_destroy(space, NULL, NULL));
}

static void pooled(void) {
    fh_pooled *pool = NULL;
    fh_request request = FH_REQUEST_INIT(0x1000);
    fh_pooled_stats stats = {0};
    fh_span place;
    CODE(fh_pooled_new(ALL, 1, NULL), FH_ENULL);
    CODE(fh_pooled_destroy(NULL), FH_ENULL);
    CODE(fh_pooled_alloc(NULL, 1, &place), FH_ENULL);
    CODE(fh_pooled_alloc_request(NULL, &request, &place), FH_ENULL);
    CODE(fh_pooled_free(NULL, 0, NULL), FH_ENULL);
    CODE(fh_pooled_find(NULL, 0, &place), FH_ENULL);
    CODE(fh_pooled_trim(NULL, NULL), FH_ENULL);
    CODE(fh_pooled_get_stats(NULL, &stats), FH_ENULL);
    CODE(fh_pooled_validate(NULL), FH_ENULL);
    OK(fh_pooled_new(span(0, 0xfffff), 4096, &pool));
    CODE(fh_pooled_alloc_request(pool, &unsized_request, &place), FH_ESIZE);
    CODE(fh_pooled_alloc_request(pool, &backwards, &place), FH_EINVAL);
    request.window = span(0x100000, 0x200000);
    CODE(fh_pooled_alloc_request(pool, &request, &place), FH_ERANGE);
    CODE(fh_pooled_free(pool, 0x100000, NULL), FH_ENOENT);
    CODE(fh_pooled_find(pool, 0x100000, &place), FH_ENOENT);
    CODE(fh_pooled_get_stats(pool, &stats), FH_ESIZE);
    OK(fh_pooled_destroy(pool));
}

static void maps_of_null(void) {
    fh_request request = FH_REQUEST_INIT(1);
    fh_span gap;
    fh_entry entry;
    CODE(fh_map_destroy(NULL, NULL, NULL), FH_ENULL);
    CODE(fh_map_find(NULL, 0, &entry), FH_ENULL);
    CODE(fh_map_next(NULL, 0, &entry), FH_ENULL);
    CODE(fh_map_prev(NULL, 0, &entry), FH_ENULL);
    CODE(fh_map_insert(NULL, ALL, value(1), NULL), FH_ENULL);
    CODE(fh_map_erase(NULL, 0, NULL), FH_ENULL);
    CODE(fh_map_remove_range(NULL, ALL, NULL, NULL), FH_ENULL);
    CODE(fh_map_lowest_gap(NULL, &request, &gap), FH_ENULL);
    CODE(fh_map_highest_gap(NULL, &request, &gap), FH_ENULL);
    CODE(fh_map_for_each(NULL, ALL, see_entry, NULL), FH_ENULL);
    CODE(fh_map_for_each_gap(NULL, ALL, see_span, NULL), FH_ENULL);
    CODE(fh_map_len(NULL, NULL), FH_ENULL);
    CODE(fh_map_validate(NULL), FH_ENULL);
    CODE(fh_map_plan_store(NULL, ALL, NULL), FH_ENULL);
    CODE(fh_plan_cancel(NULL), FH_ENULL);
    CODE(fh_map_transaction_begin(NULL, NULL), FH_ENULL);
    CODE(fh_map_transaction_store(NULL, ALL, value(1)), FH_ENULL);
    CODE(fh_map_transaction_remove_range(NULL, ALL), FH_ENULL);
    CODE(fh_map_transaction_find(NULL, 0, &entry), FH_ENULL);
    CODE(fh_map_transaction_for_each(NULL, ALL, see_entry, NULL), FH_ENULL);
    CODE(fh_map_transaction_commit(NULL), FH_ENULL);
    CODE(fh_map_transaction_cancel(NULL), FH_ENULL);
}

static void maps(void) {
    fh_map *map = NULL, *copy = NULL;
    fh_request request = FH_REQUEST_INIT(1);
    fh_span gap;
    fh_entry entry;
    uint64_t len;
    fh_plan *plan = NULL, *second = NULL;
    fh_map_transaction *both = NULL, *more = NULL;
    OK(fh_map_new(&map));
    CODE(fh_map_prev(map, 5, &entry), FH_ENOENT);
    CODE(fh_map_insert(map, wrong, value(1), NULL), FH_EINVAL);
    CODE(fh_map_insert(map, ALL, value(1), &unsized_conflict), FH_ESIZE);
    CODE(fh_map_remove_range(map, wrong, NULL, NULL), FH_EINVAL);
    CODE(fh_map_lowest_gap(map, &backwards, &gap), FH_EINVAL);
    CODE(fh_map_lowest_gap(map, &unsized_request, &gap), FH_ESIZE);
    CODE(fh_map_highest_gap(map, &unsized_request, &gap), FH_ESIZE);
    CODE(fh_map_alloc(map, &unsized_request, 0, value(1), &gap), FH_ESIZE);
    CODE(fh_map_for_each(map, wrong, see_entry, NULL), FH_EINVAL);
    CODE(fh_map_for_each_gap(map, wrong, see_span, NULL), FH_EINVAL);
    CODE(fh_map_plan_store(map, wrong, &plan), FH_EINVAL);
    OK(fh_map_store(map, span(0, 9), value(1), NULL, NULL));
    request.window = span(0, 9);
    CODE(fh_map_highest_gap(map, &request, &gap), FH_ENOSPC);
    OK(fh_map_plan_store(map, span(0, 1), &plan));
    CODE(fh_map_plan_store(map, span(0, 1), &second), FH_EBUSY);
    CODE(fh_map_transaction_begin(map, &both), FH_EBUSY);
    CODE(fh_map_clone(map, &copy), FH_EBUSY);
    CODE(fh_map_find(map, 0, &entry), FH_EBUSY);
    CODE(fh_map_next(map, 0, &entry), FH_EBUSY);
    CODE(fh_map_prev(map, 0, &entry), FH_EBUSY);
    CODE(fh_map_store(map, ALL, value(1), NULL, NULL), FH_EBUSY);
    CODE(fh_map_insert(map, ALL, value(1), NULL), FH_EBUSY);
    CODE(fh_map_remove_range(map, ALL, NULL, NULL), FH_EBUSY);
    CODE(fh_map_lowest_gap(map, &request, &gap), FH_EBUSY);
    CODE(fh_map_highest_gap(map, &request, &gap), FH_EBUSY);
    CODE(fh_map_alloc(map, &request, 0, value(1), &gap), FH_EBUSY);
    CODE(fh_map_for_each(map, ALL, see_entry, NULL), FH_EBUSY);
    CODE(fh_map_for_each_gap(map, ALL, see_span, NULL), FH_EBUSY);
    CODE(fh_map_len(map, &len), FH_EBUSY);
    OK(fh_plan_cancel(plan));
    OK(fh_map_transaction_begin(map, &both));
    CODE(fh_map_transaction_begin(map, &more), FH_EBUSY);
    CODE(fh_map_transaction_store(both, wrong, value(1)), FH_EINVAL);
    CODE(fh_map_transaction_remove_range(both, wrong), FH_EINVAL);
    CODE(fh_map_transaction_for_each(both, wrong, see_entry, NULL), FH_EINVAL);
    CODE(fh_map_transaction_find(both, 10, &entry), FH_ENOENT);
    OK(fh_map_transaction_cancel(both));
    OK(fh_map_destroy(map, NULL, NULL));
}

static void trees_of_null(void) {
    fh_request request = FH_REQUEST_INIT(1);
    fh_span gap;
    fh_entry entry;
    CODE(fh_tree_new(NULL), FH_ENULL);
    CODE(fh_tree_destroy(NULL, NULL, NULL), FH_ENULL);
    CODE(fh_tree_find(NULL, 0, &entry), FH_ENULL);
    CODE(fh_tree_next(NULL, 0, &entry), FH_ENULL);
    CODE(fh_tree_prev(NULL, 0, &entry), FH_ENULL);
    CODE(fh_tree_insert(NULL, ALL, value(1), NULL), FH_ENULL);
    CODE(fh_tree_erase(NULL, 0, NULL), FH_ENULL);
    CODE(fh_tree_remove_range(NULL, ALL, NULL, NULL), FH_ENULL);
    CODE(fh_tree_highest_gap(NULL, &request, &gap), FH_ENULL);
    CODE(fh_tree_alloc(NULL, &request, 0, value(1), &gap), FH_ENULL);
    CODE(fh_tree_for_each(NULL, ALL, see_entry, NULL), FH_ENULL);
    CODE(fh_tree_for_each_gap(NULL, ALL, see_span, NULL), FH_ENULL);
    CODE(fh_tree_len(NULL, NULL), FH_ENULL);
    CODE(fh_tree_validate(NULL), FH_ENULL);
    CODE(fh_tree_snapshot_new(NULL, NULL), FH_ENULL);
    CODE(fh_tree_snapshot_find(NULL, 0, &entry), FH_ENULL);
    CODE(fh_tree_snapshot_for_each(NULL, ALL, see_entry, NULL), FH_ENULL);
    CODE(fh_tree_snapshot_destroy(NULL), FH_ENULL);
    CODE(fh_tree_transaction_begin(NULL, NULL), FH_ENULL);
    CODE(fh_tree_transaction_store(NULL, ALL, value(1)), FH_ENULL);
    CODE(fh_tree_transaction_insert(NULL, ALL, value(1), NULL), FH_ENULL);
    CODE(fh_tree_transaction_remove_range(NULL, ALL), FH_ENULL);
    CODE(fh_tree_transaction_find(NULL, 0, &entry), FH_ENULL);
    CODE(fh_tree_transaction_commit(NULL), FH_ENULL);
    CODE(fh_tree_transaction_cancel(NULL), FH_ENULL);
}

static void *foreign(void *of_another) {
    fh_tree_transaction *both = (fh_tree_transaction *)of_another;
    fh_entry entry;
    CODE(fh_tree_transaction_insert(both, span(1, 1), value(1), NULL), FH_EBUSY);
    CODE(fh_tree_transaction_remove_range(both, span(1, 1)), FH_EBUSY);
    CODE(fh_tree_transaction_find(both, 1, &entry), FH_EBUSY);
    CODE(fh_tree_transaction_cancel(both), FH_EBUSY);
    return NULL;
}

static void trees(void) {
    fh_tree *tree = NULL;
    fh_request request = FH_REQUEST_INIT(1);
    fh_span gap;
    fh_entry entry;
    fh_tree_snapshot *before = NULL;
    fh_tree_transaction *both = NULL;
    pthread_t thread;
    OK(fh_tree_new(&tree));
    CODE(fh_tree_find(tree, 5, &entry), FH_ENOENT);
    CODE(fh_tree_prev(tree, 5, &entry), FH_ENOENT);
    CODE(fh_tree_store(tree, wrong, value(1), NULL, NULL), FH_EINVAL);
    CODE(fh_tree_insert(tree, wrong, value(1), NULL), FH_EINVAL);
    CODE(fh_tree_insert(tree, ALL, value(1), &unsized_conflict), FH_ESIZE);
    CODE(fh_tree_remove_range(tree, wrong, NULL, NULL), FH_EINVAL);
    CODE(fh_tree_lowest_gap(tree, &backwards, &gap), FH_EINVAL);
    CODE(fh_tree_highest_gap(tree, &backwards, &gap), FH_EINVAL);
    CODE(fh_tree_alloc(tree, &backwards, 0, value(1), &gap), FH_EINVAL);
    CODE(fh_tree_lowest_gap(tree, &unsized_request, &gap), FH_ESIZE);
    CODE(fh_tree_highest_gap(tree, &unsized_request, &gap), FH_ESIZE);
    CODE(fh_tree_alloc(tree, &unsized_request, 0, value(1), &gap), FH_ESIZE);
    CODE(fh_tree_for_each(tree, wrong, see_entry, NULL), FH_EINVAL);
    CODE(fh_tree_for_each_gap(tree, wrong, see_span, NULL), FH_EINVAL);
    OK(fh_tree_store(tree, span(0, 9), value(1), NULL, NULL));
    request.window = span(0, 9);
    CODE(fh_tree_lowest_gap(tree, &request, &gap), FH_ENOSPC);
    OK(fh_tree_snapshot_new(tree, &before));
    CODE(fh_tree_snapshot_for_each(before, wrong, see_entry, NULL), FH_EINVAL);
    OK(fh_tree_snapshot_destroy(before));
    OK(fh_tree_transaction_begin(tree, &both));
    CODE(fh_tree_transaction_store(both, wrong, value(1)), FH_EINVAL);
    CODE(fh_tree_transaction_insert(both, wrong, value(1), NULL), FH_EINVAL);
    CODE(fh_tree_transaction_insert(both, ALL, value(1), &unsized_conflict), FH_ESIZE);
    CODE(fh_tree_transaction_remove_range(both, wrong), FH_EINVAL);
    CODE(fh_tree_transaction_find(both, 10, &entry), FH_ENOENT);
    CODE(fh_tree_insert(tree, span(20, 29), value(1), NULL), FH_EBUSY);
    CODE(fh_tree_erase(tree, 0, NULL), FH_EBUSY);
    CODE(fh_tree_remove_range(tree, ALL, NULL, NULL), FH_EBUSY);
    request.window = span(0, 99);
    CODE(fh_tree_alloc(tree, &request, 0, value(1), &gap), FH_EBUSY);
    CHECK(pthread_create(&thread, NULL, foreign, both) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    OK(fh_tree_transaction_cancel(both));
    OK(fh_tree_destroy(tree, NULL, NULL));
}

static void counters(void) {
    fh_registry *registry = NULL;
    const fh_counter *counter = NULL;
    const fh_gauge *gauge = NULL;
    const fh_histogram *histogram = NULL;
    CODE(fh_counter_destroy(NULL), FH_ENULL);
    CODE(fh_counter_reset(NULL, NULL), FH_ENULL);
    CODE(fh_counters_new(1, NULL), FH_ENULL);
    CODE(fh_counters_destroy(NULL), FH_ENULL);
    CODE(fh_counters_get(NULL, NULL, 0), FH_ENULL);
    CODE(fh_gauge_new(NULL), FH_ENULL);
    CODE(fh_gauge_destroy(NULL), FH_ENULL);
    CODE(fh_gauge_add(NULL, 1), FH_ENULL);
    CODE(fh_gauge_set(NULL, 1), FH_ENULL);
    CODE(fh_gauge_get(NULL, NULL), FH_ENULL);
    CODE(fh_histogram_new(NULL), FH_ENULL);
    CODE(fh_histogram_destroy(NULL), FH_ENULL);
    CODE(fh_histogram_record(NULL, 1), FH_ENULL);
    CODE(fh_histogram_read(NULL, NULL), FH_ENULL);
    CODE(fh_histogram_snapshot_destroy(NULL), FH_ENULL);
    CODE(fh_histogram_snapshot_count(NULL, NULL), FH_ENULL);
    CODE(fh_histogram_snapshot_quantile(NULL, 0.5, NULL, NULL), FH_ENULL);
    CODE(fh_registry_new(NULL), FH_ENULL);
    CODE(fh_registry_destroy(NULL), FH_ENULL);
    CODE(fh_registry_gauge(NULL, "x", NULL, 0, &gauge), FH_ENULL);
    CODE(fh_registry_histogram(NULL, "x", NULL, 0, 1, &histogram), FH_ENULL);
    CODE(fh_registry_render(NULL, 0, NULL, NULL), FH_ENULL);
    OK(fh_registry_new(&registry));
    OK(fh_registry_gauge(registry, "open", NULL, 0, &gauge));
    CODE(fh_registry_counter(registry, "open", NULL, 0, &counter), FH_EOCCUPIED);
    CODE(fh_registry_histogram(registry, "open", NULL, 0, 1, &histogram), FH_EOCCUPIED);
    CODE(fh_registry_gauge(registry, "no name", NULL, 0, &gauge), FH_EINVAL);
    CODE(fh_registry_histogram(registry, "wait", NULL, 0, 0, &histogram), FH_EINVAL);
    OK(fh_registry_histogram(registry, "wait", NULL, 0, 1, &histogram));
    CODE(fh_registry_histogram(registry, "wait", NULL, 0, 2, &histogram), FH_EINVAL);
    OK(fh_registry_destroy(registry));
}

static void chunk_sets(void) {
    fh_chunk_set *set = NULL;
    fh_offset offset;
    CODE(fh_chunk_set_new(4096, 1, NULL), FH_ENULL);
    CODE(fh_chunk_set_destroy(NULL), FH_ENULL);
    CODE(fh_chunk_set_alloc(NULL, 8, 8, &offset), FH_ENULL);
    CODE(fh_chunk_set_get_stats(NULL, NULL), FH_ENULL);
    CODE(fh_chunk_set_validate(NULL), FH_ENULL);
    OK(fh_chunk_set_new(65536, 1, &set));
    OK(fh_chunk_set_alloc(set, 8, 8, &offset));
    CODE(fh_chunk_set_free(NULL, offset, NULL), FH_ENULL);
    offset.offset_bytes = 65536;
    CODE(fh_chunk_set_free(set, offset, NULL), FH_EINVAL);
    OK(fh_chunk_set_destroy(set));
}

static void memory(void) {
    fh_vm *vm = NULL;
    fh_slots *slots = NULL;
    fh_stacks *stacks = NULL;
    fh_slots *most = NULL;
    /* Too many for the reservation; then most of it. */
    fh_slots_layout layout = FH_SLOTS_LAYOUT_INIT(4096, 1 << 24);
    fh_stacks_layout of = FH_STACKS_LAYOUT_INIT(0, 1);
    uint64_t number;
    CODE(fh_vm_new(1, &vm), FH_EINVAL);
    CODE(fh_vm_destroy(NULL), FH_ENULL);
    CODE(fh_vm_alloc(NULL, 1, 0, NULL, NULL), FH_ENULL);
    CODE(fh_vm_find(NULL, NULL, NULL, NULL), FH_ENULL);
    CODE(fh_vm_release_idle(NULL, NULL), FH_ENULL);
    CODE(fh_vm_resident_bytes(NULL, NULL), FH_ENULL);
    CODE(fh_vm_validate(NULL), FH_ENULL);
    CODE(fh_slots_new(NULL, &layout, &slots), FH_ENULL);
    CODE(fh_slots_destroy(NULL), FH_ENULL);
    CODE(fh_slots_get(NULL, NULL), FH_ENULL);
    CODE(fh_slots_put(NULL, &number), FH_ENULL);
    CODE(fh_slots_find(NULL, &number, &number), FH_ENULL);
    CODE(fh_stacks_new(NULL, &of, &stacks), FH_ENULL);
    CODE(fh_stacks_destroy(NULL), FH_ENULL);
    CODE(fh_stacks_get(NULL, NULL), FH_ENULL);
    CODE(fh_stacks_find(NULL, &number, &number), FH_ENULL);
    OK(fh_vm_new(1 << 30, &vm));
    CODE(fh_slots_new(vm, &layout, &slots), FH_EINVAL);
    CODE(fh_stacks_new(vm, &of, &stacks), FH_EINVAL);
    of.size = 0;
    CODE(fh_stacks_new(vm, &of, &stacks), FH_ESIZE);
    layout.count = 1 << 17;
    OK(fh_slots_new(vm, &layout, &most));
    CODE(fh_slots_new(vm, &layout, &slots), FH_ENOSPC);
    of = (fh_stacks_layout)FH_STACKS_LAYOUT_INIT(1 << 19, 1 << 10);
    CODE(fh_stacks_new(vm, &of, &stacks), FH_ENOSPC);
    OK(fh_slots_destroy(most));
    of.count = 1;
    OK(fh_stacks_new(vm, &of, &stacks));
    CODE(fh_stacks_find(stacks, &number, &number), FH_ENOENT);
    OK(fh_stacks_destroy(stacks));
    OK(fh_vm_destroy(vm));
}

int main(void) {
    spaces_of_null();
    spaces();
    shared_spaces();
    pooled();
    maps_of_null();
    maps();
    trees_of_null();
    trees();
    counters();
    chunk_sets();
    memory();
    return report("codes");
}

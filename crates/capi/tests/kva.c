/* Each function of address spaces: what it does, and each error that it can return. */
#include "check.h"

static uint64_t save(void *ctx, void *at) {
    ++*(int *)ctx;
    return (uint64_t)((char *)at - (char *)value(0));
}

static int load(void *ctx, uint64_t number, void **at) {
    ++*(int *)ctx;
    *at = value((size_t)number);
    return number == 99;
}

static void spaces(void) {
    fh_space *space = NULL;
    fh_request request = FH_REQUEST_INIT(0x2000);
    fh_conflict conflict = FH_CONFLICT_INIT;
    fh_region region = {{1, 1}, NULL};
    fh_span place = {5, 5};

    CODE(fh_space_new(span(9, 0), 1, FH_LOWEST, &space), FH_EINVAL);
    CODE(fh_space_new(span(0, 0xffff), 3, FH_LOWEST, &space), FH_EINVAL);
    CODE(fh_space_new(span(0, 0xffff), 4096, 3, &space), FH_EENUM);
    CODE(fh_space_new(span(0, 0xffff), 4096, FH_LOWEST, NULL), FH_ENULL);
    CHECK(space == NULL);
    OK(fh_space_new(span(0, 0xffff), 4096, FH_LOWEST, &space));

    OK(fh_space_alloc(space, &request, value(1), &place, NULL));
    CHECK(place.first == 0 && place.last == 0x1fff);
    CODE(fh_space_alloc(NULL, &request, value(1), &place, NULL), FH_ENULL);
    CODE(fh_space_alloc(space, NULL, value(1), &place, NULL), FH_ENULL);
    CODE(fh_space_alloc(space, &request, value(1), NULL, NULL), FH_ENULL);
    request.size = 8;
    CODE(fh_space_alloc(space, &request, value(1), &place, NULL), FH_ESIZE);
    request.size = sizeof request;
    request.size_bytes = 0;
    CODE(fh_space_alloc(space, &request, value(1), &place, NULL), FH_EINVAL);
    request.size_bytes = 0x10000;
    CODE(fh_space_alloc(space, &request, value(1), &place, &conflict), FH_ENOSPC);
    CHECK(conflict.largest_free_bytes == 0xe000 && place.first == 0);
    /* More than the whole space. */
    conflict.largest_free_bytes = 1;
    request.size_bytes = 0x20000;
    CODE(fh_space_alloc(space, &request, value(1), &place, &conflict), FH_ENOSPC);
    CHECK(conflict.largest_free_bytes == 0xe000);
    conflict.size = 1;
    CODE(fh_space_alloc(space, &request, value(1), &place, &conflict), FH_ESIZE);
    conflict.size = sizeof conflict;
    request.size_bytes = 0x1000;
    request.window = span(0x100000, 0x200000);
    CODE(fh_space_alloc(space, &request, value(1), &place, NULL), FH_ERANGE);
    request.window = span(2, 1);
    CODE(fh_space_alloc(space, &request, value(1), &place, NULL), FH_EINVAL);

    OK(fh_space_alloc_at(space, span(0x4000, 0x4fff), 0x1000, value(2), NULL));
    CODE(fh_space_alloc_at(space, span(0x1000, 0x2fff), 0, value(3), &conflict), FH_EOCCUPIED);
    CHECK(conflict.span.first == 0 && conflict.span.last == 0x1fff && conflict.value == value(1));
    CODE(fh_space_alloc_at(space, span(0x5000, 0x5fff), 0, value(3), NULL), FH_EOCCUPIED);
    CODE(fh_space_alloc_at(NULL, span(0x5000, 0x5fff), 0, value(3), NULL), FH_ENULL);

    request.window = span(0x1000, 0x1fff);
    CODE(fh_space_alloc(space, &request, value(3), &place, &conflict), FH_EOCCUPIED);
    CHECK(conflict.value == value(1));

    OK(fh_space_find(space, 0x1234, &region));
    CHECK(region.span.last == 0x1fff && region.value == value(1));
    CODE(fh_space_find(space, 0x3000, &region), FH_ENOENT);
    CODE(fh_space_find(NULL, 0, &region), FH_ENULL);
    CODE(fh_space_find(space, 0, NULL), FH_ENULL);

    OK(fh_space_resize(space, 0, 0x3000, &place, NULL));
    CHECK(place.last == 0x2fff);
    CODE(fh_space_resize(space, 0, 0x5000, NULL, &conflict), FH_EOCCUPIED);
    CHECK(conflict.span.first == 0x4000 && conflict.value == value(2));
    CODE(fh_space_resize(NULL, 0, 0x5000, NULL, NULL), FH_ENULL);

    fh_span above;
    OK(fh_space_split(space, 0x1000, &place, &above));
    CHECK(place.first == 0 && place.last == 0xfff && above.first == 0x1000 && above.last == 0x2fff);
    OK(fh_space_find(space, 0x1000, &region));
    CHECK(region.span.first == 0x1000 && region.value == value(1));
    CODE(fh_space_split(space, 0x1000, NULL, NULL), FH_EINVAL);
    CODE(fh_space_split(space, 0x1234, NULL, NULL), FH_EINVAL);
    CODE(fh_space_split(space, 0x3000, NULL, NULL), FH_EFREE);
    CODE(fh_space_split(space, UINT64_MAX - 0xfff, NULL, NULL), FH_ENOENT);
    CODE(fh_space_split(NULL, 0x1000, NULL, NULL), FH_ENULL);
    CODE(fh_space_merge(space, 0x1000, NULL, NULL), FH_ENOENT);
    CODE(fh_space_merge(space, 0x3000, NULL, NULL), FH_EFREE);
    OK(fh_space_alloc_at(space, span(0x3000, 0x3fff), 0, value(9), NULL));
    CODE(fh_space_merge(space, 0x1000, NULL, &conflict), FH_EOCCUPIED);
    CHECK(conflict.span.first == 0x3000 && conflict.value == value(9));
    OK(fh_space_free(space, 0x3000, &region, NULL));
    OK(fh_space_merge(space, 0, &place, NULL));
    CHECK(place.first == 0 && place.last == 0x2fff);
    CODE(fh_space_merge(NULL, 0, NULL, NULL), FH_ENULL);

    fh_move *move = NULL;
    OK(fh_space_begin_move(space, 0, 0x8000, &move, NULL));
    CODE(fh_space_free(space, 0, NULL, &conflict), FH_EMOVING);
    CHECK(conflict.span.first == 0 && conflict.value == value(1));
    OK(fh_space_find(space, 0x2fff, &region));
    OK(fh_space_commit_move(space, move, &place));
    CHECK(place.first == 0x8000 && place.last == 0xafff);
    OK(fh_space_begin_move(space, 0x8000, 0, &move, NULL));
    fh_space *other = NULL;
    OK(fh_space_new(span(0, 0xffff), 4096, FH_BEST_FIT, &other));
    CODE(fh_space_commit_move(other, move, NULL), FH_ESTALE);
    CODE(fh_space_cancel_move(other, move), FH_ESTALE);
    OK(fh_space_cancel_move(space, move));
    CODE(fh_space_begin_move(space, 0x8000, 0x4000, &move, &conflict), FH_EOCCUPIED);
    CODE(fh_space_begin_move(space, 0x8000, 0, NULL, NULL), FH_ENULL);
    CODE(fh_space_commit_move(space, NULL, NULL), FH_ENULL);
    CODE(fh_space_cancel_move(space, NULL), FH_ENULL);
    OK(fh_space_destroy(other, NULL, NULL));

    struct seen seen = {0};
    CHECK(fh_space_for_each(space, ALL, see_region, &seen) == 0 && seen.count == 2);
    CHECK(seen.first.first == 0x4000 && seen.last.first == 0x8000 && seen.last_value == value(1));
    struct seen one = {0};
    one.stop_at = 1;
    CHECK(fh_space_for_each(space, ALL, see_region, &one) == 7 && one.count == 1);
    CODE(fh_space_for_each(space, ALL, NULL, NULL), FH_ENULL);
    struct seen gaps = {0};
    CHECK(fh_space_for_each_free(space, see_span, &gaps) == 0 && gaps.count == 3);
    CHECK(gaps.first.first == 0 && gaps.last.last == 0xffff);

    fh_space_stats stats = {0};
    CODE(fh_space_get_stats(space, &stats), FH_ESIZE);
    stats.size = sizeof stats;
    OK(fh_space_get_stats(space, &stats));
    CHECK(stats.regions == 2 && stats.busy_bytes == 0x5000 && stats.free_bytes == 0xb000);

    uint8_t *bytes = NULL;
    size_t len = 0;
    int saved = 0, loaded = 0;
    OK(fh_space_snapshot(space, save, &saved, &bytes, &len));
    OK(fh_space_restore(bytes, len, FH_HIGHEST, load, &loaded, &other));
    CHECK(saved == 2 && loaded == 2);
    OK(fh_space_find(other, 0x8000, &region));
    CHECK(region.value == value(1));
    OK(fh_space_destroy(other, NULL, NULL));
    CODE(fh_space_restore(bytes, len - 1, FH_LOWEST, NULL, NULL, &other), FH_EFORMAT);
    CODE(fh_space_restore(NULL, len, FH_LOWEST, NULL, NULL, &other), FH_ENULL);
    CODE(fh_space_restore(bytes, len, 9, NULL, NULL, &other), FH_EENUM);
    free(bytes);

    CODE(fh_space_free(space, 0x8001, NULL, &conflict), FH_EINTERIOR);
    CHECK(conflict.span.first == 0x8000 && conflict.value == value(1));
    OK(fh_space_free(space, 0x8000, &region, NULL));
    CHECK(region.value == value(1) && region.span.last == 0xafff);
    CODE(fh_space_free(space, 0x8000, &region, NULL), FH_EFREE);
    CODE(fh_space_free(space, UINT64_MAX, &region, NULL), FH_ENOENT);

    OK(fh_space_alloc_at(space, span(0x8000, 0xafff), 0, value(4), NULL));
    struct seen cut = {0};
    OK(fh_space_free_range(space, span(0x9000, 0x9fff), see_region, &cut, NULL));
    CHECK(cut.count == 1 && cut.first.first == 0x9000 && cut.first_value == value(4));
    OK(fh_space_find(space, 0xa000, &region));
    CHECK(region.span.first == 0xa000 && region.value == value(4));
    CODE(fh_space_free_range(space, span(1, 0), NULL, NULL, NULL), FH_EINVAL);
    CODE(fh_space_free_range(space, span(1, 5), NULL, NULL, NULL), FH_EINVAL);
    OK(fh_space_validate(space));
    CODE(fh_space_validate(NULL), FH_ENULL);

    struct seen left = {0};
    OK(fh_space_destroy(space, see_region, &left));
    CHECK(left.count == 3 && left.first_value == value(2) && left.last_value == value(4));
    CODE(fh_space_destroy(NULL, NULL, NULL), FH_ENULL);
}

static void whole_space(void) {
    fh_space *space = NULL;
    fh_span place;
    OK(fh_space_new(ALL, 1, FH_HIGHEST, &space));
    fh_request request = FH_REQUEST_INIT(1);
    OK(fh_space_alloc(space, &request, NULL, &place, NULL));
    CHECK(place.first == UINT64_MAX && place.last == UINT64_MAX);
    OK(fh_space_destroy(space, NULL, NULL));
}

static void shared(void) {
    fh_shared_space *space = NULL;
    fh_request request = FH_REQUEST_INIT(0x1000);
    fh_conflict conflict = FH_CONFLICT_INIT;
    fh_region region;
    fh_span place;
    OK(fh_thread_register());
    CODE(fh_shared_space_new(span(0, 0xffff), 4096, 77, &space), FH_EENUM);
    OK(fh_shared_space_new(span(0, 0xffff), 4096, FH_LOWEST, &space));
    OK(fh_shared_space_alloc(space, &request, value(1), &place, NULL));
    OK(fh_shared_space_alloc_at(space, span(0x4000, 0x4fff), 0, value(2), NULL));
    CODE(fh_shared_space_alloc_at(space, span(0x4000, 0x4fff), 0, value(2), &conflict), FH_EOCCUPIED);
    CHECK(conflict.value == value(2) && conflict.span.last == 0x4fff);
    request.size_bytes = 0x20000;
    CODE(fh_shared_space_alloc(space, &request, value(3), &place, &conflict), FH_ENOSPC);
    CHECK(conflict.largest_free_bytes == 0xb000);
    request.size_bytes = 0x1000;
    OK(fh_read_enter());
    OK(fh_read_enter());
    OK(fh_shared_space_find(space, 0x4abc, &region));
    CHECK(region.value == value(2));
    CODE(fh_synchronize(), FH_EREADING);
    OK(fh_read_exit());
    OK(fh_read_exit());
    CODE(fh_read_exit(), FH_ENOENT);
    OK(fh_synchronize());
    CODE(fh_shared_space_find(space, 0x9000, &region), FH_ENOENT);
    OK(fh_shared_space_resize(space, 0, 0x2000, &place, NULL));
    CHECK(place.last == 0x1fff);
    fh_move *move = NULL;
    OK(fh_shared_space_begin_move(space, 0, 0x8000, &move, NULL));
    OK(fh_shared_space_find(space, 0x1fff, &region));
    OK(fh_shared_space_commit_move(space, move, &place));
    CODE(fh_shared_space_find(space, 0x1fff, &region), FH_ENOENT);
    OK(fh_shared_space_find(space, 0x9fff, &region));
    CHECK(region.value == value(1));
    OK(fh_shared_space_begin_move(space, 0x8000, 0, &move, NULL));
    OK(fh_shared_space_cancel_move(space, move));
    struct seen seen = {0};
    CHECK(fh_shared_space_for_each(space, ALL, see_region, &seen) == 0 && seen.count == 2);
    fh_space_stats stats = {0};
    stats.size = sizeof stats;
    OK(fh_shared_space_get_stats(space, &stats));
    CHECK(stats.regions == 2 && stats.busy_bytes == 0x3000);
    uint8_t *bytes;
    size_t len;
    int calls = 0;
    OK(fh_shared_space_snapshot(space, save, &calls, &bytes, &len));
    fh_shared_space *other = NULL;
    OK(fh_shared_space_restore(bytes, len, FH_LOWEST, load, &calls, &other));
    CHECK(calls == 4);
    free(bytes);
    OK(fh_shared_space_find(other, 0x4000, &region));
    CHECK(region.value == value(2));
    OK(fh_shared_space_destroy(other, NULL, NULL));
    OK(fh_shared_space_free(space, 0x4000, &region, NULL));
    CHECK(region.value == value(2));
    CODE(fh_shared_space_free(space, 0x4000, &region, &conflict), FH_EFREE);
    OK(fh_shared_space_validate(space));
    struct seen left = {0};
    OK(fh_shared_space_destroy(space, see_region, &left));
    CHECK(left.count == 1 && left.first_value == value(1));
}

static void pooled(void) {
    fh_pooled *pool = NULL;
    fh_span a, b, found;
    CODE(fh_pooled_new(span(0, 0x3fffffff), 3, &pool), FH_EINVAL);
    OK(fh_pooled_new(span(0, 0x3fffffff), 4096, &pool));
    CODE(fh_pooled_alloc(pool, 5000, &a), FH_EINVAL);
    OK(fh_pooled_alloc(pool, 8192, &a));
    CHECK(a.last - a.first + 1 >= 8192);
    fh_request request = FH_REQUEST_INIT(0x10000);
    request.align_bytes = 0x10000;
    OK(fh_pooled_alloc_request(pool, &request, &b));
    CHECK(b.first % 0x10000 == 0);
    OK(fh_pooled_find(pool, a.first + 4999, &found));
    CHECK(found.first == a.first);
    fh_pooled_stats stats = {0};
    stats.size = sizeof stats;
    OK(fh_pooled_get_stats(pool, &stats));
    CHECK(stats.blocks == 2);
    CODE(fh_pooled_free(pool, a.first + 1, NULL), FH_EINTERIOR);
    OK(fh_pooled_free(pool, a.first, &found));
    CODE(fh_pooled_free(pool, a.first, &found), FH_EFREE);
    OK(fh_pooled_free(pool, b.first, NULL));
    CODE(fh_pooled_alloc(pool, 0, &a), FH_EINVAL);
    /* All that the space has: one place, which is taken. */
    fh_pooled *whole = NULL;
    OK(fh_pooled_new(span(0, 0xfffff), 4096, &whole));
    OK(fh_pooled_alloc(whole, 4096, &a));
    CODE(fh_pooled_alloc(whole, 0x100000, &a), FH_ENOSPC);
    request.size_bytes = 0x100000;
    CODE(fh_pooled_alloc_request(whole, &request, &a), FH_ENOSPC);
    OK(fh_pooled_destroy(whole));
    uint64_t trimmed = 0;
    OK(fh_pooled_trim(pool, &trimmed));
    OK(fh_pooled_validate(pool));
    OK(fh_pooled_destroy(pool));
}

int main(void) {
    for (int code = 0; code >= -19; code--)
        CHECK(strlen(fh_strerror(code)) > 3 && strcmp(fh_strerror(code), fh_strerror(1)) != 0);
    spaces();
    whole_space();
    shared();
    pooled();
    return report("kva");
}

/* Each function of counters and of what shows them. */
#include "check.h"

static void counters(void) {
    fh_counter *counter = NULL;
    uint64_t sum = 0;
    CODE(fh_counter_new(NULL), FH_ENULL);
    OK(fh_counter_new(&counter));
    OK(fh_counter_add(counter, 3));
    OK(fh_counter_add(counter, UINT64_MAX));
    OK(fh_counter_get(counter, &sum));
    CHECK(sum == 2);
    OK(fh_counter_reset(counter, &sum));
    CHECK(sum == 2);
    OK(fh_counter_get(counter, &sum));
    CHECK(sum == 0);
    CODE(fh_counter_add(NULL, 1), FH_ENULL);
    CODE(fh_counter_get(counter, NULL), FH_ENULL);
    OK(fh_counter_destroy(counter));

    fh_counters *many = NULL;
    uint64_t sums[100];
    OK(fh_counters_new(100, &many));
    for (size_t at = 0; at < 100; at++) OK(fh_counter_add(fh_counters_at(many, at), at));
    CHECK(fh_counters_at(many, 100) == NULL);
    OK(fh_counters_get(many, sums, 100));
    CHECK(sums[0] == 0 && sums[99] == 99);
    CODE(fh_counters_get(many, sums, 99), FH_EINVAL);
    OK(fh_counters_destroy(many));
}

static void gauges(void) {
    fh_gauge *gauge = NULL;
    int64_t now = 0;
    OK(fh_gauge_new(&gauge));
    OK(fh_gauge_add(gauge, -5));
    OK(fh_gauge_get(gauge, &now));
    CHECK(now == -5);
    OK(fh_gauge_set(gauge, 12));
    OK(fh_gauge_get(gauge, &now));
    CHECK(now == 12);
    OK(fh_gauge_destroy(gauge));
}

static void histograms(void) {
    fh_histogram *histogram = NULL;
    fh_histogram_snapshot *read = NULL;
    uint64_t count = 0, least = 0, most = 0;
    OK(fh_histogram_new(&histogram));
    OK(fh_histogram_read(histogram, &read));
    CODE(fh_histogram_snapshot_quantile(read, 0.5, &least, &most), FH_ENOENT);
    OK(fh_histogram_snapshot_destroy(read));
    for (uint64_t at = 1; at <= 1000; at++) OK(fh_histogram_record(histogram, at));
    OK(fh_histogram_read(histogram, &read));
    OK(fh_histogram_snapshot_count(read, &count));
    CHECK(count == 1000);
    OK(fh_histogram_snapshot_quantile(read, 0.5, &least, &most));
    CHECK(least <= 500 && 500 <= most);
    CODE(fh_histogram_snapshot_quantile(read, 1.5, &least, &most), FH_EINVAL);
    OK(fh_histogram_snapshot_destroy(read));
    OK(fh_histogram_destroy(histogram));
}

static int has(const char *page, size_t len, const char *line) {
    size_t wanted = strlen(line);
    for (size_t at = 0; at + wanted <= len; at++)
        if (memcmp(page + at, line, wanted) == 0) return 1;
    return 0;
}

static void registries(void) {
    fh_registry *registry = NULL;
    const fh_counter *hits = NULL, *again = NULL;
    const fh_gauge *open = NULL;
    const fh_histogram *wait = NULL;
    fh_label label = {"path", "/a"};
    OK(fh_registry_new(&registry));
    OK(fh_registry_counter(registry, "hits_total", &label, 1, &hits));
    OK(fh_registry_counter(registry, "hits_total", &label, 1, &again));
    CHECK(hits == again);
    OK(fh_counter_add(hits, 7));
    OK(fh_registry_gauge(registry, "open", NULL, 0, &open));
    OK(fh_gauge_add(open, -2));
    OK(fh_registry_histogram(registry, "wait_seconds", NULL, 0, 1e9, &wait));
    OK(fh_histogram_record(wait, 1000));
    CODE(fh_registry_gauge(registry, "hits_total", &label, 1, &open), FH_EOCCUPIED);
    CODE(fh_registry_counter(registry, "no name", NULL, 0, &hits), FH_EINVAL);
    CODE(fh_registry_counter(registry, NULL, NULL, 0, &hits), FH_ENULL);
    CODE(fh_registry_counter(registry, "x", NULL, 1, &hits), FH_ENULL);
    char *page = NULL;
    size_t len = 0;
    OK(fh_registry_render(registry, 0, &page, &len));
    CHECK(has(page, len, "hits_total{path=\"/a\"} 7\n") && has(page, len, "open -2\n"));
    CHECK(has(page, len, "wait_seconds_count 1\n"));
    free(page);
    OK(fh_registry_render(registry, 1, &page, &len));
    CHECK(has(page, len, "# EOF"));
    free(page);
    CODE(fh_registry_render(registry, 2, &page, &len), FH_EENUM);
    OK(fh_registry_destroy(registry));
}

static void chunk_sets(void) {
    fh_chunk_set *set = NULL;
    fh_offset a, b;
    uint32_t bytes = 0;
    CODE(fh_chunk_set_new(7, 4, &set), FH_EINVAL);
    OK(fh_chunk_set_new(65536, 4, &set));
    OK(fh_chunk_set_alloc(set, 8, 8, &a));
    OK(fh_chunk_set_alloc(set, 16, 16, &b));
    CHECK(a.offset_bytes % 8 == 0 && b.offset_bytes % 16 == 0 && a.offset_bytes != b.offset_bytes);
    CODE(fh_chunk_set_alloc(set, 0, 8, &a), FH_EINVAL);
    fh_chunk_set_stats stats = {0};
    CODE(fh_chunk_set_get_stats(set, &stats), FH_ESIZE);
    stats.size = sizeof stats;
    OK(fh_chunk_set_get_stats(set, &stats));
    CHECK(stats.objects == 2);
    OK(fh_chunk_set_free(set, a, &bytes));
    CHECK(bytes == 8);
    CODE(fh_chunk_set_free(set, a, NULL), FH_EFREE);
    b.offset_bytes += 4;
    CODE(fh_chunk_set_free(set, b, NULL), FH_EINTERIOR);
    b.chunk = 1000;
    CODE(fh_chunk_set_free(set, b, NULL), FH_ENOENT);
    OK(fh_chunk_set_validate(set));
    OK(fh_chunk_set_destroy(set));
}

int main(void) {
    counters();
    gauges();
    histograms();
    registries();
    chunk_sets();
    return report("percpu");
}

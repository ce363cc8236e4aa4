/* The counters of a server: threads count requests, a registry shows them as a page for Prometheus.
 *
 *     cc -std=c11 counters.c $(pkg-config --cflags --libs freehold) -lpthread -o counters && ./counters
 *
 * Prints this, and the buckets of the histogram:
 *     # TYPE open_requests gauge
 *     open_requests 0
 *     # TYPE requests_total counter
 *     requests_total{path="/"} 400000
 *     # TYPE response_bytes histogram
 *     response_bytes_sum 298800000
 *     response_bytes_count 400000
 */
#include "freehold.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define REQUESTS 100000

static void must(int code, const char *what) {
    if (code != FH_OK) {
        fprintf(stderr, "%s: %s\n", what, fh_strerror(code));
        exit(1);
    }
}

static const fh_counter *requests;
static const fh_gauge *open_requests;
static const fh_histogram *bytes;

static void *serve(void *ctx) {
    (void)ctx;
    for (uint64_t at = 0; at < REQUESTS; at++) {
        fh_gauge_add(open_requests, 1);
        fh_counter_add(requests, 1);
        fh_histogram_record(bytes, at % 1500);
        fh_gauge_add(open_requests, -1);
    }
    return NULL;
}

int main(void) {
    fh_registry *registry;
    fh_label label = {"path", "/"};
    pthread_t threads[THREADS];
    must(fh_registry_new(&registry), "registry");
    must(fh_registry_counter(registry, "requests_total", &label, 1, &requests), "counter");
    must(fh_registry_gauge(registry, "open_requests", NULL, 0, &open_requests), "gauge");
    /* No labels. Values are shown divided by 1, that is, as bytes. */
    must(fh_registry_histogram(registry, "response_bytes", NULL, 0, 1, &bytes), "histogram");
    for (size_t at = 0; at < THREADS; at++)
        if (pthread_create(&threads[at], NULL, serve, NULL) != 0) return 1;
    for (size_t at = 0; at < THREADS; at++)
        if (pthread_join(threads[at], NULL) != 0) return 1;

    uint64_t sum;
    char *page;
    size_t len;
    must(fh_counter_get(requests, &sum), "get");
    /* 0: Prometheus' text, 1: OpenMetrics. */
    must(fh_registry_render(registry, 0, &page, &len), "render");
    fwrite(page, 1, len, stdout);
    free(page);
    must(fh_registry_destroy(registry), "destroy");
    return sum != (uint64_t)THREADS * REQUESTS;
}

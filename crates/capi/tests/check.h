/* What the tests share: checks that count and name what fails, and callbacks that collect. */
#ifndef CHECK_H
#define CHECK_H

#include "freehold.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;

#define CHECK(condition)                                                        \
    do {                                                                        \
        checks++;                                                               \
        if (!(condition)) {                                                     \
            failures++;                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
        }                                                                       \
    } while (0)

/* The code of a call, named if it is another. */
#define CODE(call, code)                                                        \
    do {                                                                        \
        int got = (call);                                                       \
        checks++;                                                               \
        if (got != (code)) {                                                    \
            failures++;                                                         \
            fprintf(stderr, "%s:%d: %s: %s, not %s\n", __FILE__, __LINE__,      \
                    #call, fh_strerror(got), #code);                            \
        }                                                                       \
    } while (0)

#define OK(call) CODE(call, FH_OK)

/* A value that no other number has. The library never follows it. */
static inline void *value(size_t number) {
    static char values[4096];
    return &values[number];
}

static inline fh_span span(uint64_t first, uint64_t last) {
    fh_span made = {first, last};
    return made;
}

#define ALL span(0, UINT64_MAX)

/* What callbacks saw: how many, the first and the last, and when to stop. */
struct seen {
    int count, stop_at;
    fh_span first, last;
    void *first_value, *last_value;
};

static inline int saw(struct seen *seen, fh_span at, void *with) {
    if (seen->count++ == 0) {
        seen->first = at;
        seen->first_value = with;
    }
    seen->last = at;
    seen->last_value = with;
    return seen->count == seen->stop_at ? 7 : 0;
}

static inline int see_region(void *ctx, const fh_region *region) {
    return saw((struct seen *)ctx, region->span, region->value);
}

static inline int see_entry(void *ctx, const fh_entry *entry) {
    return saw((struct seen *)ctx, entry->span, entry->value);
}

static inline int see_span(void *ctx, fh_span at) {
    return saw((struct seen *)ctx, at, NULL);
}

/* Not every test uses each of them. */
static inline int report(const char *name) {
    (void)value;
    (void)see_region;
    (void)see_entry;
    (void)see_span;
    printf("%s: %d checks, %d failed\n", name, checks, failures);
    return failures != 0 || checks == 0;
}

#endif

/*
 * An engine from outside: first fit over a sorted list of what is taken. Each request walks the list from its low end.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     cc -O2 -shared -fPIC -I crates/lab/include crates/lab/examples/first_fit.c -o first_fit.so
 *     freehold verify data/vectors/kva/churn_n100.txt.zst --engine so:first_fit.so
 */
#include "freehold_engine.h"
#include <stdlib.h>

struct area {
	uint64_t first, last;
	uint32_t object;
	struct area *next;
};

struct first_fit {
	struct area *areas;		/* ascending */
	struct freehold_span *spans;	/* what was free at first, ascending */
	size_t span_count, area_count;
};

static int ascending(const void *a, const void *b)
{
	const struct freehold_span *one = a, *other = b;

	return (one->first > other->first) - (one->first < other->first);
}

static void *create(const struct freehold_scene *scene)
{
	struct first_fit *it = calloc(1, sizeof(*it));

	if (!it)
		return NULL;
	it->span_count = scene->span_count;
	it->spans = calloc(scene->span_count + 1, sizeof(*it->spans));
	if (!it->spans) {
		free(it);
		return NULL;
	}
	for (size_t i = 0; i < scene->span_count; i++)
		it->spans[i] = scene->spans[i];
	qsort(it->spans, it->span_count, sizeof(*it->spans), ascending);
	return it;
}

/* The lowest multiple of align in low..high with room for size; 0 if there is none, else 1. */
static int fits(uint64_t low, uint64_t high, const struct freehold_op *op, uint64_t *at)
{
	uint64_t mask = op->align - 1;

	if (low < op->first)
		low = op->first;
	if (high > op->last)
		high = op->last;
	if (low > UINT64_MAX - mask)
		return 0;
	low = (low + mask) & ~mask;
	*at = low;
	return low <= high && high - low >= op->size - 1;
}

static void insert(struct first_fit *it, struct area **link, struct freehold_answer *answer, const struct freehold_op *op,
		   uint64_t at)
{
	struct area *area = malloc(sizeof(*area));

	if (!area) {
		answer->status = FREEHOLD_NO_ROOM;
		return;
	}
	*area = (struct area){ at, at + (op->size - 1), op->object, *link };
	*link = area;
	it->area_count++;
	answer->status = FREEHOLD_DONE;
	answer->first = at;
}

static void alloc(struct first_fit *it, const struct freehold_op *op, struct freehold_answer *answer)
{
	struct area **link = &it->areas;
	uint64_t at;

	answer->status = FREEHOLD_NO_ROOM;
	for (size_t i = 0; i < it->span_count; i++) {
		uint64_t low = it->spans[i].first, high = it->spans[i].last;

		while (*link && (*link)->first <= high) {
			if ((*link)->first > low && fits(low, (*link)->first - 1, op, &at)) {
				insert(it, link, answer, op, at);
				return;
			}
			if ((*link)->last >= high)
				low = 0;	/* this span is taken to its end */
			else
				low = (*link)->last + 1;
			link = &(*link)->next;
			if (!low)
				break;
		}
		if ((low || link == &it->areas) && fits(low, high, op, &at)) {
			insert(it, link, answer, op, at);
			return;
		}
	}
}

static void release(struct first_fit *it, const struct freehold_op *op, struct freehold_answer *answer)
{
	for (struct area **link = &it->areas; *link; link = &(*link)->next) {
		struct area *area = *link;

		if (area->object == op->object) {
			*link = area->next;
			free(area);
			it->area_count--;
			answer->status = FREEHOLD_DONE;
			return;
		}
	}
	answer->status = FREEHOLD_NOT_LIVE;
}

static void run_batch(void *engine, const struct freehold_op *ops, struct freehold_answer *answers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].what == FREEHOLD_ALLOC)
			alloc(engine, &ops[i], &answers[i]);
		else if (ops[i].what == FREEHOLD_FREE)
			release(engine, &ops[i], &answers[i]);
		else
			answers[i].status = FREEHOLD_UNSUPPORTED;
	}
}

static size_t bytes(const void *engine)
{
	const struct first_fit *it = engine;

	return sizeof(*it) + it->span_count * sizeof(*it->spans) + it->area_count * sizeof(struct area);
}

static void destroy(void *engine)
{
	struct first_fit *it = engine;

	while (it->areas) {
		struct area *next = it->areas->next;

		free(it->areas);
		it->areas = next;
	}
	free(it->spans);
	free(it);
}

const struct freehold_engine freehold_engine = {
	FREEHOLD_VERSION, FREEHOLD_KVA, FREEHOLD_LOWEST, 1, create, run_batch, bytes, destroy,
};

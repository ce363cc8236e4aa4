/* A maple engine for tests: ranges in a sorted array. */
#include "freehold_engine.h"
#include <stdlib.h>
#include <string.h>

#define MOST 65536

struct range { uint64_t first, last, value; };
struct sorted { size_t n; struct range at[MOST]; };

static void *create(const struct freehold_scene *scene)
{
	(void)scene;
	return calloc(1, sizeof(struct sorted));
}

/* The first range that ends at or after the index. */
static size_t from(const struct sorted *it, uint64_t index)
{
	size_t low = 0, high = it->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (it->at[middle].last < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put(struct sorted *it, size_t i, struct range range)
{
	memmove(&it->at[i + 1], &it->at[i], (it->n - i) * sizeof(range));
	it->at[i] = range;
	it->n++;
}

static void drop(struct sorted *it, size_t i)
{
	it->n--;
	memmove(&it->at[i], &it->at[i + 1], (it->n - i) * sizeof(it->at[0]));
}

static void store(struct sorted *it, uint64_t first, uint64_t last, uint64_t value)
{
	size_t i = from(it, first);

	if (i < it->n && it->at[i].first < first) {
		struct range whole = it->at[i];

		it->at[i++].last = first - 1;
		if (whole.last > last)
			put(it, i, (struct range){ last + 1, whole.last, whole.value });
	}
	while (i < it->n && it->at[i].last <= last)
		drop(it, i);
	if (i < it->n && it->at[i].first <= last)
		it->at[i].first = last + 1;
	if (value)
		put(it, i, (struct range){ first, last, value });
}

/* The lowest place that fits; with rev the highest. */
static int gap(const struct sorted *it, const struct freehold_op *op, int rev, uint64_t *place)
{
	uint64_t low = 0, mask = op->align - 1;
	int found = 0;

	for (size_t i = 0; i <= it->n; i++) {
		uint64_t high = i < it->n ? it->at[i].first - 1 : UINT64_MAX;

		if (i == it->n || it->at[i].first > low) {
			uint64_t a = low > op->first ? low : op->first, b = high < op->last ? high : op->last;

			if (a <= b && b - a >= op->size - 1 && a <= UINT64_MAX - mask) {
				uint64_t up = (a + mask) & ~mask, down = (b - (op->size - 1)) & ~mask;

				if (!rev && up <= b && b - up >= op->size - 1) {
					*place = up;
					return 1;
				}
				if (rev && down >= a) {
					*place = down;
					found = 1;
				}
			}
		}
		if (i < it->n && it->at[i].last == UINT64_MAX)
			break;
		if (i < it->n)
			low = it->at[i].last + 1;
	}
	return found;
}

static void run_batch(void *engine, const struct freehold_op *ops, struct freehold_answer *answers, size_t n)
{
	struct sorted *it = engine;

	for (size_t j = 0; j < n; j++) {
		const struct freehold_op *op = &ops[j];
		struct freehold_answer *answer = &answers[j];
		size_t i = from(it, op->first);
		int here = i < it->n && it->at[i].first <= op->first;

		answer->status = FREEHOLD_DONE;
		switch (op->what) {
		case FREEHOLD_INSERT:
			if (i < it->n && it->at[i].first <= op->last) {
				answer->status = FREEHOLD_EXISTS;
				break;
			}
			/* fall through */
		case FREEHOLD_STORE:
			if (it->n + 2 > MOST)
				abort();
			store(it, op->first, op->last, op->value);
			break;
		case FREEHOLD_ERASE:
			if (here) {
				answer->value = it->at[i].value;
				drop(it, i);
			}
			break;
		case FREEHOLD_LOAD:
			if (here)
				answer->value = it->at[i].value;
			break;
		case FREEHOLD_FIND:
			if (i < it->n && it->at[i].first <= op->last)
				*answer = (struct freehold_answer){ FREEHOLD_DONE, 0, it->at[i].first, it->at[i].last,
								    it->at[i].value };
			break;
		case FREEHOLD_GAP_LOW:
		case FREEHOLD_GAP_HIGH:
			if (!gap(it, op, op->what == FREEHOLD_GAP_HIGH, &answer->first))
				answer->status = FREEHOLD_NO_ROOM;
			break;
		default:
			answer->status = FREEHOLD_UNSUPPORTED;
		}
	}
}

static size_t bytes(const void *engine)
{
	return sizeof(struct range) * ((const struct sorted *)engine)->n;
}

const struct freehold_engine freehold_engine = {
	FREEHOLD_VERSION, FREEHOLD_MAPLE, FREEHOLD_ANY, 1, create, run_batch, bytes, free,
};

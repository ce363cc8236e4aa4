/* A percpu engine for tests: places one behind the other, a new chunk where a unit ends, nothing used again. */
#include "freehold_engine.h"
#include <stdlib.h>

#define OBJECTS (1u << 20)

struct bump {
	uint64_t unit, next;
	uint32_t chunk;
	unsigned char live[OBJECTS];
};

static void *create(const struct freehold_scene *scene)
{
	struct bump *it = calloc(1, sizeof(*it));

	if (it)
		it->unit = scene->unit_bytes;
	return it;
}

static void run_batch(void *engine, const struct freehold_op *ops, struct freehold_answer *answers, size_t n)
{
	struct bump *it = engine;

	for (size_t i = 0; i < n; i++) {
		const struct freehold_op *op = &ops[i];
		uint64_t at = (it->next + op->align - 1) & -op->align, size = (op->size + 3) & ~(uint64_t)3;

		if (op->object >= OBJECTS)
			continue;
		if (op->what == FREEHOLD_FREE) {
			answers[i].status = it->live[op->object] ? FREEHOLD_DONE : FREEHOLD_NOT_LIVE;
			it->live[op->object] = 0;
		} else if (op->what == FREEHOLD_ALLOC && size > it->unit) {
			answers[i].status = FREEHOLD_NO_ROOM;
		} else if (op->what == FREEHOLD_ALLOC) {
			if (at + size > it->unit) {
				at = 0;
				it->chunk++;
			}
			it->next = at + size;
			it->live[op->object] = 1;
			answers[i] = (struct freehold_answer){ FREEHOLD_DONE, it->chunk, at, 0, 0 };
		}
	}
}

static size_t bytes(const void *engine)
{
	(void)engine;
	return sizeof(struct bump);
}

const struct freehold_engine freehold_engine = {
	FREEHOLD_VERSION, FREEHOLD_PERCPU, FREEHOLD_ANY, 4, create, run_batch, bytes, free,
};

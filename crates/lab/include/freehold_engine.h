/*
 * An engine from outside, for `freehold replay|verify|bench|stress --engine so:PATH`.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The shared object exports one table of functions, `freehold_engine`. It runs in a process of its own, on one thread. The
 * clock is read there around run_batch, so the way between the processes is in no figure. All ranges include both ends.
 */
#ifndef FREEHOLD_ENGINE_H
#define FREEHOLD_ENGINE_H
#include <stddef.h>
#include <stdint.h>

#define FREEHOLD_VERSION 1
enum freehold_family { FREEHOLD_KVA = 1, FREEHOLD_PERCPU = 2, FREEHOLD_MAPLE = 3 };
/* Which address a kva engine takes of those that fit; it is judged by that. */
enum freehold_takes { FREEHOLD_ANY, FREEHOLD_LOWEST, FREEHOLD_HIGHEST, FREEHOLD_BEST_FIT };

enum freehold_what {
	FREEHOLD_ALLOC = 1,	/* kva: size, align within first..last. percpu: size, align; value 1 if it cannot wait */
	FREEHOLD_FREE,		/* object; FREEHOLD_NOT_LIVE if it is not there, as its allocation failed */
	FREEHOLD_STORE,		/* maple, also below: value over first..last, whatever is there; 0 empties it */
	FREEHOLD_INSERT,	/* value into first..last if that is free, else FREEHOLD_EXISTS */
	FREEHOLD_ERASE,		/* the entry that holds first: its value, 0 if none */
	FREEHOLD_LOAD,		/* the value at first, 0 if none */
	FREEHOLD_FIND,		/* the first entry that ends at or after first and starts at or before last; value 0 if none */
	FREEHOLD_GAP_LOW,	/* the lowest free place of size, align within first..last; nothing is stored */
	FREEHOLD_GAP_HIGH,	/* the highest */
};

enum freehold_status { FREEHOLD_UNSUPPORTED, FREEHOLD_DONE, FREEHOLD_NO_ROOM, FREEHOLD_NOT_LIVE, FREEHOLD_EXISTS };

/* Objects are named by small numbers; align is a power of two. What an engine does not know it answers FREEHOLD_UNSUPPORTED. */
struct freehold_op { uint32_t what, object; uint64_t size, align, first, last, value; };
/* first: where it is (percpu: the offset in every unit of `chunk`, whose number is used once only). */
struct freehold_answer { uint32_t status, chunk; uint64_t first, last, value; };
struct freehold_span { uint64_t first, last; };

/* kva: the spans that are free at first, and the granule, of which all sizes are multiples. percpu: bytes of a unit. */
struct freehold_scene { const struct freehold_span *spans; size_t span_count; uint64_t granule, unit_bytes; };

struct freehold_engine {
	uint32_t version, family, takes, grain;	/* grain: what percpu sizes are rounded up to, in bytes */
	void *(*create)(const struct freehold_scene *scene);	/* NULL: it cannot manage that */
	void (*run_batch)(void *engine, const struct freehold_op *ops, struct freehold_answer *answers, size_t n);
	size_t (*bytes)(const void *engine);	/* what it holds for its own structures */
	void (*destroy)(void *engine);
};

extern const struct freehold_engine freehold_engine;
#endif

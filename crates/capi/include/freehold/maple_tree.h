/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The Linux kernel's maple tree interface over libfreehold: a C file that is written against <linux/maple_tree.h>
 * compiles with this header instead, and runs in user space.
 *
 *	DEFINE_MTREE(tree);
 *
 *	mtree_store_range(&tree, 0x1000, 0x1fff, device, GFP_KERNEL);
 *	assert(mtree_load(&tree, 0x1800) == device);
 *	mtree_destroy(&tree);
 *
 * Indexes are unsigned long, ranges include both ends. An entry is any pointer but NULL, or an integer that xa_mk_value()
 * has tagged. docs/c.md lists what differs from the kernel.
 *
 * Threads: one writer at a time, under mtree_lock(); the mtree_* calls take it themselves, the mas_* calls are made under
 * it. Look-ups take no lock, in every tree. What they return stays valid until rcu_read_unlock(), if whoever removes an
 * entry frees it after synchronize_rcu() or by call_rcu(). A thread's first look-up needs memory for its registration.
 *
 * GFP flags are ignored: a call that needs memory asks malloc.
 */
#ifndef FREEHOLD_MAPLE_TREE_H
#define FREEHOLD_MAPLE_TREE_H

#include <freehold/kernel.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Around the tree ---- */

/* Entries: pointers, tagged integers (odd), internal ones (the two lowest bits are 10). */
#define XA_ZERO_ENTRY fhk_internal(257)

static inline void *fhk_internal(unsigned long v)
{
	return (void *)((v << 2) | 2);
}

/* An integer up to LONG_MAX as an entry. */
static inline void *xa_mk_value(unsigned long v)
{
	return (void *)((v << 1) | 1);
}

static inline unsigned long xa_to_value(const void *entry)
{
	return (unsigned long)entry >> 1;
}

static inline bool xa_is_value(const void *entry)
{
	return ((unsigned long)entry & 1) != 0;
}

static inline bool xa_is_internal(const void *entry)
{
	return ((unsigned long)entry & 3) == 2;
}

static inline bool xa_is_zero(const void *entry)
{
	return entry == XA_ZERO_ENTRY;
}

static inline bool xa_is_err(const void *entry)
{
	return xa_is_internal(entry) && (unsigned long)entry >= (unsigned long)fhk_internal((unsigned long)-4095L);
}

/* The error in mas->node, which is negative; 0 if there is none. */
static inline int xa_err(const void *entry)
{
	return xa_is_err(entry) ? (int)((long)(unsigned long)entry >> 2) : 0;
}

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

typedef void (*rcu_callback_t)(struct rcu_head *head);

int fhk_rcu_read_lock(void);
int fhk_rcu_read_unlock(void);
void fhk_synchronize_rcu(void);
void fhk_call_rcu(struct rcu_head *head, rcu_callback_t func);
void fhk_rcu_barrier(void);

/* A read section of this thread. Sections nest, and delay nobody but who waits for readers. */
#define rcu_read_lock() ((void)fhk_rcu_read_lock())
#define rcu_read_unlock() ((void)fhk_rcu_read_unlock())
/* Waits for all present read sections. Within one it would wait for itself: the program stops. */
#define synchronize_rcu() fhk_synchronize_rcu()
/* Calls func(head) after all present read sections, on a thread that the first call starts; in a child of fork(), on its own. */
#define call_rcu(head, func) fhk_call_rcu((head), (func))
/* Waits for all callbacks so far; in a callback it would wait for itself. */
#define rcu_barrier() fhk_rcu_barrier()

#ifndef container_of
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))
#endif

/* ---- Trees ---- */

/* The tree has gaps to give out: mtree_alloc_*, mas_empty_area*. */
#define MT_FLAGS_ALLOC_RANGE 0x01
/* Kept for mt_in_rcu() and for mtree_dup(): every tree here has readers without a lock. */
#define MT_FLAGS_USE_RCU 0x02
/* Kept: the lock of a tree is its own, and who has another takes that. */
#define MT_FLAGS_LOCK_MASK 0x300
#define MT_FLAGS_LOCK_IRQ 0x100
#define MT_FLAGS_LOCK_BH 0x200
#define MT_FLAGS_LOCK_EXTERN 0x300

struct maple_tree {
	void *ma_root; /* the library's; NULL until the first store, one that is refused included */
	unsigned int ma_flags;
	spinlock_t ma_lock;
};

#define MTREE_INIT(name, flags) { NULL, (flags), PTHREAD_MUTEX_INITIALIZER }
#define DEFINE_MTREE(name) struct maple_tree name = MTREE_INIT(name, 0)

bool fhk_mtree_empty(const struct maple_tree *mt);
unsigned int fhk_mt_height(const struct maple_tree *mt);
void *fhk_mtree_load(const struct maple_tree *mt, unsigned long index);
int fhk_mtree_store_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry);
int fhk_mtree_insert_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry);
void *fhk_mtree_erase(struct maple_tree *mt, unsigned long index);
int fhk_mtree_alloc_range(struct maple_tree *mt, unsigned long *start, void *entry, unsigned long size,
			  unsigned long min, unsigned long max, bool down);
int fhk_mtree_alloc_cyclic(struct maple_tree *mt, unsigned long *start, void *entry, unsigned long low,
			   unsigned long high, unsigned long *next);
int fhk_mtree_dup(struct maple_tree *mt, struct maple_tree *into);
void fhk_mtree_destroy(struct maple_tree *mt);
void *fhk_mt_find(const struct maple_tree *mt, unsigned long *index, unsigned long max);
void *fhk_mt_find_after(const struct maple_tree *mt, unsigned long *index, unsigned long max);
void *fhk_mt_next(const struct maple_tree *mt, unsigned long index, unsigned long max);
void *fhk_mt_prev(const struct maple_tree *mt, unsigned long index, unsigned long min);

static inline void mt_init_flags(struct maple_tree *mt, unsigned int flags)
{
	mt->ma_root = NULL;
	mt->ma_flags = flags;
	spin_lock_init(&mt->ma_lock);
}

static inline void mt_init(struct maple_tree *mt)
{
	mt_init_flags(mt, 0);
}

#define mtree_lock(mt) spin_lock(&(mt)->ma_lock)
#define mtree_lock_nested(mt, subclass) ((void)(subclass), spin_lock(&(mt)->ma_lock))
#define mtree_unlock(mt) spin_unlock(&(mt)->ma_lock)

/* A tree's lock is its own: nothing to set. */
#define mt_set_external_lock(mt, lock) ((void)(mt), (void)(lock))

static inline bool mt_in_rcu(struct maple_tree *mt)
{
	return (mt->ma_flags & MT_FLAGS_USE_RCU) != 0;
}

/* Sets the flag, at any time: readers of the entries that are there needed no lock before, either. */
static inline void mt_set_in_rcu(struct maple_tree *mt)
{
	mtree_lock(mt);
	mt->ma_flags |= MT_FLAGS_USE_RCU;
	mtree_unlock(mt);
}

/* Clears the flag. Readers still need no lock. */
static inline void mt_clear_in_rcu(struct maple_tree *mt)
{
	mtree_lock(mt);
	mt->ma_flags &= ~(unsigned int)MT_FLAGS_USE_RCU;
	mtree_unlock(mt);
}

/* Whether there is neither an entry nor a zero entry. */
static inline bool mtree_empty(const struct maple_tree *mt)
{
	return fhk_mtree_empty(mt);
}

/* Levels of nodes: 0 if the tree is empty, 1 for a leaf. */
static inline unsigned int mt_height(const struct maple_tree *mt)
{
	return fhk_mt_height(mt);
}

/* ---- The simple interface, which takes the lock itself ---- */

/* Returns the entry, or NULL: nothing is there, or a zero entry. */
static inline void *mtree_load(struct maple_tree *mt, unsigned long index)
{
	return fhk_mtree_load(mt, index);
}

/* Returns 0, -EINVAL or -ENOMEM. */
static inline int mtree_store_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry,
				    gfp_t gfp)
{
	int code;

	(void)gfp;
	mtree_lock(mt);
	code = fhk_mtree_store_range(mt, first, last, entry);
	mtree_unlock(mt);
	return code;
}

static inline int mtree_store(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp)
{
	return mtree_store_range(mt, index, index, entry, gfp);
}

/* Returns 0, -EEXIST, -EINVAL or -ENOMEM. */
static inline int mtree_insert_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry,
				     gfp_t gfp)
{
	int code;

	(void)gfp;
	mtree_lock(mt);
	code = fhk_mtree_insert_range(mt, first, last, entry);
	mtree_unlock(mt);
	return code;
}

static inline int mtree_insert(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp)
{
	return mtree_insert_range(mt, index, index, entry, gfp);
}

/* Removes the whole range that contains the index; returns its entry. Without memory: NULL, and the entry stays. */
static inline void *mtree_erase(struct maple_tree *mt, unsigned long index)
{
	void *entry;

	mtree_lock(mt);
	entry = fhk_mtree_erase(mt, index);
	mtree_unlock(mt);
	return entry;
}

/* Stores at the lowest gap of that size; returns 0, -EBUSY, -EINVAL or -ENOMEM. */
static inline int mtree_alloc_range(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size,
				    unsigned long min, unsigned long max, gfp_t gfp)
{
	int code;

	(void)gfp;
	mtree_lock(mt);
	code = fhk_mtree_alloc_range(mt, startp, entry, size, min, max, false);
	mtree_unlock(mt);
	return code;
}

/* Stores at the highest gap of that size. */
static inline int mtree_alloc_rrange(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size,
				     unsigned long min, unsigned long max, gfp_t gfp)
{
	int code;

	(void)gfp;
	mtree_lock(mt);
	code = fhk_mtree_alloc_range(mt, startp, entry, size, min, max, true);
	mtree_unlock(mt);
	return code;
}

/* Stores at the lowest free index from *next on, else from range_lo on; returns 0, 1 if it wrapped, or an error. */
static inline int mtree_alloc_cyclic(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long range_lo,
				     unsigned long range_hi, unsigned long *next, gfp_t gfp)
{
	int code;

	(void)gfp;
	mtree_lock(mt);
	code = fhk_mtree_alloc_cyclic(mt, startp, entry, range_lo, range_hi, next);
	mtree_unlock(mt);
	return code;
}

/* Copies into an empty tree with the same flags; returns 0, -EINVAL or -ENOMEM. The caller has both locks. */
static inline int __mt_dup(struct maple_tree *mt, struct maple_tree *into, gfp_t gfp)
{
	(void)gfp;
	return mt->ma_flags == into->ma_flags ? fhk_mtree_dup(mt, into) : -EINVAL;
}

static inline int mtree_dup(struct maple_tree *mt, struct maple_tree *into, gfp_t gfp)
{
	int code;

	mtree_lock(into);
	mtree_lock_nested(mt, 1);
	code = __mt_dup(mt, into, gfp);
	mtree_unlock(mt);
	mtree_unlock(into);
	return code;
}

/* Removes everything, and gives back the library's memory. The tree can be used again. */
static inline void __mt_destroy(struct maple_tree *mt)
{
	fhk_mtree_destroy(mt);
}

static inline void mtree_destroy(struct maple_tree *mt)
{
	mtree_lock(mt);
	__mt_destroy(mt);
	mtree_unlock(mt);
}

/* The first entry from *index on that begins at max or below. *index is one above its end then. */
static inline void *mt_find(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
	return fhk_mt_find(mt, index, max);
}

static inline void *mt_find_after(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
	return fhk_mt_find_after(mt, index, max);
}

static inline void *mt_next(struct maple_tree *mt, unsigned long index, unsigned long max)
{
	return fhk_mt_next(mt, index, max);
}

static inline void *mt_prev(struct maple_tree *mt, unsigned long index, unsigned long min)
{
	return fhk_mt_prev(mt, index, min);
}

#define mt_for_each(mt, entry, index, max)                              \
	for ((entry) = mt_find((mt), &(index), (max)); (entry) != NULL; \
	     (entry) = mt_find_after((mt), &(index), (max)))

/* ---- The cursor ---- */

/* ma_root and ma_none are the kernel's for trees without nodes; no call sets them here. */
enum maple_status {
	ma_active,
	ma_start,
	ma_root,
	ma_none,
	ma_pause,
	ma_overflow,
	ma_underflow,
	ma_error
};

struct ma_state {
	struct maple_tree *tree;
	unsigned long index;
	unsigned long last;
	void *node;         /* an error, for xa_err() */
	unsigned long plan; /* the store that mas_preallocate() planned */
	int status;
};

#define MA_STATE(name, mt, first, end) struct ma_state name = { (mt), (first), (end), NULL, 0, ma_start }

void *fhk_mas_walk(struct ma_state *mas);
void *fhk_mas_find(struct ma_state *mas, unsigned long max);
void *fhk_mas_find_range(struct ma_state *mas, unsigned long max);
void *fhk_mas_find_rev(struct ma_state *mas, unsigned long min);
void *fhk_mas_find_range_rev(struct ma_state *mas, unsigned long min);
void *fhk_mas_next(struct ma_state *mas, unsigned long max);
void *fhk_mas_next_range(struct ma_state *mas, unsigned long max);
void *fhk_mas_prev(struct ma_state *mas, unsigned long min);
void *fhk_mas_prev_range(struct ma_state *mas, unsigned long min);
void *fhk_mas_store(struct ma_state *mas, void *entry);
int fhk_mas_store_gfp(struct ma_state *mas, void *entry);
int fhk_mas_preallocate(struct ma_state *mas, void *entry);
void fhk_mas_store_prealloc(struct ma_state *mas, void *entry);
void fhk_mas_destroy(struct ma_state *mas);
void *fhk_mas_insert(struct ma_state *mas, void *entry);
void *fhk_mas_erase(struct ma_state *mas);
int fhk_mas_empty_area(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size);
int fhk_mas_empty_area_rev(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size);
int fhk_mas_alloc_cyclic(struct ma_state *mas, unsigned long *start, void *entry, unsigned long low,
			 unsigned long high, unsigned long *next);

#define mas_lock(mas) spin_lock(&(mas)->tree->ma_lock)
#define mas_lock_type(mas) mas_lock(mas)
#define mas_unlock(mas) spin_unlock(&(mas)->tree->ma_lock)
#define mas_unlock_type(mas) mas_unlock(mas)

static inline void mas_init(struct ma_state *mas, struct maple_tree *mt, unsigned long addr)
{
	mas->tree = mt;
	mas->index = addr;
	mas->last = addr;
	mas->node = NULL;
	mas->plan = 0;
	mas->status = ma_start;
}

/* The cursor is not walked any more; its range stays. */
static inline void mas_reset(struct ma_state *mas)
{
	mas->status = ma_start;
	mas->node = NULL;
}

static inline void mas_set_range(struct ma_state *mas, unsigned long start, unsigned long last)
{
	mas_reset(mas);
	mas->index = start;
	mas->last = last;
}

static inline void __mas_set_range(struct ma_state *mas, unsigned long start, unsigned long last)
{
	mas->index = start;
	mas->last = last;
}

static inline void mas_set(struct ma_state *mas, unsigned long index)
{
	mas_set_range(mas, index, index);
}

/* A search goes on next to the range, whatever happens to the tree. */
static inline void mas_pause(struct ma_state *mas)
{
	mas->status = ma_pause;
	mas->node = NULL;
}

static inline bool mas_is_active(const struct ma_state *mas)
{
	return mas->status == ma_active;
}

static inline bool mas_is_start(const struct ma_state *mas)
{
	return mas->status == ma_start;
}

static inline bool mas_is_paused(const struct ma_state *mas)
{
	return mas->status == ma_pause;
}

static inline bool mas_is_overflow(const struct ma_state *mas)
{
	return mas->status == ma_overflow;
}

static inline bool mas_is_underflow(const struct ma_state *mas)
{
	return mas->status == ma_underflow;
}

static inline bool mas_is_err(const struct ma_state *mas)
{
	return mas->status == ma_error;
}

static inline bool mas_is_none(const struct ma_state *mas)
{
	return mas->status == ma_none;
}

static inline bool mas_is_ptr(const struct ma_state *mas)
{
	return mas->status == ma_root;
}

/* To the range that contains the index, an entry's or a gap. */
static inline void *mas_walk(struct ma_state *mas)
{
	return fhk_mas_walk(mas);
}

/* mas_walk(), as some callers name it. */
static inline void *mas_load(struct ma_state *mas)
{
	return fhk_mas_walk(mas);
}

static inline void *mas_find(struct ma_state *mas, unsigned long max)
{
	return fhk_mas_find(mas, max);
}

static inline void *mas_find_range(struct ma_state *mas, unsigned long max)
{
	return fhk_mas_find_range(mas, max);
}

static inline void *mas_find_rev(struct ma_state *mas, unsigned long min)
{
	return fhk_mas_find_rev(mas, min);
}

static inline void *mas_find_range_rev(struct ma_state *mas, unsigned long min)
{
	return fhk_mas_find_range_rev(mas, min);
}

static inline void *mas_next(struct ma_state *mas, unsigned long max)
{
	return fhk_mas_next(mas, max);
}

static inline void *mas_next_range(struct ma_state *mas, unsigned long max)
{
	return fhk_mas_next_range(mas, max);
}

static inline void *mas_prev(struct ma_state *mas, unsigned long min)
{
	return fhk_mas_prev(mas, min);
}

static inline void *mas_prev_range(struct ma_state *mas, unsigned long min)
{
	return fhk_mas_prev_range(mas, min);
}

#define mas_for_each(mas, entry, max) while (((entry) = mas_find((mas), (max))) != NULL)
#define mas_for_each_rev(mas, entry, min) while (((entry) = mas_find_rev((mas), (min))) != NULL)

/* Stores over the range. Returns what was at its first index. On an error: NULL, and mas_is_err(). */
static inline void *mas_store(struct ma_state *mas, void *entry)
{
	return fhk_mas_store(mas, entry);
}

/* Stores over the range; returns 0, -EINVAL or -ENOMEM. */
static inline int mas_store_gfp(struct ma_state *mas, void *entry, gfp_t gfp)
{
	(void)gfp;
	return fhk_mas_store_gfp(mas, entry);
}

/* Takes all that a store of the entry over the range needs, so that mas_store_prealloc() cannot fail; returns 0, -EINVAL or
 * -ENOMEM. The plan is for this range and this entry, and a tree has one at a time: another mas_preallocate(), and a store
 * into the tree, even one that is refused, cancels it. mas_destroy() gives it up. */
static inline int mas_preallocate(struct ma_state *mas, void *entry, gfp_t gfp)
{
	(void)gfp;
	return fhk_mas_preallocate(mas, entry);
}

/* Makes the planned store. Without a plan for this range and entry it stores as mas_store_gfp(), and mas_is_err() says
 * whether that failed. */
static inline void mas_store_prealloc(struct ma_state *mas, void *entry)
{
	fhk_mas_store_prealloc(mas, entry);
}

static inline void mas_destroy(struct ma_state *mas)
{
	fhk_mas_destroy(mas);
}

/* Stores into a free range. Returns NULL; if it is not free, what is at its first index, and mas_is_err(). */
static inline void *mas_insert(struct ma_state *mas, void *entry)
{
	return fhk_mas_insert(mas, entry);
}

/* Removes the whole range that contains the index; returns its entry. The cursor is on the gap. */
static inline void *mas_erase(struct ma_state *mas)
{
	return fhk_mas_erase(mas);
}

/* Puts the cursor on the lowest gap of that size; returns 0, -EBUSY or -EINVAL. */
static inline int mas_empty_area(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size)
{
	return fhk_mas_empty_area(mas, min, max, size);
}

/* Puts the cursor on the highest gap of that size. */
static inline int mas_empty_area_rev(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size)
{
	return fhk_mas_empty_area_rev(mas, min, max, size);
}

static inline int mas_alloc_cyclic(struct ma_state *mas, unsigned long *startp, void *entry, unsigned long range_lo,
				   unsigned long range_hi, unsigned long *next, gfp_t gfp)
{
	(void)gfp;
	return fhk_mas_alloc_cyclic(mas, startp, entry, range_lo, range_hi, next);
}

/* Always false: a store has asked for its memory itself, and another try would not get it. */
static inline bool mas_nomem(struct ma_state *mas, gfp_t gfp)
{
	(void)mas;
	(void)gfp;
	return false;
}

/* Returns 0, and takes nothing: each store takes what it needs, and can return -ENOMEM. */
static inline int mas_expected_entries(struct ma_state *mas, unsigned long nr_entries)
{
	(void)mas;
	(void)nr_entries;
	return 0;
}

/* ---- Checks ---- */

int fhk_mt_validate(const struct maple_tree *mt, void (*put)(const char *line));
void fhk_mt_dump(const struct maple_tree *mt, bool hex, void (*put)(const char *line));
unsigned long fhk_count_test(bool failed);
/* Tests by MT_BUG_ON and mt_validate so far, and those that failed. */
unsigned long fhk_tests_run(void);
unsigned long fhk_tests_failed(void);

static inline void fhk_put_error(const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static inline void fhk_put_line(const char *line)
{
	printf("%s\n", line);
}

static inline void fhk_bug(bool failed, const char *what, const char *file, int line)
{
	unsigned long failures = fhk_count_test(failed);

	if (failed)
		fprintf(stderr, "%s:%d: BUG: %s (%lu of %lu failed)\n", file, line, what, failures, fhk_tests_run());
}

/* Counts a test that fails if the condition holds, says so on stderr, and goes on. */
#define MT_BUG_ON(mt, condition) ((void)(mt), fhk_bug((condition), #condition, __FILE__, __LINE__))

/* Checks every invariant of the tree: a test that MT_BUG_ON counts. */
static inline void mt_validate(struct maple_tree *mt)
{
	fhk_bug(fhk_mt_validate(mt, fhk_put_error) != 0, "the tree is broken", __FILE__, __LINE__);
}

enum mt_dump_format {
	mt_dump_dec,
	mt_dump_hex
};

/* Prints the tree's ranges to stdout, one a line, gaps as (nil). */
static inline void mt_dump(const struct maple_tree *mt, enum mt_dump_format format)
{
	fhk_mt_dump(mt, format == mt_dump_hex, fhk_put_line);
}

#ifdef __cplusplus
}
#endif

#endif /* FREEHOLD_MAPLE_TREE_H */

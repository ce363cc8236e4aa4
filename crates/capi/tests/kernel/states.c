/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each call of the cursor from each of its states: the entry, the range and the state afterwards. The expected ones follow
 * from the rules of the recorded logs (data/vectors/README.md).
 *
 *	10..19: 1    30..39: 2, the cursor's    50..59: zero entry    60..69: 3
 */
#include <freehold/maple_tree.h>

#define V(number) xa_mk_value(number)
#define STEP(call, state, limit, entry, index, last, after) { #call, call, #state, state, limit, entry, index, last, after }

struct step {
	const char *name;
	void *(*call)(struct ma_state *mas, unsigned long limit);
	const char *from;
	int state;
	unsigned long limit;
	/* Afterwards. */
	void *entry;
	unsigned long index, last;
	int status;
};

/* A cursor in a state: at 35 and not walked, or on 30..39. */
static struct ma_state cursor(struct maple_tree *mt, int state)
{
	MA_STATE(mas, mt, 35, 35);

	MT_BUG_ON(mt, !mas_is_start(&mas));
	if (state == ma_start)
		return mas;
	MT_BUG_ON(mt, mas_walk(&mas) != V(2) || !mas_is_active(&mas));
	if (state == ma_pause)
		mas_pause(&mas);
	if (state == ma_overflow)
		MT_BUG_ON(mt, mas_next(&mas, 39) != NULL || !mas_is_overflow(&mas));
	if (state == ma_underflow)
		MT_BUG_ON(mt, mas_prev(&mas, 30) != NULL || !mas_is_underflow(&mas));
	MT_BUG_ON(mt, mas.index != 30 || mas.last != 39 || mas.status != state);
	return mas;
}

static void check(struct maple_tree *mt, const struct step *step)
{
	struct ma_state mas = cursor(mt, step->state);
	void *entry = step->call(&mas, step->limit);
	bool differs = entry != step->entry || mas.index != step->index || mas.last != step->last ||
		       mas.status != step->status;

	if (differs)
		fprintf(stderr, "%s(%lx) from %s: %p, %lu to %lu, %d\n", step->name, step->limit, step->from, entry,
			mas.index, mas.last, mas.status);
	MT_BUG_ON(mt, differs);
	MT_BUG_ON(mt, mas_is_none(&mas) || mas_is_ptr(&mas) || mas_is_err(&mas));
	mas_reset(&mas);
	MT_BUG_ON(mt, !mas_is_start(&mas) || mas.index != step->index || mas.last != step->last);
}

int main(void)
{
	/* An error stops the cursor until it is set again. */
	DEFINE_MTREE(tree);
	MA_STATE(mas, &tree, 9, 5);
	const struct step steps[] = {
		STEP(mas_find, ma_start, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_find, ma_active, ULONG_MAX, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_find, ma_pause, ULONG_MAX, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_find, ma_overflow, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_find, ma_underflow, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_find, ma_start, 39, V(2), 30, 39, ma_active),
		STEP(mas_find, ma_active, 39, NULL, 30, 39, ma_active),
		STEP(mas_find, ma_pause, 39, NULL, 30, 39, ma_pause),
		STEP(mas_find, ma_overflow, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_find, ma_underflow, 39, V(2), 30, 39, ma_active),
		STEP(mas_find_range, ma_start, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_find_range, ma_active, ULONG_MAX, NULL, 40, 49, ma_active),
		STEP(mas_find_range, ma_pause, ULONG_MAX, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_find_range, ma_overflow, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_find_range, ma_underflow, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_find_range, ma_start, 39, V(2), 30, 39, ma_active),
		STEP(mas_find_range, ma_active, 39, NULL, 30, 39, ma_active),
		STEP(mas_find_range, ma_pause, 39, NULL, 30, 39, ma_pause),
		STEP(mas_find_range, ma_overflow, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_find_range, ma_underflow, 39, V(2), 30, 39, ma_active),
		STEP(mas_next, ma_start, ULONG_MAX, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_next, ma_active, ULONG_MAX, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_next, ma_pause, ULONG_MAX, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_next, ma_overflow, ULONG_MAX, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_next, ma_underflow, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_next, ma_start, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next, ma_active, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next, ma_pause, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next, ma_overflow, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next, ma_underflow, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next_range, ma_start, ULONG_MAX, NULL, 40, 49, ma_active),
		STEP(mas_next_range, ma_active, ULONG_MAX, NULL, 40, 49, ma_active),
		STEP(mas_next_range, ma_pause, ULONG_MAX, NULL, 40, 49, ma_active),
		STEP(mas_next_range, ma_overflow, ULONG_MAX, NULL, 40, 49, ma_active),
		STEP(mas_next_range, ma_underflow, ULONG_MAX, V(2), 30, 39, ma_active),
		STEP(mas_next_range, ma_start, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next_range, ma_active, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next_range, ma_pause, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next_range, ma_overflow, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_next_range, ma_underflow, 39, NULL, 30, 39, ma_overflow),
		STEP(mas_find_rev, ma_start, 0, V(2), 30, 39, ma_active),
		STEP(mas_find_rev, ma_active, 0, V(1), 10, 19, ma_active),
		STEP(mas_find_rev, ma_pause, 0, V(1), 10, 19, ma_active),
		STEP(mas_find_rev, ma_overflow, 0, V(1), 10, 19, ma_active),
		STEP(mas_find_rev, ma_underflow, 0, V(1), 10, 19, ma_active),
		STEP(mas_find_rev, ma_start, 30, V(2), 30, 39, ma_active),
		STEP(mas_find_rev, ma_active, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_find_rev, ma_pause, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_find_rev, ma_overflow, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_find_rev, ma_underflow, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_find_range_rev, ma_start, 0, V(2), 30, 39, ma_active),
		STEP(mas_find_range_rev, ma_active, 0, NULL, 20, 29, ma_active),
		STEP(mas_find_range_rev, ma_pause, 0, V(1), 10, 19, ma_active),
		STEP(mas_find_range_rev, ma_overflow, 0, NULL, 20, 29, ma_active),
		STEP(mas_find_range_rev, ma_underflow, 0, NULL, 20, 29, ma_active),
		STEP(mas_find_range_rev, ma_start, 30, V(2), 30, 39, ma_active),
		STEP(mas_find_range_rev, ma_active, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_find_range_rev, ma_pause, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_find_range_rev, ma_overflow, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_find_range_rev, ma_underflow, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev, ma_start, 0, V(1), 10, 19, ma_active),
		STEP(mas_prev, ma_active, 0, V(1), 10, 19, ma_active),
		STEP(mas_prev, ma_pause, 0, V(1), 10, 19, ma_active),
		STEP(mas_prev, ma_overflow, 0, V(2), 30, 39, ma_active),
		STEP(mas_prev, ma_underflow, 0, V(1), 10, 19, ma_active),
		STEP(mas_prev, ma_start, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev, ma_active, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev, ma_pause, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev, ma_overflow, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev, ma_underflow, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev_range, ma_start, 0, NULL, 20, 29, ma_active),
		STEP(mas_prev_range, ma_active, 0, NULL, 20, 29, ma_active),
		STEP(mas_prev_range, ma_pause, 0, NULL, 20, 29, ma_active),
		STEP(mas_prev_range, ma_overflow, 0, V(2), 30, 39, ma_active),
		STEP(mas_prev_range, ma_underflow, 0, NULL, 20, 29, ma_active),
		STEP(mas_prev_range, ma_start, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev_range, ma_active, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev_range, ma_pause, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev_range, ma_overflow, 30, NULL, 30, 39, ma_underflow),
		STEP(mas_prev_range, ma_underflow, 30, NULL, 30, 39, ma_underflow),
		/* Beyond the limit already. */
		STEP(mas_find, ma_start, 34, NULL, 35, 35, ma_start),
		STEP(mas_find_range, ma_start, 34, NULL, 35, 35, ma_start),
		STEP(mas_next, ma_start, 35, NULL, 35, 35, ma_overflow),
		STEP(mas_next_range, ma_start, 34, NULL, 35, 35, ma_overflow),
		STEP(mas_find_rev, ma_start, 36, NULL, 35, 35, ma_start),
		STEP(mas_find_range_rev, ma_start, 36, NULL, 35, 35, ma_start),
		STEP(mas_prev, ma_start, 35, NULL, 35, 35, ma_underflow),
		STEP(mas_prev_range, ma_start, 36, NULL, 35, 35, ma_underflow),
		STEP(mas_find, ma_underflow, 30, NULL, 30, 39, ma_overflow),
		STEP(mas_find_range, ma_underflow, 29, NULL, 30, 39, ma_overflow),
		STEP(mas_find_rev, ma_active, 31, NULL, 30, 39, ma_active),
		/* A gap up to the limit: the cursor stays on it. A search for entries hides that it overflowed. */
		STEP(mas_next, ma_active, 49, NULL, 40, 49, ma_overflow),
		STEP(mas_find, ma_active, 49, NULL, 40, 49, ma_active),
		STEP(mas_find_range, ma_active, 49, NULL, 40, 49, ma_active),
		STEP(mas_prev, ma_active, 20, NULL, 20, 29, ma_underflow),
		STEP(mas_find_rev, ma_active, 20, NULL, 20, 29, ma_underflow),
		/* Limits bind where a range begins on the way up, and where it ends on the way down. */
		STEP(mas_next, ma_active, 50, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_prev, ma_active, 19, V(1), 10, 19, ma_active),
		STEP(mas_find, ma_pause, 50, XA_ZERO_ENTRY, 50, 59, ma_active),
		STEP(mas_find, ma_pause, 40, NULL, 40, 49, ma_active),
		STEP(mas_find_rev, ma_pause, 29, NULL, 20, 29, ma_active),
	};
	size_t at;

	MT_BUG_ON(&tree, mtree_store_range(&tree, 10, 19, V(1), GFP_KERNEL) != 0);
	MT_BUG_ON(&tree, mtree_store_range(&tree, 30, 39, V(2), GFP_KERNEL) != 0);
	MT_BUG_ON(&tree, mtree_store_range(&tree, 50, 59, XA_ZERO_ENTRY, GFP_KERNEL) != 0);
	MT_BUG_ON(&tree, mtree_store_range(&tree, 60, 69, V(3), GFP_KERNEL) != 0);
	rcu_read_lock();
	for (at = 0; at < sizeof(steps) / sizeof(steps[0]); at++)
		check(&tree, &steps[at]);
	rcu_read_unlock();

	mas_lock(&mas);
	MT_BUG_ON(&tree, mas_store(&mas, V(1)) != NULL || !mas_is_err(&mas));
	mas_unlock(&mas);
	for (at = 0; at < sizeof(steps) / sizeof(steps[0]); at++)
		MT_BUG_ON(&tree, steps[at].call(&mas, steps[at].limit) != NULL || !mas_is_err(&mas) || mas.index != 9);
	mtree_destroy(&tree);
	rcu_barrier();
	printf("states: %lu steps, %lu tests, %lu failed\n", (unsigned long)(sizeof(steps) / sizeof(steps[0])),
	       fhk_tests_run(), fhk_tests_failed());
	return fhk_tests_failed() != 0;
}

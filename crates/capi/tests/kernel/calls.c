/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each function of freehold/maple_tree.h without a cursor: what it returns, and what it does to the tree. Every test is
 * an MT_BUG_ON. The cursor's calls are in cursor.c, and from each state in states.c.
 */
#include "fill.h"

#include <stdlib.h>
#include <string.h>

static DEFINE_MTREE(fixed);

static void check_entries(void)
{
	struct maple_tree *mt = &fixed;
	int object;

	MT_BUG_ON(mt, xa_to_value(V(0)) != 0 || xa_to_value(V(LONG_MAX)) != LONG_MAX);
	MT_BUG_ON(mt, !xa_is_value(V(7)) || xa_is_value(&object) || xa_is_value(XA_ZERO_ENTRY));
	MT_BUG_ON(mt, !xa_is_zero(XA_ZERO_ENTRY) || xa_is_zero(V(257)) || xa_is_zero(NULL));
	MT_BUG_ON(mt, xa_is_internal(V(7)) || xa_is_internal(&object) || !xa_is_internal(XA_ZERO_ENTRY));
	MT_BUG_ON(mt, xa_is_err(NULL) || xa_is_err(XA_ZERO_ENTRY) || xa_err(&object) != 0);

	/* Any pointer, tagged or not, comes back as it went in. */
	MT_BUG_ON(mt, mtree_store(mt, 1, &object, GFP_KERNEL) != 0 || mtree_load(mt, 1) != &object);
	MT_BUG_ON(mt, mtree_store(mt, 1, V(LONG_MAX), GFP_KERNEL) != 0 || mtree_load(mt, 1) != V(LONG_MAX));
	/* Small internal entries mean something to the kernel's trees, which refuse them. */
	MT_BUG_ON(mt, mtree_store(mt, 1, fhk_internal(256), GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_insert(mt, 5, fhk_internal(0), GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_load(mt, 1) != V(LONG_MAX));
}

static void check_empty(void)
{
	struct maple_tree *mt = &fixed;
	unsigned long index = 0;
	void *entry;
	MA_STATE(mas, mt, 3, 3);

	MT_BUG_ON(mt, !mtree_empty(mt) || mt_height(mt) != 0 || mt->ma_root != NULL);
	MT_BUG_ON(mt, mtree_load(mt, 0) || mt_next(mt, 0, ULONG_MAX) || mt_prev(mt, ULONG_MAX, 0));
	MT_BUG_ON(mt, mt_find(mt, &index, ULONG_MAX) || index != 0);
	mt_for_each(mt, entry, index, ULONG_MAX)
		MT_BUG_ON(mt, true);
	MT_BUG_ON(mt, mas_walk(&mas) || mas.index != 0 || mas.last != ULONG_MAX || !mas_is_active(&mas));
	MT_BUG_ON(mt, mas_find(&mas, ULONG_MAX) || mas_prev(&mas, 0) || mas_next(&mas, ULONG_MAX));
	mas_destroy(&mas);
	mtree_destroy(mt);
	mt_validate(mt);
	/* Reading makes nothing. */
	MT_BUG_ON(mt, mt->ma_root != NULL);
	MT_BUG_ON(mt, mtree_erase(mt, 4) != NULL);
}

static void check_simple(void)
{
	struct maple_tree tree, *mt = &tree;
	unsigned long index;

	fill(mt);
	MT_BUG_ON(mt, mtree_empty(mt) || mt_height(mt) != 1);
	MT_BUG_ON(mt, mtree_load(mt, 9) || mtree_load(mt, 10) != V(1) || mtree_load(mt, 19) != V(1));
	MT_BUG_ON(mt, mtree_load(mt, 55) != NULL);
	MT_BUG_ON(mt, mtree_store_range(mt, 6, 5, V(9), GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_insert_range(mt, 6, 5, V(9), GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_insert_range(mt, 0, 10, V(9), GFP_KERNEL) != -EEXIST);
	MT_BUG_ON(mt, mtree_insert(mt, 55, V(9), GFP_KERNEL) != -EEXIST);
	MT_BUG_ON(mt, mtree_insert_range(mt, 20, 29, V(4), GFP_KERNEL) != 0 || mtree_load(mt, 25) != V(4));
	MT_BUG_ON(mt, mtree_erase(mt, 25) != V(4) || mtree_erase(mt, 25) != NULL);
	MT_BUG_ON(mt, mtree_store_range(mt, 12, 13, V(8), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_load(mt, 11) != V(1) || mtree_load(mt, 13) != V(8) || mtree_load(mt, 14) != V(1));

	/* Erasing removes the whole range, and a zero entry, too. */
	MT_BUG_ON(mt, mtree_erase(mt, 11) != V(1) || mtree_load(mt, 10) || mtree_load(mt, 14) != V(1));
	MT_BUG_ON(mt, mtree_erase(mt, 59) != XA_ZERO_ENTRY);
	MT_BUG_ON(mt, mtree_insert(mt, 55, V(9), GFP_KERNEL) != 0);
	mt_validate(mt);
	mtree_destroy(mt);
	MT_BUG_ON(mt, !mtree_empty(mt));

	fill(mt);
	index = 0;
	MT_BUG_ON(mt, mt_find(mt, &index, 9) || index != 0);
	MT_BUG_ON(mt, mt_find(mt, &index, 10) != V(1) || index != 20);
	MT_BUG_ON(mt, mt_find_after(mt, &index, ULONG_MAX) != V(2) || index != 40);
	MT_BUG_ON(mt, mt_find(mt, &index, 59) || index != 40);
	MT_BUG_ON(mt, mt_find_after(mt, &index, ULONG_MAX) != V(3) || index != 70);
	index = 0;
	MT_BUG_ON(mt, mt_find_after(mt, &index, ULONG_MAX) != NULL);
	MT_BUG_ON(mt, mt_next(mt, 15, 29) || mt_next(mt, 15, 30) != V(2) || mt_next(mt, 39, 70) != XA_ZERO_ENTRY);
	MT_BUG_ON(mt, mt_prev(mt, 35, 20) || mt_prev(mt, 35, 19) != V(1) || mt_prev(mt, 60, 0) != XA_ZERO_ENTRY);
	mtree_destroy(mt);
}

static void check_ends(void)
{
	struct maple_tree tree, *mt = &tree;
	unsigned long index = 0, seen = 0;
	void *entry;

	mt_init(mt);
	MT_BUG_ON(mt, mtree_store(mt, 0, V(1), GFP_KERNEL) || mtree_store(mt, ULONG_MAX, V(2), GFP_KERNEL));
	mt_for_each(mt, entry, index, ULONG_MAX)
		MT_BUG_ON(mt, xa_to_value(entry) != ++seen);
	MT_BUG_ON(mt, seen != 2 || index != 0);
	MT_BUG_ON(mt, mtree_store_range(mt, 0, ULONG_MAX, V(3), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_load(mt, 0) != V(3) || mtree_load(mt, ULONG_MAX) != V(3));
	MT_BUG_ON(mt, mtree_erase(mt, 77) != V(3) || !mtree_empty(mt));
	mtree_destroy(mt);
}

static void check_alloc(void)
{
	struct maple_tree tree, *mt = &tree;
	unsigned long start = 7, next = 68;

	fill(mt);
	MT_BUG_ON(mt, mtree_alloc_range(mt, &start, V(9), 0, 0, ULONG_MAX, GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_alloc_range(mt, &start, V(9), 1, 5, 4, GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_alloc_range(mt, &start, V(9), 11, 20, 30, GFP_KERNEL) != -EBUSY);
	MT_BUG_ON(mt, mtree_alloc_rrange(mt, &start, V(9), 11, 20, 29, GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_alloc_range(mt, &start, XA_ZERO_ENTRY, 1, 0, ULONG_MAX, GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, start != 7);
	MT_BUG_ON(mt, mtree_alloc_range(mt, &start, V(9), 10, 5, 100, GFP_KERNEL) || start != 20);
	MT_BUG_ON(mt, mtree_alloc_rrange(mt, &start, V(9), 10, 5, 78, GFP_KERNEL) || start != 40);
	MT_BUG_ON(mt, mtree_alloc_rrange(mt, &start, V(9), 1, 0, ULONG_MAX, GFP_KERNEL) || start != ULONG_MAX);

	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, V(9), 9, 70, &next, GFP_KERNEL) || start != 70 || next != 71);
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, V(9), 9, 70, &next, GFP_KERNEL) != 1 || start != 9 || next != 10);
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, V(9), 9, 70, &next, GFP_KERNEL) != -EBUSY || next != 10);
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, XA_ZERO_ENTRY, 0, 9, &next, GFP_KERNEL) != -EINVAL);
	mtree_destroy(mt);

	/* The last index: the tree remembers that the next call wraps. */
	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	next = ULONG_MAX;
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, V(1), 3, ULONG_MAX, &next, GFP_KERNEL) || next != 0);
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, V(2), 3, ULONG_MAX, &next, GFP_KERNEL) != 1 || start != 3);
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, V(3), 3, ULONG_MAX, &next, GFP_KERNEL) != 0 || start != 4);
	mtree_destroy(mt);

	/* Without MT_FLAGS_ALLOC_RANGE a tree gives out no gaps. */
	mt_init(mt);
	MT_BUG_ON(mt, mtree_alloc_range(mt, &start, V(1), 1, 0, 9, GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &start, V(1), 0, 9, &next, GFP_KERNEL) != -EINVAL);
	mtree_destroy(mt);
}

static void check_dup(void)
{
	struct maple_tree from, into, *mt = &from;
	unsigned long index;

	mt_init_flags(&into, MT_FLAGS_ALLOC_RANGE);
	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	/* An empty tree. */
	MT_BUG_ON(mt, mtree_dup(mt, &into, GFP_KERNEL) != 0 || !mtree_empty(&into));
	for (index = 0; index < 1000; index++)
		MT_BUG_ON(mt, mtree_store_range(mt, index * 10, index * 10 + 4, V(index), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_dup(mt, &into, GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_dup(mt, &into, GFP_KERNEL) != -EINVAL);
	mt_validate(&into);
	/* Each goes its own way. */
	MT_BUG_ON(mt, mtree_erase(mt, 500) != V(50) || mtree_load(&into, 500) != V(50));
	for (index = 0; index < 10000; index++)
		MT_BUG_ON(&into, mtree_load(&into, index) != (index % 10 < 5 ? V(index / 10) : NULL));
	mtree_destroy(&into);

	mt_init_flags(&into, 0);
	MT_BUG_ON(mt, mtree_dup(mt, &into, GFP_KERNEL) != -EINVAL || !mtree_empty(&into));
	mt_init_flags(&into, MT_FLAGS_ALLOC_RANGE);
	mtree_lock(&into);
	mtree_lock_nested(mt, 1);
	MT_BUG_ON(mt, __mt_dup(mt, &into, GFP_KERNEL) != 0);
	MT_BUG_ON(mt, __mt_dup(mt, mt, GFP_KERNEL) != -EINVAL);
	mtree_unlock(mt);
	mtree_unlock(&into);
	MT_BUG_ON(mt, mtree_load(&into, 501) != NULL || mtree_load(&into, 511) != V(51));
	mtree_destroy(&into);
	mtree_destroy(mt);
}

/* The flag is kept and compared; readers need no lock with it or without. */
static void check_rcu_flag(void)
{
	struct maple_tree tree, copy, *mt = &tree;

	fill(mt);
	MT_BUG_ON(mt, mt_in_rcu(mt));
	mt_set_in_rcu(mt);
	MT_BUG_ON(mt, !mt_in_rcu(mt) || mtree_load(mt, 15) != V(1) || mtree_load(mt, 69) != V(3));
	mt_validate(mt);
	MT_BUG_ON(mt, mtree_store(mt, 12, V(7), GFP_KERNEL) != 0 || mtree_load(mt, 13) != V(1));
	mt_init_flags(&copy, MT_FLAGS_ALLOC_RANGE);
	MT_BUG_ON(mt, mtree_dup(mt, &copy, GFP_KERNEL) != -EINVAL);
	mt_set_in_rcu(&copy);
	MT_BUG_ON(mt, mtree_dup(mt, &copy, GFP_KERNEL) != 0 || mtree_load(&copy, 12) != V(7));
	mt_clear_in_rcu(mt);
	MT_BUG_ON(mt, mt_in_rcu(mt) || mtree_load(mt, 12) != V(7));
	mtree_destroy(&copy);
	mtree_destroy(mt);
}

static unsigned int called;

struct counted {
	long before;
	struct rcu_head head;
};

static void count(struct rcu_head *head)
{
	struct counted *counted = container_of(head, struct counted, head);

	called += counted->before == 42;
	free(counted);
}

static void check_rcu(void)
{
	struct maple_tree *mt = &fixed;
	struct counted *counted;
	unsigned int i;

	rcu_barrier();
	rcu_read_lock();
	rcu_read_lock();
	rcu_read_unlock();
	for (i = 0; i < 100; i++) {
		counted = malloc(sizeof(*counted));
		MT_BUG_ON(mt, counted == NULL);
		if (counted == NULL)
			continue;
		counted->before = 42;
		call_rcu(&counted->head, count);
	}
	/* This section is older than the callbacks. */
	MT_BUG_ON(mt, called != 0);
	rcu_read_unlock();
	rcu_barrier();
	MT_BUG_ON(mt, called != 100);
	synchronize_rcu();
}

static char dumped[4096];

static void keep(const char *line)
{
	strncat(dumped, line, sizeof(dumped) - strlen(dumped) - 2);
	strncat(dumped, "\n", 2);
}

static void check_dump(void)
{
	struct maple_tree tree, *mt = &tree;

	fill(mt);
	fhk_mt_dump(mt, false, keep);
	MT_BUG_ON(mt, strstr(dumped, "flags 1, height 1\n  0-9: (nil)\n  10-19: 0x3\n") == NULL);
	MT_BUG_ON(mt, strstr(dumped, "  50-59: 0x406\n") == NULL);
	MT_BUG_ON(mt, strstr(dumped, "  70-18446744073709551615: (nil)\n") == NULL);
	dumped[0] = '\0';
	fhk_mt_dump(mt, true, keep);
	MT_BUG_ON(mt, strstr(dumped, "  a-13: 0x3\n") == NULL || strstr(dumped, "-ffffffffffffffff: (nil)\n") == NULL);
	mt_dump(mt, mt_dump_hex);
	mtree_destroy(mt);
}

static void check_locks(void)
{
	struct maple_tree tree, *mt = &tree;
	unsigned long flags;
	static DEFINE_SPINLOCK(lock);
	DEFINE_SPINLOCK(other);
	struct maple_tree made = MTREE_INIT(made, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU);
	MA_STATE(mas, &tree, 0, 0);

	MT_BUG_ON(&made, !mt_in_rcu(&made) || mtree_store(&made, 1, V(1), GFP_KERNEL) != 0);
	mtree_destroy(&made);
	mt_init_flags(mt, MT_FLAGS_LOCK_EXTERN);
	mt_set_external_lock(mt, &lock);
	MT_BUG_ON(mt, (mt->ma_flags & MT_FLAGS_LOCK_MASK) != MT_FLAGS_LOCK_EXTERN);
	spin_lock_irqsave(&lock, flags);
	MT_BUG_ON(mt, spin_trylock(&lock));
	spin_unlock_irqrestore(&lock, flags);
	spin_lock_bh(&lock);
	spin_unlock_bh(&lock);
	spin_lock_irq(&other);
	spin_unlock_irq(&other);
	spin_lock_init(&other);
	spin_lock(&other);
	spin_unlock(&other);
	mas_lock_type(&mas);
	MT_BUG_ON(mt, spin_trylock(&mt->ma_lock));
	mas_unlock_type(&mas);
	mas_lock(&mas);
	MT_BUG_ON(mt, spin_trylock(&mt->ma_lock));
	mas_unlock(&mas);
	MT_BUG_ON(mt, !spin_trylock(&mt->ma_lock));
	mtree_unlock(mt);
}

/* MT_BUG_ON counts, and goes on. */
static int check_counts(void)
{
	unsigned long run = fhk_tests_run(), failed = fhk_tests_failed();
	struct maple_tree *mt = &fixed;

	MT_BUG_ON(mt, 1 + 1 == 2);
	MT_BUG_ON(mt, 1 + 1 == 3);
	return fhk_tests_run() == run + 2 && fhk_tests_failed() == failed + 1;
}

int main(void)
{
	int counts = check_counts();

	check_empty();
	check_entries();
	check_simple();
	check_ends();
	check_alloc();
	check_dup();
	check_rcu_flag();
	check_rcu();
	check_dump();
	check_locks();
	mtree_destroy(&fixed);
	rcu_barrier();
	printf("calls: %lu tests, %lu failed, one of them on purpose\n", fhk_tests_run(), fhk_tests_failed());
	return !counts || fhk_tests_failed() != 1;
}

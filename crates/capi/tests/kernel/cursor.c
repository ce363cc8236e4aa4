/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each function of the cursor: what it returns, and what it does to the tree and the cursor. From each state: states.c.
 */
#include "fill.h"

static void check_stores(void)
{
	struct maple_tree tree, *mt = &tree;
	unsigned long start, next = 0;
	MA_STATE(mas, &tree, 15, 34);

	fill(mt);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_store(&mas, V(9)) != V(1) || mas.index != 15 || mas.last != 34 || !mas_is_active(&mas));
	MT_BUG_ON(mt, mas_prev(&mas, 0) != V(1) || mas.index != 10 || mas.last != 14);
	MT_BUG_ON(mt, mas_store_gfp(&mas, NULL, GFP_KERNEL) != 0 || mas.index != 0 || mas.last != 14);
	/* The state stays with this one. */
	__mas_set_range(&mas, 2, 3);
	MT_BUG_ON(mt, !mas_is_active(&mas) || mas.index != 2 || mas.last != 3);
	mas_set_range(&mas, 100, 109);
	MT_BUG_ON(mt, !mas_is_start(&mas) || mas_store(&mas, XA_ZERO_ENTRY) != NULL);
	MT_BUG_ON(mt, mas_walk(&mas) != XA_ZERO_ENTRY);

	/* Reversed ends: an error, which a reset clears. */
	mas_set_range(&mas, 9, 5);
	MT_BUG_ON(mt, mas_store(&mas, V(1)) || !mas_is_err(&mas) || xa_err(mas.node) != -EINVAL);
	MT_BUG_ON(mt, mas_find(&mas, ULONG_MAX) || mas_nomem(&mas, GFP_KERNEL) || !mas_is_err(&mas));
	mas_reset(&mas);
	MT_BUG_ON(mt, mas_is_err(&mas) || mas_store_gfp(&mas, V(1), GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mas_preallocate(&mas, V(1), GFP_KERNEL) != -EINVAL);

	/* Insert: the entry that is there, or none. */
	mas_set_range(&mas, 90, 100);
	MT_BUG_ON(mt, mas_insert(&mas, V(5)) != NULL || xa_err(mas.node) != -EEXIST);
	mas_set_range(&mas, 34, 36);
	MT_BUG_ON(mt, mas_insert(&mas, V(5)) != V(9) || xa_err(mas.node) != -EEXIST || mas.index != 34);
	mas_set_range(&mas, 90, 99);
	MT_BUG_ON(mt, mas_insert(&mas, V(5)) != NULL || mas_is_err(&mas) || mas.last != 99 || mas_load(&mas) != V(5));

	/* Erase: the cursor is on the gap. */
	mas_set(&mas, 95);
	MT_BUG_ON(mt, mas_erase(&mas) != V(5) || mas.index != 70 || mas.last != 99);
	MT_BUG_ON(mt, mas_erase(&mas) != NULL || mas.index != 70 || mas.last != 99);

	/* Gaps. */
	mas_reset(&mas);
	MT_BUG_ON(mt, mas_empty_area(&mas, 0, ULONG_MAX, 30) || mas.index != 70 || mas.last != 99);
	MT_BUG_ON(mt, mas_store_gfp(&mas, V(6), GFP_KERNEL) != 0 || mas_walk(&mas) != V(6));
	mas_reset(&mas);
	MT_BUG_ON(mt, mas_empty_area_rev(&mas, 0, 200, 10) || mas.index != 191 || mas.last != 200);
	mas_reset(&mas);
	MT_BUG_ON(mt, mas_empty_area(&mas, 15, 109, 30) != -EBUSY || mas_empty_area_rev(&mas, 9, 8, 1) != -EINVAL);

	MT_BUG_ON(mt, mas_alloc_cyclic(&mas, &start, V(7), 100, 110, &next, GFP_KERNEL) || start != 110 || next != 111);
	MT_BUG_ON(mt, mas.index != 110 || mas_walk(&mas) != V(7));
	MT_BUG_ON(mt, mas_alloc_cyclic(&mas, &start, V(7), 50, 110, &next, GFP_KERNEL) != -EINVAL &&
			      mas_alloc_cyclic(&mas, &start, V(7), 50, 110, &next, GFP_KERNEL) != -EBUSY);
	MT_BUG_ON(mt, mas_expected_entries(&mas, 100) != 0);
	mas_unlock(&mas);
	mt_validate(mt);
	mtree_destroy(mt);
}

static void check_preallocate(void)
{
	struct maple_tree tree, *mt = &tree;
	MA_STATE(mas, &tree, 12, 17);
	MA_STATE(other, &tree, 100, 100);

	fill(mt);
	mas_lock(&mas);
	/* Nothing is stored before the store; then it is. */
	MT_BUG_ON(mt, mas_preallocate(&mas, V(5), GFP_KERNEL) != 0 || mtree_load(mt, 12) != V(1));
	MT_BUG_ON(mt, mas.index != 12 || mas.last != 17 || !mas_is_start(&mas));
	mas_store_prealloc(&mas, V(5));
	MT_BUG_ON(mt, mtree_load(mt, 12) != V(5) || mtree_load(mt, 18) != V(1) || mas_is_err(&mas));
	MT_BUG_ON(mt, !mas_is_active(&mas) || mas.index != 12 || mas.last != 17);

	/* Erasing: the cursor lands on the whole gap. */
	mas_set_range(&mas, 5, 35);
	MT_BUG_ON(mt, mas_preallocate(&mas, NULL, GFP_KERNEL) != 0);
	mas_store_prealloc(&mas, NULL);
	MT_BUG_ON(mt, mtree_load(mt, 12) || mas.index != 0 || mas.last != 35 || mtree_load(mt, 36) != V(2));

	/* A plan that is given up, and one that is planned twice. */
	mas_set_range(&mas, 1, 4);
	MT_BUG_ON(mt, mas_preallocate(&mas, V(5), GFP_KERNEL) || mas_preallocate(&mas, V(6), GFP_KERNEL));
	mas_destroy(&mas);
	mas_destroy(&mas);
	MT_BUG_ON(mt, mtree_load(mt, 1) != NULL);

	/* Another store cancels the plan; the store is made all the same. */
	MT_BUG_ON(mt, mas_preallocate(&mas, V(5), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mas_store(&other, V(8)) || mas_is_err(&other));
	mas_store_prealloc(&mas, V(5));
	MT_BUG_ON(mt, mtree_load(mt, 1) != V(5) || mtree_load(mt, 100) != V(8) || mas_is_err(&mas));

	/* So it is for another entry, or another range. */
	mas_set_range(&mas, 1, 4);
	MT_BUG_ON(mt, mas_preallocate(&mas, V(6), GFP_KERNEL) != 0);
	mas_store_prealloc(&mas, V(7));
	MT_BUG_ON(mt, mtree_load(mt, 4) != V(7));
	MT_BUG_ON(mt, mas_preallocate(&mas, V(6), GFP_KERNEL) != 0);
	mas_set_range(&mas, 2, 3);
	mas_store_prealloc(&mas, V(6));
	MT_BUG_ON(mt, mtree_load(mt, 1) != V(7) || mtree_load(mt, 2) != V(6) || mtree_load(mt, 4) != V(7));

	/* Without a plan it is a store. A plan of one cursor is none of another's. */
	mas_set_range(&mas, 200, 209);
	mas_store_prealloc(&mas, V(9));
	MT_BUG_ON(mt, mtree_load(mt, 205) != V(9));
	MT_BUG_ON(mt, mas_preallocate(&mas, V(1), GFP_KERNEL) != 0);
	mas_destroy(&other);
	mas_store_prealloc(&mas, V(1));
	MT_BUG_ON(mt, mtree_load(mt, 205) != V(1));

	/* The tree is destroyed with a plan in it. */
	mas_set_range(&mas, 300, 309);
	MT_BUG_ON(mt, mas_preallocate(&mas, V(1), GFP_KERNEL) != 0);
	mas_unlock(&mas);
	mt_validate(mt);
	mtree_destroy(mt);
	/* The cursor's plan went with it, and is none of a new tree's. */
	MT_BUG_ON(mt, !mtree_empty(mt) || mas_preallocate(&other, V(2), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, other.plan == mas.plan);
	mas_destroy(&mas);
	mas_store_prealloc(&other, V(2));
	MT_BUG_ON(mt, mtree_load(mt, 100) != V(2));
	mtree_destroy(mt);
}

/* Calls that change nothing in a tree without entries make none of the library's: there is nothing to give back, and no error. */
static void check_untouched(void)
{
	struct maple_tree tree, copy, *mt = &tree;
	MA_STATE(mas, &tree, 5, 9);

	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	mt_init_flags(&copy, MT_FLAGS_ALLOC_RANGE);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_empty_area(&mas, 7, 20, 3) || mas.index != 7 || mas.last != 9 || !mas_is_active(&mas));
	MT_BUG_ON(mt, mas_empty_area_rev(&mas, 7, ULONG_MAX, 3) || mas.index != ULONG_MAX - 2 || mas.last != ULONG_MAX);
	MT_BUG_ON(mt, mas_empty_area(&mas, 7, 8, 3) != -EINVAL || mas.last != ULONG_MAX);
	MT_BUG_ON(mt, mas_erase(&mas) || mas_is_err(&mas) || mas.index != 0 || mas.last != ULONG_MAX);
	mas_unlock(&mas);
	MT_BUG_ON(mt, mtree_erase(mt, 5) != NULL || mtree_dup(mt, &copy, GFP_KERNEL) != 0);
	MT_BUG_ON(mt, tree.ma_root != NULL || copy.ma_root != NULL);

	/* A plan that is given up after the tree was destroyed. */
	mas_set(&mas, 5);
	MT_BUG_ON(mt, mas_preallocate(&mas, V(1), GFP_KERNEL) != 0 || tree.ma_root == NULL);
	mtree_destroy(mt);
	mas_destroy(&mas);
	MT_BUG_ON(mt, tree.ma_root != NULL);

	/* An empty tree copies an empty one that had entries: an allocation's wrap is copied, too. */
	MT_BUG_ON(mt, mtree_store(&copy, 1, V(1), GFP_KERNEL) || mtree_dup(mt, &copy, GFP_KERNEL) != -EINVAL);
	MT_BUG_ON(mt, mtree_erase(&copy, 1) != V(1) || mtree_dup(mt, &copy, GFP_KERNEL) != 0 || !mtree_empty(&copy));
	mtree_destroy(&copy);
	mtree_destroy(mt);
}

static void check_loops(void)
{
	struct maple_tree tree, *mt = &tree;
	unsigned long count = 0;
	void *entry;
	MA_STATE(mas, &tree, 0, 0);

	fill(mt);
	rcu_read_lock();
	mas_for_each(&mas, entry, ULONG_MAX)
		count++;
	MT_BUG_ON(mt, count != 4);
	count = 0;
	mas_set(&mas, ULONG_MAX);
	mas_for_each_rev(&mas, entry, 11)
		MT_BUG_ON(mt, mas_walk(&mas) != entry || count++ > 4);
	MT_BUG_ON(mt, count != 4);
	/* A pause in the midst. */
	count = 0;
	mas_set(&mas, 0);
	mas_for_each(&mas, entry, ULONG_MAX) {
		mas_pause(&mas);
		MT_BUG_ON(mt, !mas_is_paused(&mas));
		rcu_read_unlock();
		rcu_read_lock();
		count++;
	}
	MT_BUG_ON(mt, count != 4);
	rcu_read_unlock();
	mtree_destroy(mt);
}

int main(void)
{
	check_stores();
	check_preallocate();
	check_untouched();
	check_loops();
	rcu_barrier();
	printf("cursor: %lu tests, %lu failed\n", fhk_tests_run(), fhk_tests_failed());
	return fhk_tests_failed() != 0;
}

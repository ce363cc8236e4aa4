/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The tree that tests begin with.
 */
#ifndef FILL_H
#define FILL_H

#include <freehold/maple_tree.h>

#define V(number) xa_mk_value(number)

/* Gaps around and between 10..19, 30..39, a zero entry in 50..59, and its neighbour 60..69. */
static void fill(struct maple_tree *mt)
{
	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	MT_BUG_ON(mt, mtree_store_range(mt, 10, 19, V(1), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_store_range(mt, 30, 39, V(2), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_store_range(mt, 50, 59, XA_ZERO_ENTRY, GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_store_range(mt, 60, 69, V(3), GFP_KERNEL) != 0);
}

#endif /* FILL_H */

/*
 * op log every call, tree 0, operations 1..19 of 19
 * freehold emit-c VERSION: freehold emit-c FOLDER/every.txt --mm 0 --calls
 * freehold's tree: 7 entries in 1 nodes of 1 levels before the last store, 6 entries in 1 nodes of 1 levels after
 * stores: append 1, node_store 8, store_root 1; vacant_height 0: 10
 */
static void check_every_0(struct maple_tree *mt)
{
	MA_STATE(mas, mt, 0, 0);
	unsigned long index = 0;
	unsigned long next = 0;

	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	MT_BUG_ON(mt, mtree_store_range(mt, 10, 31, xa_mk_value(10), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_insert_range(mt, 21, 22, xa_mk_value(21), GFP_KERNEL) != -EEXIST);
	MT_BUG_ON(mt, mtree_insert_range(mt, 9223372036854775808UL, 18446744073709551615UL, xa_mk_value(0), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_load(mt, 12) != xa_mk_value(10));
	index = 0;
	MT_BUG_ON(mt, mt_find(mt, &index, 255) != xa_mk_value(10));
	MT_BUG_ON(mt, index != 32);
	MT_BUG_ON(mt, mt_next(mt, 0, 255) != xa_mk_value(10));
	MT_BUG_ON(mt, mtree_alloc_rrange(mt, &index, xa_mk_value(240), 16, 0, 255, GFP_KERNEL) != 0);
	MT_BUG_ON(mt, index != 240);
	next = 254;
	MT_BUG_ON(mt, mtree_alloc_cyclic(mt, &index, xa_mk_value(0), 0, 255, &next, GFP_KERNEL) != 1);
	MT_BUG_ON(mt, index != 0 || next != 1);
	mas_init(&mas, mt, 0);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_empty_area(&mas, 0, 255, 16) != 0);
	mas_unlock(&mas);
	MT_BUG_ON(mt, mas.index != 32 || mas.last != 47);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_store_gfp(&mas, xa_mk_value(32), GFP_KERNEL) != 0);
	mas_unlock(&mas);
	MT_BUG_ON(mt, mas.index != 32 || mas.last != 47);
	mas_init(&mas, mt, 33);
	rcu_read_lock();
	MT_BUG_ON(mt, mas_walk(&mas) != xa_mk_value(32));
	rcu_read_unlock();
	MT_BUG_ON(mt, mas.index != 32 || mas.last != 47);
	rcu_read_lock();
	MT_BUG_ON(mt, mas_next(&mas, 255) != xa_mk_value(240));
	rcu_read_unlock();
	MT_BUG_ON(mt, mas.index != 240 || mas.last != 255);
	mas_init(&mas, mt, 0);
	mas_set_range(&mas, 36, 37);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_store(&mas, NULL) != xa_mk_value(32));
	mas_unlock(&mas);
	MT_BUG_ON(mt, mas.index != 36 || mas.last != 37);
	mas_init(&mas, mt, 0);
	mas_set_range(&mas, 36, 36);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_preallocate(&mas, xa_mk_value(36), GFP_KERNEL) != 0);
	mas_store_prealloc(&mas, xa_mk_value(36));
	mas_unlock(&mas);
	MT_BUG_ON(mt, mas.index != 36 || mas.last != 36);
	mas_init(&mas, mt, 36);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_erase(&mas) != xa_mk_value(36));
	mas_unlock(&mas);
	MT_BUG_ON(mt, mas.index != 36 || mas.last != 37);
	MT_BUG_ON(mt, mtree_store_range(mt, 18, 19, NULL, GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mtree_erase(mt, 10) != xa_mk_value(10));
	mas_init(&mas, mt, 0);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_empty_area_rev(&mas, 0, 255, 8) != 0);
	mas_unlock(&mas);
	MT_BUG_ON(mt, mas.index != 232 || mas.last != 239);
	MT_BUG_ON(mt, mtree_load(mt, 0) != xa_mk_value(0));
	MT_BUG_ON(mt, mtree_load(mt, 10) != NULL);
	MT_BUG_ON(mt, mtree_load(mt, 17) != NULL);
	MT_BUG_ON(mt, mtree_load(mt, 18) != NULL);
	MT_BUG_ON(mt, mtree_load(mt, 19) != NULL);
	MT_BUG_ON(mt, mtree_load(mt, 32) != xa_mk_value(32));
	MT_BUG_ON(mt, mtree_load(mt, 36) != NULL);
	MT_BUG_ON(mt, mtree_load(mt, 37) != NULL);
	MT_BUG_ON(mt, mtree_load(mt, 47) != xa_mk_value(32));
	MT_BUG_ON(mt, mtree_load(mt, 240) != xa_mk_value(240));
	MT_BUG_ON(mt, mtree_load(mt, 255) != xa_mk_value(240));
	mas_init(&mas, mt, 0);
	mas_lock(&mas);
	MT_BUG_ON(mt, mas_empty_area_rev(&mas, 0, 255, 8) != 0);
	mas_unlock(&mas);
	MT_BUG_ON(mt, mas.index != 232 || mas.last != 239);
	mt_validate(mt);
	mtree_destroy(mt);
}

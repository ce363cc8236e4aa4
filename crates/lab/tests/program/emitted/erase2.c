/*
 * op log every call, tree 0, operations 1..19 of 19
 * freehold emit-c VERSION: freehold emit-c FOLDER/every.txt --mm 0 --erase2
 * freehold's tree: 7 entries in 1 nodes of 1 levels before the last store, 6 entries in 1 nodes of 1 levels after
 * stores: append 1, node_store 8, store_root 1; vacant_height 0: 10
 */
static const unsigned long set_every_0[] = {
STORE, 10, 31,
STORE, 9223372036854775808UL, 18446744073709551615UL,
STORE, 240, 255,
STORE, 0, 0,
STORE, 32, 47,
SNULL, 36, 37,
STORE, 36, 36,
ERASE, 36, 36,
SNULL, 18, 19,
ERASE, 10, 17,
};

static void check_every_0(struct maple_tree *mt)
{
	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	check_erase2_testset(mt, set_every_0, ARRAY_SIZE(set_every_0));
	rcu_barrier();
	mt_validate(mt);
	MT_BUG_ON(mt, mtree_load(mt, 10) != NULL);
	mtree_destroy(mt);
}

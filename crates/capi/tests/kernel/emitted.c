/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Runs what `freehold emit-c` wrote against freehold/maple_tree.h: EMITTED is its file, CHECK its function. Exits with 1 if a test
 * failed. Also what a set is run by here, from the description of such sets alone: triples of STORE, SNULL or ERASE with the
 * first and last index, after each of which the tree is validated and its entries are counted.
 */
#include <freehold/maple_tree.h>

#define STORE 1
#define SNULL 2
#define ERASE 3
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define MOST 65536

/* First, last and value of what must be there, in any order. */
static struct { unsigned long first, last, value; } known[MOST];
static unsigned long count;

/* Forgets what is within the range; what is left of an entry on either side keeps its value. Whether it was one whole entry. */
static inline bool forget(struct maple_tree *mt, unsigned long first, unsigned long last)
{
	unsigned long i = 0, met = 0;
	bool whole = false;

	while (i < count) {
		unsigned long low = known[i].first, high = known[i].last, value = known[i].value;

		if (high < first || low > last) {
			i++;
			continue;
		}
		met++;
		whole = low == first && high == last;
		known[i] = known[--count];
		MT_BUG_ON(mt, count + 2 > MOST);
		if (low < first) {
			known[count].first = low;
			known[count].last = first - 1;
			known[count++].value = value;
		}
		if (high > last) {
			known[count].first = last + 1;
			known[count].last = high;
			known[count++].value = value;
		}
		/* What was moved here lies outside, or was put behind. */
		i = 0;
	}
	return met == 1 && whole;
}

static inline void check_erase2_testset(struct maple_tree *mt, const unsigned long *set, unsigned long size)
{
	unsigned long at, i, found;
	void *entry;

	MT_BUG_ON(mt, size % 3 != 0);
	count = 0;
	for (at = 0; at + 2 < size; at += 3) {
		unsigned long first = set[at + 1], last = set[at + 2];
		MA_STATE(mas, mt, first, last);
		MA_STATE(walk, mt, 0, 0);
		bool whole = forget(mt, first, last);

		mas_lock(&mas);
		switch (set[at]) {
		case STORE:
			MT_BUG_ON(mt, mas_store_gfp(&mas, xa_mk_value(first & LONG_MAX), GFP_KERNEL) != 0);
			known[count].first = first;
			known[count].last = last;
			known[count++].value = first & LONG_MAX;
			break;
		case SNULL:
			MT_BUG_ON(mt, mas_store_gfp(&mas, NULL, GFP_KERNEL) != 0);
			break;
		case ERASE:
			mas_set(&mas, first);
			MT_BUG_ON(mt, mas_erase(&mas) == NULL || !whole);
			break;
		default:
			MT_BUG_ON(mt, true);
		}
		mas_unlock(&mas);
		mt_validate(mt);
		found = 0;
		rcu_read_lock();
		mas_for_each(&walk, entry, ULONG_MAX)
			found++;
		rcu_read_unlock();
		MT_BUG_ON(mt, found != count);
	}
	for (i = 0; i < count; i++) {
		MT_BUG_ON(mt, mtree_load(mt, known[i].first) != xa_mk_value(known[i].value));
		MT_BUG_ON(mt, mtree_load(mt, known[i].last) != xa_mk_value(known[i].value));
	}
}

#include EMITTED

int main(void)
{
	struct maple_tree tree;

	CHECK(&tree);
	printf("%lu tests, %lu failed\n", fhk_tests_run(), fhk_tests_failed());
	return fhk_tests_run() < 2 || fhk_tests_failed() != 0;
}

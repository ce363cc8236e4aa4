/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A table of sessions as a kernel developer writes it: numbers from a tree that gives them out, objects that readers use
 * under RCU while a writer replaces and frees them, a second tree of address ranges that is forked.
 */
#include <freehold.h>
#include <freehold/maple_tree.h>

#include <assert.h>
#include <stdlib.h>

#define READERS 2
#define IDS 64
#define ROUNDS 20000

struct session {
	unsigned long id;
	unsigned long check; /* ~id while the session lives */
	struct rcu_head rcu;
};

static DEFINE_MTREE(sessions);
static volatile bool stop;
static unsigned long freed;

static void session_free(struct rcu_head *head)
{
	struct session *session = container_of(head, struct session, rcu);

	session->check = 0;
	freed++;
	free(session);
}

static struct session *session_new(unsigned long id)
{
	struct session *session = malloc(sizeof(*session));

	assert(session != NULL);
	session->id = id;
	session->check = ~id;
	return session;
}

/* Looks sessions up, one by one and all of them, while they are replaced. */
static void *reader(void *unused)
{
	unsigned long seen = 0, id = 0;
	struct session *session;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		MA_STATE(mas, &sessions, 0, 0);
		unsigned long index = 0, last = 0;

		rcu_read_lock();
		session = mtree_load(&sessions, id);
		if (session != NULL) {
			MT_BUG_ON(&sessions, session->id != id || session->check != ~id);
			seen++;
		}
		mas_for_each(&mas, session, IDS - 1) {
			MT_BUG_ON(&sessions, session->id != mas.index || session->check != ~mas.index);
			MT_BUG_ON(&sessions, mas.index < last);
			last = mas.index;
		}
		mt_for_each(&sessions, session, index, IDS - 1)
			MT_BUG_ON(&sessions, session->check != ~session->id);
		rcu_read_unlock();
		id = (id + 1) % IDS;
	}
	(void)unused;
	return (void *)seen;
}

static void check_sessions(void)
{
	pthread_t threads[READERS];
	unsigned long random = 1, removed = 0, seen = 0, round;
	struct session *old;
	int i;

	mt_init_flags(&sessions, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU);
	for (i = 0; i < READERS; i++)
		assert(pthread_create(&threads[i], NULL, reader, NULL) == 0);
	for (round = 0; round < ROUNDS; round++) {
		unsigned long id;

		/* The flag may change on a filled tree that is being read: readers never took a lock. */
		if (round % 100 == 0)
			(round % 200 == 0 ? mt_clear_in_rcu : mt_set_in_rcu)(&sessions);
		random = random * 6364136223846793005UL + 1442695040888963407UL;
		id = (random >> 33) % IDS;
		if (random >> 63) {
			struct session *session = session_new(id);
			MA_STATE(mas, &sessions, id, id);

			mas_lock(&mas);
			MT_BUG_ON(&sessions, mas_preallocate(&mas, session, GFP_KERNEL) != 0);
			old = mas_walk(&mas);
			mas_set(&mas, id);
			mas_store_prealloc(&mas, session);
			mas_unlock(&mas);
		} else {
			old = mtree_erase(&sessions, id);
		}
		if (old != NULL) {
			removed++;
			call_rcu(&old->rcu, session_free);
		}
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < READERS; i++) {
		void *result;

		assert(pthread_join(threads[i], &result) == 0);
		seen += (unsigned long)result;
	}
	rcu_barrier();
	MT_BUG_ON(&sessions, freed != removed);
	mt_validate(&sessions);
	{
		MA_STATE(mas, &sessions, 0, 0);

		mas_lock(&mas);
		mas_for_each(&mas, old, ULONG_MAX)
			free(old);
		__mt_destroy(&sessions);
		mas_unlock(&mas);
	}
	MT_BUG_ON(&sessions, !mtree_empty(&sessions));
	printf("sessions: %lu freed after their readers, %lu seen by them\n", freed, seen);
}

/* An address space: areas from the top, holes, and a fork that changes on its own. */
static void check_areas(void)
{
	struct maple_tree areas, child;
	unsigned long index, tag = 0, total = 0;
	void *entry;
	MA_STATE(mas, &areas, 0, 0);

	mt_init_flags(&areas, MT_FLAGS_ALLOC_RANGE);
	mt_init_flags(&child, MT_FLAGS_ALLOC_RANGE);
	mas_lock(&mas);
	for (tag = 1; tag <= 100; tag++) {
		mas_reset(&mas);
		MT_BUG_ON(&areas, mas_empty_area_rev(&mas, 0x10000, 0x7fffffffefff, 0x1000 * tag) != 0);
		MT_BUG_ON(&areas, mas.last - mas.index + 1 != 0x1000 * tag);
		MT_BUG_ON(&areas, mas_store_gfp(&mas, xa_mk_value(tag), GFP_KERNEL) != 0);
	}
	mas_unlock(&mas);
	MT_BUG_ON(&areas, mtree_load(&areas, 0x7fffffffefff) != xa_mk_value(1));
	MT_BUG_ON(&areas, mtree_load(&areas, 0x7fffffffe000) != xa_mk_value(1));
	MT_BUG_ON(&areas, mtree_load(&areas, 0x7fffffffdfff) != xa_mk_value(2));

	/* munmap() in the middle of an area. */
	index = 0;
	entry = mt_find(&areas, &index, ULONG_MAX);
	MT_BUG_ON(&areas, entry != xa_mk_value(100));
	MT_BUG_ON(&areas, mtree_store_range(&areas, index - 0x3000, index - 0x2001, NULL, GFP_KERNEL) != 0);
	MT_BUG_ON(&areas, mtree_load(&areas, index - 0x2001) || mtree_load(&areas, index - 0x2000) != entry);
	MT_BUG_ON(&areas, mtree_load(&areas, index - 0x3001) != entry);

	MT_BUG_ON(&areas, mtree_dup(&areas, &child, GFP_KERNEL) != 0);
	MT_BUG_ON(&child, mtree_erase(&child, 0x7fffffffe000) != xa_mk_value(1));
	MT_BUG_ON(&areas, mtree_load(&areas, 0x7fffffffe000) != xa_mk_value(1));
	index = 0;
	mt_for_each(&child, entry, index, ULONG_MAX)
		total += xa_to_value(entry);
	MT_BUG_ON(&child, total != 5050 - 1 + 100);
	mt_validate(&areas);
	mt_validate(&child);
	mtree_destroy(&areas);
	mtree_destroy(&child);
}

int main(void)
{
	check_sessions();
	check_areas();
	rcu_barrier();
	printf("sessions: %lu tests, %lu failed\n", fhk_tests_run(), fhk_tests_failed());
	return fhk_tests_failed() != 0;
}

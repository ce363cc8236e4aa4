/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every allocation of a run of calls is refused in turn: the call returns -ENOMEM, nothing has changed, and a planned store
 * is made without memory. Linked with --wrap for malloc, calloc, realloc and memalign.
 */
/* fork. */
#define _POSIX_C_SOURCE 200809L

#include <freehold/maple_tree.h>
#include <freehold/percpu.h>
#include <freehold/vmalloc.h>

#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define V(number) xa_mk_value(number)
#define ENTRIES 400

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_memalign(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_memalign(size_t alignment, size_t size);

/* Allocations until one is refused; those after it are refused, too, while `for_good`. 0: none is. */
static unsigned long countdown;
static bool for_good, refused;
/* Calls that returned -ENOMEM. */
static unsigned long reported;

static bool refuse(void)
{
	if (countdown == 0 || (countdown > 1 && countdown--))
		return false;
	refused = true;
	if (!for_good)
		countdown = 0;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
	return refuse() ? NULL : __real_realloc(block, size);
}

void *__wrap_memalign(size_t alignment, size_t size)
{
	return refuse() ? NULL : __real_memalign(alignment, size);
}

/* Whether the tree has the first `n` entries of the run, and no others. */
static bool holds(struct maple_tree *mt, unsigned long n)
{
	unsigned long index = 0, count = 0;
	void *entry;

	mt_for_each(mt, entry, index, ULONG_MAX) {
		if (entry != V(count) || index != count * 4 + 2)
			return false;
		count++;
	}
	return count == n;
}

/* Stores, with the nth allocation refused. Returns whether one was. */
static bool stores(unsigned long nth, bool planned)
{
	struct maple_tree tree, copy, *mt = &tree;
	unsigned long i, errors = 0;
	int code;

	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	mt_init_flags(&copy, MT_FLAGS_ALLOC_RANGE);
	refused = false;
	countdown = nth;
	for (i = 0; i < ENTRIES;) {
		MA_STATE(mas, mt, i * 4, i * 4 + 1);

		if (planned) {
			mas_lock(&mas);
			code = mas_preallocate(&mas, V(i), GFP_KERNEL);
			if (code == 0) {
				unsigned long left = countdown;

				/* From here on nothing is to be had. */
				countdown = 1;
				for_good = true;
				refused = false;
				mas_store_prealloc(&mas, V(i));
				MT_BUG_ON(mt, mas_is_err(&mas) || refused);
				for_good = false;
				refused = errors != 0;
				countdown = left;
			}
			mas_unlock(&mas);
		} else {
			code = mtree_store_range(mt, i * 4, i * 4 + 1, V(i), GFP_KERNEL);
		}
		if (code == 0) {
			i++;
			continue;
		}
		MT_BUG_ON(mt, code != -ENOMEM || !refused || errors++ != 0 || !holds(mt, i));
		mt_validate(mt);
	}
	MT_BUG_ON(mt, !holds(mt, ENTRIES));
	if (errors == 0 && !refused) {
		/* The refusal is for the copy, if it is not one that another allocation makes good, as of a realloc. */
		code = mtree_dup(mt, &copy, GFP_KERNEL);
		MT_BUG_ON(mt, code != 0 && (code != -ENOMEM || !refused));
		MT_BUG_ON(mt, !holds(&copy, code == 0 ? ENTRIES : 0));
		errors += code != 0;
	}
	countdown = 0;
	mt_validate(mt);
	mtree_destroy(&copy);
	mtree_destroy(mt);
	reported += errors;
	return refused;
}

/* A planned store of a tree that is copied meanwhile is made without memory; what an empty tree answers needs none, either. */
static void copied(void)
{
	struct maple_tree tree, copy, *mt = &tree;
	MA_STATE(mas, &tree, 8, 9);
	MA_STATE(none, &copy, 8, 9);

	mt_init_flags(mt, MT_FLAGS_ALLOC_RANGE);
	mt_init_flags(&copy, MT_FLAGS_ALLOC_RANGE);
	countdown = 1;
	for_good = true;
	MT_BUG_ON(mt, mas_empty_area(&none, 4, 9, 2) != 0 || none.index != 4 || mas_erase(&none) || mas_is_err(&none));
	countdown = 0;
	MT_BUG_ON(mt, mtree_store_range(mt, 0, 99, V(1), GFP_KERNEL) != 0);
	MT_BUG_ON(mt, mas_preallocate(&mas, V(2), GFP_KERNEL) != 0 || mtree_dup(mt, &copy, GFP_KERNEL) != 0);
	countdown = 1;
	mas_store_prealloc(&mas, V(2));
	MT_BUG_ON(mt, mas_is_err(&mas) || mtree_load(mt, 9) != V(2) || mtree_load(&copy, 9) != V(1));
	countdown = 0;
	for_good = false;
	mtree_destroy(&copy);
	mtree_destroy(mt);
}

/* Per-CPU objects and counters, with the nth allocation refused. Returns whether one was. */
static bool per_cpu(unsigned long nth)
{
	struct maple_tree tree, *mt = &tree;
	struct percpu_counter counter;
	unsigned long i, errors = 0;
	void __percpu *objects[40];

	mt_init(mt);
	refused = false;
	countdown = nth;
	for (i = 0; i < 40; i++) {
		objects[i] = __alloc_percpu(30000, 8);
		errors += objects[i] == NULL;
	}
	if (percpu_counter_init(&counter, 5, GFP_KERNEL) != 0)
		errors++;
	else
		MT_BUG_ON(mt, percpu_counter_sum(&counter) != 5);
	MT_BUG_ON(mt, errors > 1 || (errors == 1 && !refused));
	countdown = 1;
	for_good = true;
	/* Freeing takes none. */
	for (i = 0; i < 40; i++)
		free_percpu(objects[i]);
	percpu_counter_destroy(&counter);
	for_good = false;
	countdown = 0;
	reported += errors;
	return refused && nth < 100;
}

static bool first_vmalloc(void)
{
	void *block = vmalloc(5000);

	vfree(block);
	return block != NULL;
}

static bool first_alloc_percpu(void)
{
	void __percpu *object = __alloc_percpu(8, 8);

	free_percpu(object);
	return object != NULL;
}

static bool first_call_rcu(void)
{
	static struct rcu_head head;

	call_rcu(&head, NULL);
	rcu_barrier();
	return true;
}

/* The first call of a process, with the nth allocation and all after it refused: it fails, and works once there is memory. Returns
 * whether one was refused. */
static bool first(bool (*call)(void), unsigned long nth)
{
	struct maple_tree tree, *mt = &tree;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		bool works;

		countdown = nth;
		for_good = true;
		works = call();
		countdown = 0;
		_exit(!call() || (!refused && !works) ? 1 : refused ? 2 : 0);
	}
	mt_init(mt);
	MT_BUG_ON(mt, pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == 1);
	return nth < 200 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

int main(void)
{
	bool (*const calls[])(void) = { first_vmalloc, first_alloc_percpu, first_call_rcu };
	unsigned long nth, all = 0;
	int planned, call;

	for (call = 0; call < 3; call++) {
		for (nth = 1; first(calls[call], nth); nth++)
			all++;
	}
	for (nth = 1; per_cpu(nth); nth++)
		all++;

	/* A thread's first look-up needs memory, and cannot return an error. */
	rcu_read_lock();
	rcu_read_unlock();
	copied();
	for (planned = 0; planned < 2; planned++) {
		for (nth = 1; stores(nth, planned != 0); nth++)
			all++;
	}
	rcu_barrier();
	printf("nomem: %lu refused allocations, %lu errors, %lu tests, %lu failed\n", all, reported, fhk_tests_run(),
	       fhk_tests_failed());
	return all < 20 || reported < 20 || fhk_tests_failed() != 0;
}

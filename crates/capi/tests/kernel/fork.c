/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A child of fork() of a program with threads: its trees can be written and destroyed, whatever a lost thread had planned or
 * was storing, and its callbacks are called.
 */
/* fork, alarm. */
#define _POSIX_C_SOURCE 200809L

#include <freehold/maple_tree.h>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define V(number) xa_mk_value(number)

struct object {
	struct rcu_head head;
	int *called;
};

static DEFINE_MTREE(tree);
static int calls;
static bool in_child;
static int inner;
static volatile bool stop;
static bool refused;

static void count(struct rcu_head *head)
{
	++*container_of(head, struct object, head)->called;
}

/* Whether a child finds everything right; it is killed if it hangs. */
static bool child(bool (*works)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(30);
		_exit(works() && fhk_tests_failed() == 0 ? 0 : 1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool calls_back(void)
{
	struct object object = { { NULL, NULL }, &calls };
	int before = calls;

	call_rcu(&object.head, count);
	rcu_barrier();
	rcu_barrier();
	return calls == before + 1;
}

/* A callback that forks: the child goes on with it, and with the callbacks after it. */
static void fork_within(struct rcu_head *head)
{
	int status;
	pid_t pid = fork();

	(void)head;
	if (pid == 0) {
		alarm(30);
		in_child = true;
	} else {
		inner = waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
}

static void leave(struct rcu_head *head)
{
	(void)head;
	if (in_child)
		_exit(7);
}

static void *plan(void *unused)
{
	MA_STATE(mas, &tree, 10, 19);

	(void)unused;
	mas_lock(&mas);
	MT_BUG_ON(&tree, mas_preallocate(&mas, V(1), GFP_KERNEL) != 0);
	mas_unlock(&mas);
	return NULL;
}

static bool stores_and_destroys(void)
{
	MA_STATE(mas, &tree, 30, 39);

	mas_lock(&mas);
	MT_BUG_ON(&tree, mas_preallocate(&mas, V(3), GFP_KERNEL) != 0);
	mas_store_prealloc(&mas, V(3));
	mas_unlock(&mas);
	MT_BUG_ON(&tree, mtree_store(&tree, 15, V(2), GFP_KERNEL) || mtree_load(&tree, 15) != V(2));
	MT_BUG_ON(&tree, mtree_load(&tree, 10) || mtree_load(&tree, 35) != V(3));
	mt_validate(&tree);
	/* Within a read section: the tree is given back by a callback. */
	rcu_read_lock();
	mtree_destroy(&tree);
	rcu_read_unlock();
	synchronize_rcu();
	return mtree_empty(&tree) && calls_back();
}

static void *store(void *unused)
{
	unsigned long at;

	for (at = 0; !stop; at++)
		refused |= mtree_store(&tree, at % 100, V(at % 100), GFP_KERNEL) != 0;
	return unused;
}

/* The tree's lock may be the lost thread's; what that was storing is there or is not. */
static bool stores_beside_others(void)
{
	spin_lock_init(&tree.ma_lock);
	MT_BUG_ON(&tree, mtree_store(&tree, 200, V(2), GFP_KERNEL) || mtree_load(&tree, 200) != V(2));
	mt_validate(&tree);
	return true;
}

int main(void)
{
	int round;
	struct rcu_head first, second;
	pthread_t thread;

	MT_BUG_ON(&tree, !child(calls_back));
	/* From here on there is a thread for callbacks. */
	MT_BUG_ON(&tree, !calls_back() || calls != 1);
	MT_BUG_ON(&tree, !child(calls_back));

	MT_BUG_ON(&tree, pthread_create(&thread, NULL, plan, NULL) != 0);
	pthread_join(thread, NULL);
	MT_BUG_ON(&tree, !child(stores_and_destroys) || !stores_and_destroys());

	MT_BUG_ON(&tree, pthread_create(&thread, NULL, store, NULL) != 0);
	for (round = 0; round < 500 && fhk_tests_failed() == 0; round++)
		MT_BUG_ON(&tree, !child(stores_beside_others));
	stop = true;
	pthread_join(thread, NULL);
	MT_BUG_ON(&tree, refused);
	mtree_destroy(&tree);

	rcu_read_lock();
	call_rcu(&first, fork_within);
	call_rcu(&second, leave);
	rcu_read_unlock();
	rcu_barrier();
	MT_BUG_ON(&tree, inner != 7);
	MT_BUG_ON(&tree, !calls_back());
	printf("fork: %lu tests, %lu failed\n", fhk_tests_run(), fhk_tests_failed());
	return fhk_tests_failed() != 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each name of freehold/percpu.h: objects of each size, sums of operations by threads that are moved between CPUs, and
 * counters whose shared count is never further from the sum than the batches allow.
 */
#define _GNU_SOURCE
#include <freehold/maple_tree.h>
#include <freehold/percpu.h>

#include <sched.h>
#include <stdint.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 100000

static DEFINE_MTREE(unused);
#define CHECK(condition) MT_BUG_ON(&unused, !(condition))

struct stats {
	unsigned long hits;
	signed int level;
	unsigned short small;
	unsigned char tiny;
	unsigned int bits;
};

static struct stats __percpu *stats;
static struct percpu_counter counter, local;

static void objects(void)
{
	static const size_t sizes[] = { 1, 4, 8, 24, 100, 4096, 32768 };
	char __percpu *made[7], __percpu *aligned, *copy;
	unsigned int cpu, seen = 0;
	int round;
	size_t i, j;

	CHECK(num_possible_cpus() == nr_cpu_ids && nr_cpu_ids > 0 && raw_smp_processor_id() < nr_cpu_ids);
	for_each_possible_cpu(cpu)
		seen++;
	CHECK(seen == nr_cpu_ids);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 7; i++) {
			made[i] = (char __percpu *)__alloc_percpu(sizes[i], 1);
			CHECK(made[i] != NULL);
			for_each_possible_cpu(cpu) {
				copy = per_cpu_ptr(made[i], cpu);
				for (j = 0; j < sizes[i] && copy[j] == 0; j++)
					;
				CHECK(j == sizes[i]);
				memset(copy, (int)(i * 16 + cpu + 1), sizes[i]);
			}
		}
		for (i = 0; i < 7; i++) {
			for_each_possible_cpu(cpu) {
				copy = per_cpu_ptr(made[i], cpu);
				CHECK(copy[0] == (char)(i * 16 + cpu + 1) && copy[sizes[i] - 1] == copy[0]);
			}
			free_percpu(made[i]);
		}
	}
	aligned = (char __percpu *)__alloc_percpu_gfp(64, 4096, GFP_ATOMIC);
	CHECK(aligned != NULL && (uintptr_t)aligned % 4096 == 0 && (uintptr_t)per_cpu_ptr(aligned, nr_cpu_ids - 1) % 4096 == 0);
	CHECK(per_cpu_ptr(aligned, 0) == aligned);
	/* Freed in its midst, twice, and what never was one: said, and nothing happens. */
	aligned[5] = 1;
	CHECK(fhk_free_percpu(aligned + 4) != 0 && fhk_free_percpu(&seen) != 0);
	free_percpu(aligned + 8);
	CHECK(aligned[5] == 1);
	free_percpu(aligned);
	CHECK(fhk_free_percpu(aligned) != 0 && fhk_free_percpu(NULL) != 0);
	free_percpu(NULL);
	CHECK(__alloc_percpu(0, 1) == NULL && __alloc_percpu(32769, 1) == NULL && __alloc_percpu(8, 3) == NULL);
	CHECK(__alloc_percpu(8, 8192) == NULL && __alloc_percpu(SIZE_MAX, 8) == NULL && __alloc_percpu(8, 0) == NULL);
}

/* Many objects, or all that there is memory for; after their free there are as many again. */
static void many(void)
{
	struct node {
		struct node *next;
		char bytes[32760];
	} __percpu *all[2] = { NULL, NULL }, __percpu *node;
	unsigned long count[2] = { 0, 0 };
	int round;

	for (round = 0; round < 2; round++) {
		while (count[round] < 500 && (node = alloc_percpu(struct node)) != NULL) {
			node->next = all[round];
			all[round] = node;
			count[round]++;
		}
		while (all[round] != NULL) {
			node = all[round];
			all[round] = node->next;
			free_percpu(node);
		}
	}
	CHECK(count[0] > 0 && count[0] == count[1]);
}

/* One thread: values and returns are exact on whichever CPU it is, if it stays there. */
static void operations(void)
{
	struct stats __percpu *own = alloc_percpu_gfp(struct stats, GFP_KERNEL);
	cpu_set_t before, one;
	unsigned long sum = 0;
	unsigned int cpu;

	CHECK(own != NULL);
	CHECK(sched_getaffinity(0, sizeof(before), &before) == 0);
	CPU_ZERO(&one);
	CPU_SET((unsigned int)sched_getcpu(), &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	this_cpu_write(own->hits, 40);
	this_cpu_add(own->hits, 5);
	this_cpu_sub(own->hits, 2);
	this_cpu_inc(own->hits);
	this_cpu_dec(own->level);
	CHECK(this_cpu_read(own->hits) == 44 && this_cpu_read(own->level) == -1);
	CHECK(this_cpu_add_return(own->hits, 6) == 50 && this_cpu_sub_return(own->hits, 8) == 42);
	CHECK(this_cpu_inc_return(own->level) == 0 && this_cpu_dec_return(own->level) == -1);
	this_cpu_write(own->small, 65535);
	this_cpu_inc(own->small);
	this_cpu_dec(own->tiny);
	CHECK(this_cpu_read(own->small) == 0 && this_cpu_read(own->tiny) == 255);
	this_cpu_or(own->bits, 0xf0u);
	this_cpu_and(own->bits, 0x3cu);
	CHECK(this_cpu_xchg(own->bits, 7u) == 0x30u);
	CHECK(this_cpu_cmpxchg(own->bits, 6u, 1u) == 7u && this_cpu_cmpxchg(own->bits, 7u, 9u) == 7u);
	CHECK(this_cpu_ptr(own)->bits == 9 && this_cpu_ptr(&own->bits) == &this_cpu_ptr(own)->bits);
	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(own, cpu)->hits;
	CHECK(sum == 42);
	CHECK(sched_setaffinity(0, sizeof(before), &before) == 0);
	free_percpu(own);
}

static void *work(void *number)
{
	long round, thread = (long)(intptr_t)number;
	cpu_set_t all, one;

	CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
	for (round = 0; round < ROUNDS; round++) {
		this_cpu_inc(stats->hits);
		this_cpu_add(stats->level, thread % 2 == 0 ? 3 : -3);
		percpu_counter_add(&counter, round % 7 - 2);
		percpu_counter_add_local(&local, thread % 2 == 0 ? 1000 : -999);
		if (round % 1000 == 0) {
			/* Now here, now there. */
			unsigned int cpu = (unsigned int)(round / 1000 + thread) % nr_cpu_ids;

			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			if (CPU_ISSET(cpu, &all))
				CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
			percpu_counter_sync(&local);
		}
	}
	return NULL;
}

/* What `work` adds to the counter in `rounds` rounds. */
static long expected(long rounds)
{
	long round, sum = 0;

	for (round = 0; round < rounds; round++)
		sum += round % 7 - 2;
	return sum;
}

static void threads(void)
{
	pthread_t running[THREADS];
	unsigned long hits = 0;
	signed long long count, last = 0;
	unsigned int cpu;
	long level = 0;
	int i;

	stats = alloc_percpu(struct stats);
	CHECK(stats != NULL);
	CHECK(percpu_counter_init(&counter, 0, GFP_KERNEL) == 0 && percpu_counter_init(&local, 0, GFP_KERNEL) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&running[i], NULL, work, (void *)(intptr_t)i) == 0);
	/* Sums rise, up to what a part of a round of seven takes back, and never pass the end. */
	do {
		count = percpu_counter_sum(&counter);
		CHECK(count >= last - THREADS * 7 && count <= (signed long long)THREADS * (expected(ROUNDS) + 7));
		last = count;
		hits = 0;
		for_each_possible_cpu(cpu)
			hits += __atomic_load_n(&per_cpu_ptr(stats, cpu)->hits, __ATOMIC_RELAXED);
	} while (hits < (unsigned long)THREADS * ROUNDS);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(running[i], NULL) == 0);
	for_each_possible_cpu(cpu)
		level += per_cpu_ptr(stats, cpu)->level;
	CHECK(hits == (unsigned long)THREADS * ROUNDS && level == 0);
	count = percpu_counter_sum(&counter);
	CHECK(count == THREADS * expected(ROUNDS));
	last = count - percpu_counter_read(&counter);
	CHECK(last < (signed long long)nr_cpu_ids * percpu_counter_batch && last > -(signed long long)nr_cpu_ids * percpu_counter_batch);
	CHECK(percpu_counter_sum(&local) == (signed long long)ROUNDS * (2 * 1000 - 2 * 999));
	free_percpu(stats);
	percpu_counter_destroy(&counter);
	percpu_counter_destroy(&local);
}

static void counters(void)
{
	struct percpu_counter fbc;
	s64 large = (s64)1 << 40;
	int i;

	CHECK(percpu_counter_batch >= 32 && percpu_counter_batch >= (int)(2 * nr_cpu_ids));
	CHECK(percpu_counter_init(&fbc, 100, GFP_KERNEL) == 0 && percpu_counter_initialized(&fbc));
	CHECK(percpu_counter_read(&fbc) == 100 && percpu_counter_sum(&fbc) == 100);
	percpu_counter_inc(&fbc);
	percpu_counter_inc(&fbc);
	percpu_counter_dec(&fbc);
	/* Below a batch: in the sum, not in what a load reads. */
	CHECK(percpu_counter_read(&fbc) == 100 && percpu_counter_sum(&fbc) == 101);
	percpu_counter_add(&fbc, large);
	CHECK(percpu_counter_read(&fbc) >= 100 + large && percpu_counter_sum(&fbc) == 101 + large);
	percpu_counter_sub(&fbc, large);
	CHECK(percpu_counter_sum(&fbc) == 101);
	percpu_counter_set(&fbc, -5);
	CHECK(percpu_counter_read(&fbc) == -5 && percpu_counter_sum(&fbc) == -5);
	CHECK(percpu_counter_read_positive(&fbc) == 0 && percpu_counter_sum_positive(&fbc) == 0);
	percpu_counter_set(&fbc, 7);
	CHECK(percpu_counter_read_positive(&fbc) == 7 && percpu_counter_sum_positive(&fbc) == 7);
	/* A batch of the caller's, reached from either side. */
	for (i = 0; i < 1000; i++)
		percpu_counter_add_batch(&fbc, i % 2 == 0 ? 3 : -2, 1000000);
	CHECK(percpu_counter_read(&fbc) == 7 && percpu_counter_sum(&fbc) == 507);
	percpu_counter_add_batch(&fbc, 1, 1);
	CHECK(percpu_counter_read(&fbc) > 7 && percpu_counter_sum(&fbc) == 508);
	percpu_counter_sub_local(&fbc, 8);
	CHECK(percpu_counter_sum(&fbc) == 500);
	/* Near: by the sum. Far: by the shared count. */
	CHECK(percpu_counter_compare(&fbc, 500) == 0 && percpu_counter_compare(&fbc, 501) == -1);
	CHECK(percpu_counter_compare(&fbc, 499) == 1 && percpu_counter_compare(&fbc, large) == -1);
	CHECK(percpu_counter_compare(&fbc, -large) == 1 && __percpu_counter_compare(&fbc, 505, 1000) == -1);
	/* Further away than a signed number can be: a limit that none reaches. */
	CHECK(percpu_counter_compare(&fbc, LLONG_MIN) == 1 && percpu_counter_compare(&fbc, LLONG_MAX) == -1);
	percpu_counter_set(&fbc, -2);
	CHECK(percpu_counter_compare(&fbc, LLONG_MAX) == -1 && percpu_counter_compare(&fbc, LLONG_MIN) == 1);
	percpu_counter_set(&fbc, LLONG_MAX);
	CHECK(percpu_counter_compare(&fbc, LLONG_MIN) == 1 && percpu_counter_compare(&fbc, -2) == 1);
	percpu_counter_set(&fbc, 0);
	percpu_counter_sub(&fbc, LLONG_MIN);
	CHECK(percpu_counter_sum(&fbc) == LLONG_MIN);
	percpu_counter_sub_local(&fbc, LLONG_MIN);
	CHECK(percpu_counter_sum(&fbc) == 0);
	percpu_counter_destroy(&fbc);
	percpu_counter_destroy(&fbc);
	CHECK(!percpu_counter_initialized(&fbc));
}

int main(void)
{
	objects();
	many();
	operations();
	counters();
	threads();
	printf("percpu: %lu tests, %lu failed\n", fhk_tests_run(), fhk_tests_failed());
	return fhk_tests_failed() != 0;
}

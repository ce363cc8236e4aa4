/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The Linux kernel's per-CPU memory and counters over libfreehold, in user space.
 *
 *	struct stats { unsigned long hits; } __percpu *stats = alloc_percpu(struct stats);
 *
 *	this_cpu_inc(stats->hits);
 *	for_each_possible_cpu(cpu)
 *		hits += per_cpu_ptr(stats, cpu)->hits;
 *	free_percpu(stats);
 *
 * A pointer from alloc_percpu() is the address of CPU 0's copy; the copy of each further CPU lies a fixed distance above. Where
 * in a chunk an object lies is the library's own choice, so addresses and gaps are not the kernel's.
 *
 * A thread in user space can move to another CPU between any two instructions, and nothing keeps it from that. So:
 *
 *  - this_cpu_*() are atomic instructions on the copy of the CPU that the thread ran on when they began. None gets lost, and sums
 *    over all CPUs are right. A value that is read may be that of a CPU where the thread is no more.
 *  - this_cpu_ptr() is the copy of the CPU that the thread ran on when it was called. Other threads can use it at the same
 *    time: through it, use atomics or a lock.
 *  - What keeps a thread on its CPU is not offered: get_cpu_ptr(), preempt_disable(), local_lock(), smp_processor_id(), the
 *    __this_cpu_*() calls that rely on it. Nor are DEFINE_PER_CPU() and its like, which need a section of the linker's.
 *
 * Any thread. The library's memory for CPUs is made by the first call, and kept. docs/c.md lists what differs from the kernel.
 */
#ifndef FREEHOLD_PERCPU_H
#define FREEHOLD_PERCPU_H

#include <freehold/kernel.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

void *fhk_alloc_percpu(size_t size, size_t align);
int fhk_free_percpu(void *ptr);
size_t fhk_percpu_stride(void);
unsigned int fhk_possible_cpus(void);
unsigned int fhk_this_cpu(void);

/* Marks a pointer to what exists once for each CPU. */
#ifndef __percpu
#define __percpu
#endif

/* ---- CPUs ---- */

/* CPUs are numbered from 0; this is one above the last that the system may ever use. */
#define nr_cpu_ids fhk_possible_cpus()
#define num_possible_cpus() fhk_possible_cpus()
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (unsigned int)(cpu) < nr_cpu_ids; (cpu)++)
/* The CPU that this thread runs on, or ran on a moment ago. Without restartable sequences: one that stays with the thread. */
#define raw_smp_processor_id() fhk_this_cpu()

/* ---- Memory ---- */

/* `size` bytes for each possible CPU, zeros, at a multiple of `align`; NULL if there is no memory, or the size is 0 or more than
 * 32 KiB, or the alignment no power of two up to 4096. Takes a lock. */
static inline void *__alloc_percpu(size_t size, size_t align)
{
	return fhk_alloc_percpu(size, align);
}

static inline void *__alloc_percpu_gfp(size_t size, size_t align, gfp_t gfp)
{
	(void)gfp;
	return fhk_alloc_percpu(size, align);
}

#define alloc_percpu(type) ((__typeof__(type) __percpu *)__alloc_percpu(sizeof(type), __alignof__(type)))
#define alloc_percpu_gfp(type, gfp) \
	((__typeof__(type) __percpu *)__alloc_percpu_gfp(sizeof(type), __alignof__(type), (gfp)))

/* Frees an object that no thread uses any more; NULL is none. Where none starts, that is said on stderr, and nothing is freed. */
static inline void free_percpu(void __percpu *ptr)
{
	if (ptr != NULL && fhk_free_percpu(ptr) != 0)
		fprintf(stderr, "free_percpu: no object starts at %p\n", ptr);
}

static inline void *fhk_per_cpu_ptr(const void *ptr, unsigned int cpu)
{
	return (char *)(size_t)ptr + cpu * fhk_percpu_stride();
}

/* The copy of a CPU below nr_cpu_ids. */
#define per_cpu_ptr(ptr, cpu) ((__typeof__(ptr))fhk_per_cpu_ptr((ptr), (unsigned int)(cpu)))
/* The copy of the CPU that this thread runs on, or ran on a moment ago. */
#define this_cpu_ptr(ptr) per_cpu_ptr((ptr), fhk_this_cpu())

/* Atomic operations on this CPU's copy of a number of 1, 2, 4 or 8 bytes: this_cpu_inc(stats->hits). They order nothing. */
#define this_cpu_read(pcp) __atomic_load_n(this_cpu_ptr(&(pcp)), __ATOMIC_RELAXED)
#define this_cpu_write(pcp, val) __atomic_store_n(this_cpu_ptr(&(pcp)), (val), __ATOMIC_RELAXED)
#define this_cpu_add(pcp, val) ((void)__atomic_fetch_add(this_cpu_ptr(&(pcp)), (val), __ATOMIC_RELAXED))
#define this_cpu_sub(pcp, val) ((void)__atomic_fetch_sub(this_cpu_ptr(&(pcp)), (val), __ATOMIC_RELAXED))
#define this_cpu_inc(pcp) this_cpu_add(pcp, 1)
#define this_cpu_dec(pcp) this_cpu_sub(pcp, 1)
#define this_cpu_and(pcp, val) ((void)__atomic_fetch_and(this_cpu_ptr(&(pcp)), (val), __ATOMIC_RELAXED))
#define this_cpu_or(pcp, val) ((void)__atomic_fetch_or(this_cpu_ptr(&(pcp)), (val), __ATOMIC_RELAXED))
/* The copy's new value. */
#define this_cpu_add_return(pcp, val) __atomic_add_fetch(this_cpu_ptr(&(pcp)), (val), __ATOMIC_RELAXED)
#define this_cpu_sub_return(pcp, val) __atomic_sub_fetch(this_cpu_ptr(&(pcp)), (val), __ATOMIC_RELAXED)
#define this_cpu_inc_return(pcp) this_cpu_add_return(pcp, 1)
#define this_cpu_dec_return(pcp) this_cpu_sub_return(pcp, 1)
/* The copy's old value. this_cpu_cmpxchg() has stored if that is `oval`. */
#define this_cpu_xchg(pcp, nval) __atomic_exchange_n(this_cpu_ptr(&(pcp)), (nval), __ATOMIC_RELAXED)
#define this_cpu_cmpxchg(pcp, oval, nval) __sync_val_compare_and_swap(this_cpu_ptr(&(pcp)), (oval), (nval))

/* ---- Counters that are read approximately at once, and exactly by a sum over CPUs ---- */

/* Each CPU collects less than a batch for itself, and adds it to `count` under the lock. Not for signal handlers. */
struct percpu_counter {
	spinlock_t lock;
	signed long long count;
	signed int __percpu *counters;
};

/* What a CPU collects by default: 32, or twice the number of CPUs if that is more. */
#define percpu_counter_batch fhk_percpu_counter_batch()

static inline int fhk_percpu_counter_batch(void)
{
	unsigned int twice = 2 * fhk_possible_cpus();

	return twice > 32 ? (int)twice : 32;
}

/* Returns 0 or -ENOMEM. */
static inline int percpu_counter_init(struct percpu_counter *fbc, signed long long amount, gfp_t gfp)
{
	spin_lock_init(&fbc->lock);
	fbc->count = amount;
	fbc->counters = alloc_percpu_gfp(signed int, gfp);
	return fbc->counters != NULL ? 0 : -ENOMEM;
}

/* No thread uses the counter any more. One that was destroyed may be destroyed again. */
static inline void percpu_counter_destroy(struct percpu_counter *fbc)
{
	free_percpu(fbc->counters);
	fbc->counters = NULL;
}

static inline bool percpu_counter_initialized(struct percpu_counter *fbc)
{
	return fbc->counters != NULL;
}

/* Adds to the shared count, modulo 2^64. The caller has the lock; readers of the count alone have not. */
static inline void fhk_percpu_counter_count(struct percpu_counter *fbc, signed long long amount)
{
	(void)__atomic_fetch_add(&fbc->count, amount, __ATOMIC_RELAXED);
}

/* Adds; the shared count follows once this CPU has collected `batch` or more, in either direction. */
static inline void percpu_counter_add_batch(struct percpu_counter *fbc, signed long long amount, signed int batch)
{
	signed int *here = this_cpu_ptr(fbc->counters);
	signed int old = __atomic_load_n(here, __ATOMIC_RELAXED);
	signed long long sum;

	do {
		sum = (signed long long)((unsigned long long)old + (unsigned long long)amount);
		if (sum >= batch || sum <= -(signed long long)batch) {
			/* What the CPU has by now, which may be another number. Under the lock, so that a sum sees it once. */
			spin_lock(&fbc->lock);
			fhk_percpu_counter_count(fbc, __atomic_exchange_n(here, 0, __ATOMIC_RELAXED));
			fhk_percpu_counter_count(fbc, amount);
			spin_unlock(&fbc->lock);
			return;
		}
	} while (!__atomic_compare_exchange_n(here, &old, (signed int)sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static inline void percpu_counter_add(struct percpu_counter *fbc, signed long long amount)
{
	percpu_counter_add_batch(fbc, amount, percpu_counter_batch);
}

/* Adds to this CPU's part as long as that fits in an int: for counters that are mostly summed, and rarely read. */
static inline void percpu_counter_add_local(struct percpu_counter *fbc, signed long long amount)
{
	percpu_counter_add_batch(fbc, amount, INT_MAX);
}

/* Modulo 2^64, as all sums: LLONG_MIN has no other negation. */
static inline signed long long fhk_percpu_counter_minus(signed long long amount)
{
	return (signed long long)(0 - (unsigned long long)amount);
}

static inline void percpu_counter_sub(struct percpu_counter *fbc, signed long long amount)
{
	percpu_counter_add(fbc, fhk_percpu_counter_minus(amount));
}

static inline void percpu_counter_sub_local(struct percpu_counter *fbc, signed long long amount)
{
	percpu_counter_add_local(fbc, fhk_percpu_counter_minus(amount));
}

static inline void percpu_counter_inc(struct percpu_counter *fbc)
{
	percpu_counter_add(fbc, 1);
}

static inline void percpu_counter_dec(struct percpu_counter *fbc)
{
	percpu_counter_add(fbc, -1);
}

/* Adds what this CPU has collected to the shared count. */
static inline void percpu_counter_sync(struct percpu_counter *fbc)
{
	signed int *here = this_cpu_ptr(fbc->counters);

	spin_lock(&fbc->lock);
	fhk_percpu_counter_count(fbc, __atomic_exchange_n(here, 0, __ATOMIC_RELAXED));
	spin_unlock(&fbc->lock);
}

/* Sets the counter. Adds that run meanwhile are before it or after it. */
static inline void percpu_counter_set(struct percpu_counter *fbc, signed long long amount)
{
	unsigned int cpu;

	spin_lock(&fbc->lock);
	for_each_possible_cpu(cpu)
		__atomic_store_n(per_cpu_ptr(fbc->counters, cpu), 0, __ATOMIC_RELAXED);
	__atomic_store_n(&fbc->count, amount, __ATOMIC_RELAXED);
	spin_unlock(&fbc->lock);
}

/* The shared count: it lacks less than a batch of each CPU. One load. */
static inline signed long long percpu_counter_read(struct percpu_counter *fbc)
{
	return __atomic_load_n(&fbc->count, __ATOMIC_RELAXED);
}

static inline signed long long percpu_counter_read_positive(struct percpu_counter *fbc)
{
	signed long long count = percpu_counter_read(fbc);

	return count > 0 ? count : 0;
}

/* The sum of all adds that have returned. Takes the lock, and a load for each CPU. */
static inline signed long long percpu_counter_sum(struct percpu_counter *fbc)
{
	unsigned long long sum;
	unsigned int cpu;

	spin_lock(&fbc->lock);
	sum = (unsigned long long)percpu_counter_read(fbc);
	for_each_possible_cpu(cpu)
		sum += (unsigned long long)__atomic_load_n(per_cpu_ptr(fbc->counters, cpu), __ATOMIC_RELAXED);
	spin_unlock(&fbc->lock);
	return (signed long long)sum;
}

static inline signed long long percpu_counter_sum_positive(struct percpu_counter *fbc)
{
	signed long long sum = percpu_counter_sum(fbc);

	return sum > 0 ? sum : 0;
}

/* Whether the counter is below `rhs` (-1), equal (0) or above (1). By a load, if that is further away than what CPUs can have
 * collected in batches of at most `batch`; else by a sum. */
static inline int __percpu_counter_compare(struct percpu_counter *fbc, signed long long rhs, signed int batch)
{
	signed long long count = percpu_counter_read(fbc);
	signed long long most = (signed long long)batch * fhk_possible_cpus();
	/* Up to 2^64 - 1, so not signed. */
	unsigned long long above = (unsigned long long)count - (unsigned long long)rhs;
	unsigned long long apart = count > rhs ? above : 0 - above;

	if (apart <= (unsigned long long)most)
		count = percpu_counter_sum(fbc);
	return count > rhs ? 1 : count < rhs ? -1 : 0;
}

static inline int percpu_counter_compare(struct percpu_counter *fbc, signed long long rhs)
{
	return __percpu_counter_compare(fbc, rhs, percpu_counter_batch);
}

#ifdef __cplusplus
}
#endif

#endif /* FREEHOLD_PERCPU_H */

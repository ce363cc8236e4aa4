/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the headers with the kernel's names share: types, GFP flags, locks.
 */
#ifndef FREEHOLD_KERNEL_H
#define FREEHOLD_KERNEL_H

#include <pthread.h>
#include <stddef.h>

/* libfreehold needs a 64-bit system. */
typedef char fhk_long_has_64_bits[sizeof(unsigned long) == 8 ? 1 : -1];

/* A program that has types of these names defines FREEHOLD_NO_KERNEL_TYPES. */
#ifndef FREEHOLD_NO_KERNEL_TYPES
typedef signed int s32;
typedef signed long long s64;
#endif

/* Ignored: a call that needs memory asks malloc, or the system. */
typedef unsigned int gfp_t;

#ifndef GFP_KERNEL
#define GFP_KERNEL ((gfp_t)0xcc0)
#define GFP_ATOMIC ((gfp_t)0x820)
#define GFP_NOWAIT ((gfp_t)0x800)
#endif

/* A lock of the program's. It does not nest. */
typedef pthread_mutex_t spinlock_t;

#define DEFINE_SPINLOCK(name) spinlock_t name = PTHREAD_MUTEX_INITIALIZER
#define spin_lock_init(lock) ((void)pthread_mutex_init((lock), NULL))
#define spin_lock(lock) ((void)pthread_mutex_lock(lock))
#define spin_unlock(lock) ((void)pthread_mutex_unlock(lock))
#define spin_trylock(lock) (pthread_mutex_trylock(lock) == 0)
#define spin_lock_bh(lock) spin_lock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define spin_lock_irq(lock) spin_lock(lock)
#define spin_unlock_irq(lock) spin_unlock(lock)
#define spin_lock_irqsave(lock, flags) ((flags) = 0, spin_lock(lock))
#define spin_unlock_irqrestore(lock, flags) ((void)(flags), spin_unlock(lock))

#endif /* FREEHOLD_KERNEL_H */

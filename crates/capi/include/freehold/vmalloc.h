/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The Linux kernel's vmalloc interface over libfreehold's memory, in user space.
 *
 *	char *buffer = vzalloc(1 << 20);
 *
 *	vfree(buffer);
 *
 * Blocks are whole pages of one reservation, which the first call makes and the process keeps. Any thread. What differs from
 * the kernel: no guard page behind a block, nodes are ignored, vfree() may not be called from a signal handler.
 */
#ifndef FREEHOLD_VMALLOC_H
#define FREEHOLD_VMALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

void *fhk_vmalloc(size_t size, bool zero);
int fhk_vfree(void *addr);
/* A number, not a pointer: the caller's object is not looked at. */
size_t fhk_vm_area(size_t addr, void **start);

/* NUMA_NO_NODE, for callers that name none. */
#ifndef NUMA_NO_NODE
#define NUMA_NO_NODE (-1)
#endif

/* At least `size` bytes with any content, aligned to a page; NULL if there is no memory, or for 0. */
static inline void *vmalloc(unsigned long size)
{
	return fhk_vmalloc(size, false);
}

/* The same, zeros. */
static inline void *vzalloc(unsigned long size)
{
	return fhk_vmalloc(size, true);
}

/* The same as vmalloc(): the system chooses the node. */
static inline void *vmalloc_node(unsigned long size, int node)
{
	(void)node;
	return fhk_vmalloc(size, false);
}

static inline void *vzalloc_node(unsigned long size, int node)
{
	(void)node;
	return fhk_vmalloc(size, true);
}

/* Frees a block; NULL is none. An address where none starts is said on stderr, and nothing is freed. */
static inline void vfree(const void *addr)
{
	if (addr != NULL && fhk_vfree((void *)(size_t)addr) != 0)
		fprintf(stderr, "vfree: no block starts at %p\n", addr);
}

/* Whether the address lies in a block that is held. */
static inline bool is_vmalloc_addr(const void *addr)
{
	void *start;

	return fhk_vm_area((size_t)addr, &start) != 0;
}

struct vm_struct {
	void *addr;
	unsigned long size; /* bytes, at least what was asked for; the kernel's has a guard page, too */
};

/* The block that an address lies in: size is 0 if there is none. The kernel's find_vm_area() returns a pointer. */
static inline struct vm_struct fhk_find_vm_area(const void *addr)
{
	struct vm_struct area = { NULL, 0 };

	area.size = fhk_vm_area((size_t)addr, &area.addr);
	return area;
}

/* The bytes of a block that can be used. */
static inline size_t get_vm_area_size(const struct vm_struct *area)
{
	return area->size;
}

#ifdef __cplusplus
}

#else
/* Lives until the end of the enclosing block; NULL if the address lies in none. */
#define find_vm_area(addr) fhk_found_vm_area((struct vm_struct[1]){ fhk_find_vm_area(addr) })

static inline struct vm_struct *fhk_found_vm_area(struct vm_struct *area)
{
	return area->size != 0 ? area : NULL;
}
#endif

#endif /* FREEHOLD_VMALLOC_H */

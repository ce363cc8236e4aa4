/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each name of freehold/vmalloc.h, with threads that allocate and free beside each other.
 */
#include <freehold/maple_tree.h>
#include <freehold/vmalloc.h>

#include <string.h>

#define THREADS 4
#define BLOCKS 64
#define PAGE 4096

static DEFINE_MTREE(unused);

static void *allocate(void *number)
{
	unsigned char *blocks[BLOCKS] = { NULL };
	unsigned long random = (unsigned long)(size_t)number, round, size;

	for (round = 0; round < 4000; round++) {
		unsigned char **block = &blocks[(random >> 20) % BLOCKS];

		random = random * 6364136223846793005UL + 1442695040888963407UL;
		if (*block != NULL) {
			MT_BUG_ON(&unused, (*block)[0] != (unsigned char)(size_t)number);
			vfree(*block);
			*block = NULL;
			continue;
		}
		size = 1 + (random >> 40) % (8 * PAGE);
		*block = vzalloc(size);
		MT_BUG_ON(&unused, *block == NULL);
		if (*block == NULL)
			continue;
		MT_BUG_ON(&unused, (*block)[0] != 0 || (*block)[size - 1] != 0);
		memset(*block, (int)(size_t)number, size);
	}
	for (round = 0; round < BLOCKS; round++)
		vfree(blocks[round]);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct vm_struct *area;
	char local = 0, *block, *other;
	size_t i;

	MT_BUG_ON(&unused, is_vmalloc_addr(&local) || find_vm_area(&local) != NULL);
	vfree(NULL);
	MT_BUG_ON(&unused, vmalloc(0) != NULL);
	/* More than any machine has. */
	MT_BUG_ON(&unused, vmalloc(1UL << 50) != NULL || vzalloc(ULONG_MAX) != NULL);

	block = vmalloc(5 * PAGE + 1);
	other = vmalloc_node(PAGE, 0);
	MT_BUG_ON(&unused, block == NULL || other == NULL || (size_t)block % PAGE != 0 || (size_t)other % PAGE != 0);
	memset(block, 1, 5 * PAGE + 1);
	memset(other, 2, PAGE);
	MT_BUG_ON(&unused, block[5 * PAGE] != 1 || other[0] != 2);
	MT_BUG_ON(&unused, !is_vmalloc_addr(block) || !is_vmalloc_addr(block + 5 * PAGE) || is_vmalloc_addr(&local));
	area = find_vm_area(block + PAGE);
	MT_BUG_ON(&unused, area == NULL || area->addr != block || get_vm_area_size(area) < 6 * PAGE);
	MT_BUG_ON(&unused, fhk_find_vm_area(other).addr != other);
	vfree(other);
	/* Freed twice, and in its midst: said, and nothing happens. */
	MT_BUG_ON(&unused, fhk_vfree(other) == 0 || fhk_vfree(block + PAGE) == 0 || fhk_vfree(&local) == 0);
	vfree(block + PAGE);
	MT_BUG_ON(&unused, block[5 * PAGE] != 1 || !is_vmalloc_addr(block));
	vfree(block);
	MT_BUG_ON(&unused, is_vmalloc_addr(block));
	other = vzalloc_node(64 * PAGE, NUMA_NO_NODE);
	for (i = 0; other != NULL && i < 64 * PAGE; i++)
		if (other[i] != 0)
			MT_BUG_ON(&unused, true);
	MT_BUG_ON(&unused, other == NULL);
	vfree(other);

	for (i = 0; i < THREADS; i++)
		MT_BUG_ON(&unused, pthread_create(&threads[i], NULL, allocate, (void *)(i + 1)) != 0);
	for (i = 0; i < THREADS; i++)
		MT_BUG_ON(&unused, pthread_join(threads[i], NULL) != 0);
	printf("vmalloc: %lu tests, %lu failed\n", fhk_tests_run(), fhk_tests_failed());
	return fhk_tests_failed() != 0;
}

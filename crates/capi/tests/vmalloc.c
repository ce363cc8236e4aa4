/* Each function of memory, and fences for readers. */
#include "check.h"

int main(void) {
    fh_use_fences();
    fh_vm *vm = NULL;
    void *block = NULL, *slot = NULL, *second = NULL;
    const void *found = NULL;
    size_t len = 0;
    uint64_t number = 0, bytes = 0;
    CODE(fh_vm_new(1 << 30, NULL), FH_ENULL);
    CODE(fh_vm_new(((size_t)16 << 20) - 1, &vm), FH_EINVAL);
    CODE(fh_vm_new(((size_t)1 << 46) + 1, &vm), FH_EINVAL);
    OK(fh_vm_new(1 << 30, &vm));
    OK(fh_vm_alloc(vm, 10000, 1, &block, &len));
    CHECK(len == 12288 && ((char *)block)[9999] == 0);
    memset(block, 1, len);
    OK(fh_vm_find(vm, (char *)block + 5000, &found, &len));
    CHECK(found == block && len >= 12288);
    CODE(fh_vm_free(vm, (char *)block + 4096, 10), FH_EINTERIOR);
    CODE(fh_vm_free(vm, block, 0), FH_EINVAL);
    CODE(fh_vm_free(vm, NULL, 10), FH_ENULL);
    CODE(fh_vm_free(vm, &vm, 10), FH_ENOENT);
    OK(fh_vm_free(vm, block, 10000));
    CODE(fh_vm_free(vm, block, 10000), FH_ENOENT);
    CODE(fh_vm_find(vm, block, &found, &len), FH_ENOENT);
    /* Too large a size is refused, and one that is too small frees the block and is counted as it. */
    OK(fh_vm_alloc(vm, 10000, 0, &block, NULL));
    CODE(fh_vm_alloc(vm, 1 << 30, 0, &slot, NULL), FH_ENOSPC);
    CODE(fh_vm_free(vm, block, 12289), FH_EINVAL);
    OK(fh_vm_free(vm, block, 1));
    OK(fh_vm_validate(vm));
    CODE(fh_vm_alloc(vm, 1, 2, &block, NULL), FH_EENUM);
    CODE(fh_vm_alloc(vm, 0, 0, &block, NULL), FH_EINVAL);
    OK(fh_vm_resident_bytes(vm, &bytes));
    OK(fh_vm_release_idle(vm, NULL));

    fh_slots *slots = NULL;
    fh_slots_layout layout = FH_SLOTS_LAYOUT_INIT(8192, 2);
    layout.guard_bytes = 4096;
    layout.is_zero = 2;
    CODE(fh_slots_new(vm, &layout, &slots), FH_EENUM);
    layout.is_zero = 1;
    layout.size = 0;
    CODE(fh_slots_new(vm, &layout, &slots), FH_ESIZE);
    layout.size = sizeof layout;
    layout.count = 0;
    CODE(fh_slots_new(vm, &layout, &slots), FH_EINVAL);
    layout.count = 2;
    OK(fh_slots_new(vm, &layout, &slots));
    CODE(fh_vm_destroy(vm), FH_EBUSY);
    CHECK(strstr(fh_strerror(FH_EBUSY), "pool") != NULL);
    OK(fh_slots_get(slots, &slot));
    OK(fh_slots_get(slots, &second));
    void *others[256];
    int held = 0;
    while (held < 256 && fh_slots_get(slots, &others[held]) == FH_OK) held++;
    CODE(fh_slots_get(slots, &others[0]), FH_ENOSPC);
    while (held > 0) OK(fh_slots_put(slots, others[--held]));
    CHECK(((char *)slot)[8191] == 0);
    ((char *)slot)[0] = 1;
    OK(fh_slots_find(slots, (char *)slot + 8191, &number));
    CODE(fh_slots_destroy(slots), FH_EBUSY);
    /* Inside a slot, and in its guard: no slot starts there. */
    CODE(fh_slots_put(slots, (char *)slot + 1), FH_ENOENT);
    CODE(fh_slots_put(slots, (char *)slot + 4096), FH_ENOENT);
    CODE(fh_slots_put(slots, (char *)slot + 8192), FH_ENOENT);
    OK(fh_slots_put(slots, slot));
    OK(fh_slots_put(slots, second));
    CODE(fh_slots_put(slots, &vm), FH_ENOENT);
    CODE(fh_slots_find(slots, &vm, &number), FH_ENOENT);
    OK(fh_slots_destroy(slots));

    fh_stacks *stacks = NULL;
    fh_stack stack = {NULL, NULL};
    fh_stacks_layout of = FH_STACKS_LAYOUT_INIT(65536, 1);
    OK(fh_stacks_new(vm, &of, &stacks));
    OK(fh_stacks_get(stacks, &stack));
    CHECK((char *)stack.base - (char *)stack.limit == 65536);
    ((char *)stack.base)[-1] = 1;
    ((char *)stack.limit)[0] = 1;
    OK(fh_stacks_find(stacks, (char *)stack.limit - 1, &number));
    fh_stack more[256];
    while (held < 256 && fh_stacks_get(stacks, &more[held]) == FH_OK) held++;
    CODE(fh_stacks_get(stacks, &more[0]), FH_ENOSPC);
    while (held > 0) OK(fh_stacks_put(stacks, more[--held].base));
    CODE(fh_stacks_destroy(stacks), FH_EBUSY);
    /* Its lowest byte, inside it, and its guard: no base. */
    CODE(fh_stacks_put(stacks, stack.limit), FH_ENOENT);
    CODE(fh_stacks_put(stacks, (char *)stack.base - 16), FH_ENOENT);
    CODE(fh_stacks_put(stacks, (char *)stack.limit - 1), FH_ENOENT);
    OK(fh_stacks_put(stacks, stack.base));
    CODE(fh_stacks_put(stacks, stack.base), FH_ENOENT);
    CODE(fh_stacks_put(stacks, NULL), FH_ENULL);
    OK(fh_stacks_destroy(stacks));
    OK(fh_vm_validate(vm));
    OK(fh_vm_destroy(vm));
    return report("vmalloc");
}

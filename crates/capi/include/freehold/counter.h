/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Adds to counters without a call:
 *
 *     static fh_counter_place hits;
 *
 *     fh_counter_get_place(counter, &hits);    once
 *     FH_COUNTER_ADD(&hits, 1);                from any thread, and from signal handlers
 *
 * On x86-64 with gcc or clang it is a restartable sequence, which the C library (glibc 2.35 and later) has registered each
 * thread for: the kernel restarts it if the thread is moved, preempted or interrupted before its last instruction. Elsewhere,
 * and in a thread or a process without such registration, it is a call of fh_counter_add.
 */
#ifndef FREEHOLD_COUNTER_H
#define FREEHOLD_COUNTER_H

#include <freehold.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__linux__) && defined(__x86_64__) && defined(__LP64__) && (defined(__clang__) || defined(__GNUC__))
#define FH_COUNTER_ADD_IS_INLINE 1

static inline int fh_counter_add_at(const fh_counter_place *place, uint64_t value) {
    if (place->area_offset == 0) goto call;
    /* From the thread's pointer, `area_offset` leads to cpu_id (at 4, negative without registration) and rseq_cs (at 8), which
     * names the sequence from 2 to 4 and the code at 5 that the kernel resumes it by. rseq_cs is reset at the end: the code may be in
     * an object that is unloaded later. */
    __asm__ goto(
        "1:\n\t"
        "leaq 3f(%%rip), %%rax\n\t"
        "movq %%rax, %%fs:8(%[area])\n"
        "2:\n\t"
        "movl %%fs:4(%[area]), %%eax\n\t"
        "cmpl %[cpus], %%eax\n\t"
        "jae %l[call]\n\t"
        "imulq %[stride], %%rax\n\t"
        "addq %[value], (%[first], %%rax)\n"
        "4:\n\t"
        "movq $0, %%fs:8(%[area])\n\t"
        /* In the group of the code around it, as of an inline function of C++, of which one copy stays. */
        ".pushsection __rseq_cs, \"aw?\", @progbits\n\t"
        ".balign 32\n"
        "3:\n\t"
        ".long 0, 0\n\t"
        ".quad 2b, 4b - 2b, 5f\n\t"
        ".popsection\n\t"
        ".pushsection __rseq_failure, \"ax?\", @progbits\n\t"
        /* An undefined instruction that holds the signature of glibc's registration, which the kernel looks for. */
        ".byte 0x0f, 0xb9, 0x3d\n\t"
        ".long 0x53053053\n"
        "5:\n\t"
        "jmp 1b\n\t"
        ".popsection"
        :
        : [area] "r"(place->area_offset), [cpus] "m"(place->cpus), [stride] "m"(place->stride_bytes),
          [first] "r"(place->first), [value] "r"(value)
        : "rax", "cc", "memory"
        : call);
    return FH_OK;
call:
    return fh_counter_add(place->counter, value);
}

#else

static inline int fh_counter_add_at(const fh_counter_place *place, uint64_t value) {
    return fh_counter_add(place->counter, value);
}

#endif

/* Adds `value` to the counter of a place. Returns FH_OK. Cost: a dozen instructions; the call, where it is one. */
#define FH_COUNTER_ADD(place, value) fh_counter_add_at((place), (value))

#ifdef __cplusplus
}
#endif

#endif /* FREEHOLD_COUNTER_H */

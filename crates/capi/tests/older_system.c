/* Runs a command as on Linux before 6.13, which has no guard marks (MADV_GUARD_INSTALL is EINVAL): guards are mappings then.
 * Valgrind 3.19 needs it. The library tries a mark by letting the system write to it, which valgrind does itself, and crashes. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GUARD_INSTALL 102
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))

int main(int count, char **command) {
    struct sock_filter steps[] = {
        LOAD(nr),
        SKIP_UNLESS(SYS_madvise, 3),
        LOAD(args[2]),
        SKIP_UNLESS(GUARD_INSTALL, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("older_system");
        return 1;
    }
    execvp(command[1], command + 1);
    perror(command[1]);
    return 1;
}

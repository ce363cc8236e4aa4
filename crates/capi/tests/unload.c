/* A program that loads the library, counts and closes it runs on: the kernel still reads the sequence of its last add.
 *
 *     unload libfreehold.so
 */
#include "freehold.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv) {
    int (*new_counter)(fh_counter **), (*add)(const fh_counter *, uint64_t);
    fh_counter *counter;
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    clock_t begin;
    if (library == NULL) return 2;
    *(void **)&new_counter = dlsym(library, "fh_counter_new");
    *(void **)&add = dlsym(library, "fh_counter_add");
    if (new_counter == NULL || add == NULL || new_counter(&counter) != FH_OK) return 2;
    for (int at = 0; at < 1000; at++)
        if (add(counter, 1) != FH_OK) return 2;
    if (dlclose(library) != 0) return 2;
    /* Time to be preempted in. */
    begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC / 4) continue;
    puts("unload: still here");
    return 0;
}

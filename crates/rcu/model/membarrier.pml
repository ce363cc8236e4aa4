/* The membarrier form of guards and grace periods, on a machine whose stores wait in a buffer (x86).
 *
 *   spin -a membarrier.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *
 * .ci/spin runs it, and each mutant, which must fail:
 *   -DNO_BARRIER    the writer issues none
 *   -DLOOK_FIRST    it looks at stamps before the barrier
 *   -DEPOCH_FIRST   it ends the epoch before it unlinks
 *
 * A reader's stores to its stamp go through a buffer of two, in order; its loads read memory, or its own buffer. What
 * others wrote is in memory at once: a writer's swap and addition are locked instructions. Nodes are 0 and 1, and the link
 * leads to node 0 at first. The barrier has each reader's buffer empty at some moment between its begin and its end; a
 * buffer also empties by itself at any time, one store at a time.
 *
 * Loads of a reader may be early: the node is loaded in program order, since x86 keeps loads in order and R4 is about a
 * store before a load, which the buffer covers.
 */

#define READERS 2
#define ROUNDS 2

byte link = 0;
byte epoch = 1;
byte stamp[READERS];
bool reused[2];

/* The buffer: how many stores wait, and their values. */
byte waiting[READERS];
byte first[READERS];
byte second[READERS];

inline store_stamp(me, value) {
    atomic {
        waiting[me] < 2;
        if
        :: waiting[me] == 0 -> first[me] = value
        :: else -> second[me] = value
        fi;
        waiting[me]++
    }
}

inline drain_one(me) {
    stamp[me] = first[me];
    first[me] = second[me];
    second[me] = 0;
    waiting[me]--
}

proctype Buffer(byte me) {
end:
    do
    :: atomic { waiting[me] > 0 -> drain_one(me) }
    od
}

proctype Reader(byte me) {
    byte round = 0, entered, node;
    do
    :: round < ROUNDS ->
        entered = epoch;
        store_stamp(me, entered);
        /* No fence here. */
        node = link;
        /* The guard is held. */
        assert(!reused[node]);
        assert(!reused[node]);
        store_stamp(me, 0);
        round++
    :: else -> break
    od
}

inline barrier() {
#ifndef NO_BARRIER
    reader = 0;
    do
    :: reader < READERS ->
        /* One after the other, each at its own moment. */
        atomic {
            do
            :: waiting[reader] > 0 -> drain_one(reader)
            :: else -> break
            od
        };
        reader++
    :: else -> break
    od
#endif
    skip
}

inline look() {
    oldest = 255;
    reader = 0;
    do
    :: reader < READERS ->
        /* Each stamp is read once. */
        seen = stamp[reader];
        if
        :: seen != 0 && seen < oldest -> oldest = seen
        :: else
        fi;
        reader++
    :: else -> break
    od
}

inline end_epoch() {
    atomic { ended = epoch; epoch++ }
}

proctype Writer() {
    byte ended, oldest, reader, seen;
#ifdef EPOCH_FIRST
    end_epoch();
    link = 1;
#else
    link = 1;
    end_epoch();
#endif
#ifdef LOOK_FIRST
    look();
    barrier();
#else
    barrier();
    look();
#endif
    if
    :: ended < oldest -> reused[0] = true
    :: else
    fi
}

/* Another writer, with nothing to reclaim here. */
proctype Other() {
    atomic { epoch++ }
}

init {
    atomic {
        run Buffer(0);
        run Buffer(1);
        run Reader(0);
        run Reader(1);
        run Writer();
        run Other()
    }
}

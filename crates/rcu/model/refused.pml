/* Guards and grace periods while barriers are refused (src/fallback.rs), on a machine whose stores wait in a buffer (x86).
 *
 *   spin -a refused.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *
 * .ci/spin runs it, and each mutant, which must fail:
 *   -DNO_FENCE      guards with the flag have no fence
 *   -DIDLE_QUIET    a slot with neither stamp nor flag counts as one that nobody reads on
 *   -DLATER_LOOK    a look that told is followed by one that believes idle slots
 *
 * The machine is that of membarrier.pml. A slot's word is a stamp, and the flag FENCES; FREE if nobody has it. The epoch has the flag
 * once the writer was refused. A reader's first guard with the flag has no fence; those behind it have.
 */

#define READERS 2
#define ROUNDS 2
#define LOOKS 2
#define FENCES 128
#define FREE 255

byte link = 0;
byte epoch = 1;
byte slot[READERS];
bool reused[2];

/* The buffer: how many stores wait, and their values. */
byte waiting[READERS];
byte first[READERS];
byte second[READERS];

inline store(me, value) {
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
    slot[me] = first[me];
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
    byte round = 0, mine = 0, entered, node;
    do
    :: round < ROUNDS ->
        entered = epoch | mine;
        store(me, entered);
#ifndef NO_FENCE
        if
        :: mine != 0 -> waiting[me] == 0
        :: else
        fi;
#endif
        node = link;
        /* The guard is held. */
        assert(!reused[node]);
        assert(!reused[node]);
        mine = entered & FENCES;
        store(me, mine);
        round++
    :: else -> break
    od;
    store(me, FREE)
}

inline look() {
    oldest = 255;
    told = true;
    reader = 0;
    do
    :: reader < READERS ->
        /* Each slot is read once. */
        seen = slot[reader];
        if
        :: seen == FREE
        :: seen == 0 ->
#ifndef IDLE_QUIET
            told = false
#else
            skip
#endif
        :: seen != FREE && (seen & 127) != 0 && (seen & 127) < oldest -> oldest = seen & 127
        :: else
        fi;
        reader++
    :: else -> break
    od
}

proctype Writer() {
    byte ended, oldest, reader, seen, looks = 0;
    bool told;
    if
    :: skip
    /* It was refused before it unlinked this. */
    :: atomic { epoch = (epoch + 1) | FENCES }
    fi;
    link = 1;
    do
    :: looks < LOOKS ->
        /* Locked instructions, and fences therefore. */
        atomic { ended = epoch & 127; epoch++ };
        atomic { epoch = epoch | FENCES };
        look();
        if
        :: told && ended < oldest -> reused[0] = true; break
        :: else
        fi;
#ifdef LATER_LOOK
        if
        :: told ->
            look();
            if
            :: ended < oldest -> reused[0] = true; break
            :: else
            fi
        :: else
        fi;
#endif
        looks++
    :: else -> break
    od
}

init {
    atomic {
        run Buffer(0);
        run Buffer(1);
        run Reader(0);
        run Reader(1);
        run Writer()
    }
}

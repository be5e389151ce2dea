/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the wrappers of mpi.h call, which wrap_mpi.py writes. Included once, after mpi.h.
 * Nothing here refers to a symbol of MPI when it is preloaded: programs without MPI get the
 * library, too.
 *
 * The set of a communicator has its name and its members, as ranks of MPI_COMM_WORLD: all members
 * find the same text by calls that wait for none. It is found by the handle in a table of the
 * thread, whose entry is read again after a communicator of its place was freed or named. Before
 * MPI runs, and after, there is one set for all.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STINT_MPI_COMMS 64 /* of a thread, by the low bits of the handle */
#define STINT_MPI_LIST_BYTES 48
#define STINT_MPI_SET_BYTES                                                                        \
    (sizeof(STINT_WRAP_SET) + MPI_MAX_OBJECT_NAME + 4 * STINT_MPI_LIST_BYTES)
/* Sets of a process: further communicators are in one, and further roots are not told apart. */
#define STINT_MPI_SETS 1024

struct stint_mpi_comm {
    MPI_Comm comm;
    unsigned changes; /* + 1, when it was entered; 0: empty */
    int size;
    int remote; /* ranks of the other group, if there are two */
    int is_world;
    int root; /* of root_set */
    stint_set *set;
    stint_set *root_set; /* of calls with that root; NULL: none was seen */
    uint64_t key;        /* of the set's name */
};

#define stint_impl_rank_seen STINT_IMPL_ABI_NAME(stint_impl_rank_seen)
#define stint_impl_end_call STINT_IMPL_ABI_NAME(stint_impl_end_call)
extern void stint_impl_rank_seen(uint32_t rank, uint32_t size);
extern void stint_impl_end_call(void *guard);

/* A scope that waits: its calls are steps, by which ranks are compared. */
#define STINT_MPI_WAITING_SCOPE(name, role, set)                                                   \
    STINT_IMPL_SITE(call, name, STINT_LEVEL_DEFAULT, role);                                        \
    stint_impl_opened stint_impl_guard_call __attribute__((cleanup(stint_impl_end_call), unused)); \
    stint_impl_guard_call =                                                                        \
        stint_impl_begin(&stint_impl_guard_call, &stint_impl_site_call, stint_impl_set_id(set))

/* ---- Functions and objects of MPI. */

#ifdef STINT_WRAP_PRELOAD
static void *stint_wrap_find(const char *name);

#define STINT_MPI_CALL(name, arguments) STINT_MPI_SET((void), name, arguments)
#define STINT_MPI_SET(to, name, arguments)                                                         \
    do {                                                                                           \
        static __typeof__(&P##name) known;                                                         \
        __typeof__(&P##name) call = __atomic_load_n(&known, __ATOMIC_RELAXED);                     \
        if (!call) {                                                                               \
            call = (__typeof__(&P##name))stint_wrap_find("P" #name);                               \
            __atomic_store_n(&known, call, __ATOMIC_RELAXED);                                      \
        }                                                                                          \
        to call arguments;                                                                         \
    } while (0)

/* The program's MPI has to be the one whose header was read: handles differ in size. */
static void stint_mpi_check(const char *name, void *function) {
    static int is_checked; /* atomic */
    Dl_info info;
    if (__atomic_load_n(&is_checked, __ATOMIC_RELAXED) || !dladdr(function, &info)) {
        return;
    }
    void *module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    int is_open_mpi = module && dlsym(module, "ompi_mpi_comm_null");
    if (module) {
        dlclose(module);
    }
#ifdef OPEN_MPI
    const char *built = "Open MPI";
    int fits = is_open_mpi;
#else
    const char *built = "MPICH";
    int fits = !is_open_mpi;
#endif
    if (!fits) {
        fprintf(stderr,
                "stint: preloaded timers: %s of %s is not that of %s, for which they were "
                "built; run with the library for this MPI (--mpi=NAME)\n",
                name, info.dli_fname, built);
        _exit(127);
    }
    __atomic_store_n(&is_checked, 1, __ATOMIC_RELAXED);
}
#define STINT_WRAP_FOUND(name, function) stint_mpi_check(name, function)
#else
#define STINT_MPI_CALL(name, arguments) P##name arguments
#define STINT_MPI_SET(to, name, arguments) to P##name arguments
#endif

/* The handles that are none. In Open MPI they are addresses of objects in its library. */
#if defined(STINT_WRAP_PRELOAD) && defined(OPEN_MPI)
static int stint_mpi_is_null(const void *handle, const char *object, const void **known) {
    const void *null = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!null) {
        null = dlsym(RTLD_DEFAULT, object); /* the program's copy comes first */
        null = null ? null : stint_wrap_find(object);
        __atomic_store_n(known, null, __ATOMIC_RELAXED);
    }
    return !handle || handle == null;
}

static int stint_mpi_comm_is_null(MPI_Comm comm) {
    static const void *known;
    return stint_mpi_is_null(comm, "ompi_mpi_comm_null", &known);
}

static int stint_mpi_type_is_null(MPI_Datatype type) {
    static const void *known;
    return stint_mpi_is_null(type, "ompi_mpi_datatype_null", &known);
}

static MPI_Comm stint_mpi_world(void) {
    static const void *known;
    stint_mpi_is_null(NULL, "ompi_mpi_comm_world", &known);
    return (MPI_Comm)(uintptr_t)known;
}
#else
static int stint_mpi_comm_is_null(MPI_Comm comm) {
    return comm == MPI_COMM_NULL;
}

static int stint_mpi_type_is_null(MPI_Datatype type) {
    return type == MPI_DATATYPE_NULL;
}

static MPI_Comm stint_mpi_world(void) {
    return MPI_COMM_WORLD;
}
#endif

/* ---- The run of MPI. */

static int stint_mpi_state; /* 0: not known to run, 1: runs, -1: has ended. Atomic */

static int stint_mpi_runs(void) {
    int state = __atomic_load_n(&stint_mpi_state, __ATOMIC_RELAXED);
    if (!state) {
        int begun = 0, ended = 0;
        STINT_MPI_CALL(MPI_Initialized, (&begun));
        STINT_MPI_CALL(MPI_Finalized, (&ended));
        if (!begun || ended) {
            return 0;
        }
        state = 1;
        __atomic_store_n(&stint_mpi_state, state, __ATOMIC_RELAXED);
    }
    return state > 0;
}

static void stint_mpi_finalize(void) {
    __atomic_store_n(&stint_mpi_state, -1, __ATOMIC_RELAXED);
}

/* ---- Sets. */

static uint64_t stint_mpi_hash(uint64_t hash, const void *bytes, size_t length) {
    for (size_t i = 0; i < length; ++i) { /* FNV-1a */
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    }
    return hash;
}
#define STINT_MPI_HASH 0xcbf29ce484222325u

struct stint_mpi_known_set {
    uint64_t key; /* 0: a free place. Any thread */
    stint_set *set;
};

/* The place of a key; NULL: it has none, and STINT_MPI_SETS others have one. */
static struct stint_mpi_known_set *stint_mpi_place(uint64_t key) {
    static struct stint_mpi_known_set known[2 * STINT_MPI_SETS];
    static unsigned count;
    for (size_t i = (size_t)key % (2 * STINT_MPI_SETS);; i = (i + 1) % (2 * STINT_MPI_SETS)) {
        uint64_t there = __atomic_load_n(&known[i].key, __ATOMIC_RELAXED);
        if (!there) {
            if (__atomic_load_n(&count, __ATOMIC_RELAXED) >= STINT_MPI_SETS) {
                return NULL;
            }
            if (__atomic_compare_exchange_n(&known[i].key, &there, key, 0, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
                __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
                return &known[i];
            }
        }
        if (there == key) {
            return &known[i];
        }
    }
}

static stint_set *stint_mpi_set_of(struct stint_mpi_known_set *place, const char *name) {
    stint_set *set = __atomic_load_n(&place->set, __ATOMIC_ACQUIRE);
    if (!set) {
        set = stint_set_get(name);
        __atomic_store_n(&place->set, set, __ATOMIC_RELEASE);
    }
    return set;
}

/* ---- The members of a communicator. */

static int stint_mpi_is_before(const void *a, const void *b) {
    int one = *(const int *)a, other = *(const int *)b;
    return (one > other) - (one < other);
}

/* Ranks of the communicator, or of the other group, as ranks of MPI_COMM_WORLD; MPI_UNDEFINED: of
 * another job. */
static void stint_mpi_translate(const struct stint_mpi_comm *c, int is_remote, int count,
                                const int *rank, int *out) {
    MPI_Group group, world;
    if (is_remote) {
        STINT_MPI_CALL(MPI_Comm_remote_group, (c->comm, &group));
    } else {
        STINT_MPI_CALL(MPI_Comm_group, (c->comm, &group));
    }
    STINT_MPI_CALL(MPI_Comm_group, (stint_mpi_world(), &world));
    STINT_MPI_CALL(MPI_Group_translate_ranks, (group, count, rank, world, out));
    STINT_MPI_CALL(MPI_Group_free, (&group));
    STINT_MPI_CALL(MPI_Group_free, (&world));
}

/* "0-3,8"; a long list is cut and ends with a number of all its ranks. Returns the length. */
static int stint_mpi_put_ranks(char *out, const int *rank, int count) {
    int length = 0, next = 0;
    for (int i = 0; i < count && length < STINT_MPI_LIST_BYTES - 24; i = next) {
        next = i + 1;
        while (next < count && rank[next] == rank[next - 1] + 1) {
            ++next;
        }
        length += sprintf(out + length, "%s%d", i ? "," : "", rank[i]);
        if (next > i + 1) {
            length += sprintf(out + length, "-%d", rank[next - 1]);
        }
    }
    if (next < count) {
        uint64_t hash = stint_mpi_hash(STINT_MPI_HASH, rank, sizeof *rank * (size_t)count);
        length += sprintf(out + length, ",... #%012llx", (unsigned long long)(hash >> 16));
    }
    return length;
}

/* The members of both groups, as all of them find them, and how many are of another job. */
static void stint_mpi_put_members(char *out, const struct stint_mpi_comm *c) {
    int size = c->size + c->remote, away = 0;
    int *own = malloc(2 * (size_t)size * sizeof *own), *rank = own + size;
    if (!own) {
        return;
    }
    for (int i = 0; i < size; ++i) {
        own[i] = i;
    }
    stint_mpi_translate(c, 0, c->size, own, rank);
    if (c->remote) {
        stint_mpi_translate(c, 1, c->remote, own, rank + c->size);
    }
    qsort(rank, (size_t)size, sizeof *rank, stint_mpi_is_before);
    while (away < size && rank[away] < 0) { /* MPI_UNDEFINED */
        ++away;
    }
    out += sprintf(out, c->remote ? " between " : " ");
    out += stint_mpi_put_ranks(out, rank + away, size - away);
    if (away) {
        sprintf(out, "%s%d others", away < size ? " and " : "", away);
    }
    free(own);
}

/* The name of the set. */
static void stint_mpi_put_name(char set[STINT_MPI_SET_BYTES], const struct stint_mpi_comm *c) {
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    STINT_MPI_CALL(MPI_Comm_get_name, (c->comm, name, &length));
    if (*name) {
        length = sprintf(set, "%s/%s", STINT_WRAP_SET, name);
    } else {
        length = sprintf(set, "%s/%d ranks", STINT_WRAP_SET, c->size + c->remote);
    }
    if (!c->is_world && c->size + c->remote > 1) { /* else there is nothing to tell apart */
        stint_mpi_put_members(set + length, c);
    }
}

/* ---- Communicators. */

static unsigned stint_mpi_changes[STINT_MPI_COMMS]; /* of a place: freed or named. Atomic */

static unsigned stint_mpi_comm_place(MPI_Comm comm) {
    uintptr_t key = (uintptr_t)comm;
    return (unsigned)((key ^ key >> 6 ^ key >> 12) % STINT_MPI_COMMS);
}

static void stint_mpi_comms_change(MPI_Comm comm) {
    __atomic_fetch_add(&stint_mpi_changes[stint_mpi_comm_place(comm)], 1, __ATOMIC_RELEASE);
}

/* For calls without a communicator. The set is found at the first call, in whatever thread. */
static struct stint_mpi_comm *stint_mpi_comm_none(void) {
    static struct stint_mpi_comm none;
    if (!__atomic_load_n(&none.set, __ATOMIC_RELAXED)) {
        __atomic_store_n(&none.set, stint_set_get(STINT_WRAP_SET), __ATOMIC_RELAXED);
    }
    return &none;
}

static void stint_mpi_comm_fill(struct stint_mpi_comm *c, MPI_Comm comm) {
    char name[STINT_MPI_SET_BYTES];
    int is_inter = 0;
    memset(c, 0, sizeof *c);
    c->comm = comm;
    c->is_world = comm == stint_mpi_world();
    STINT_MPI_CALL(MPI_Comm_size, (comm, &c->size));
    STINT_MPI_CALL(MPI_Comm_test_inter, (comm, &is_inter));
    if (is_inter) {
        STINT_MPI_CALL(MPI_Comm_remote_size, (comm, &c->remote));
    }
    stint_mpi_put_name(name, c);
    c->key = stint_mpi_hash(STINT_MPI_HASH, name, strlen(name)) | 1;
    struct stint_mpi_known_set *place = stint_mpi_place(c->key);
    if (place) {
        c->set = stint_mpi_set_of(place, name);
    } else {
        c->set = stint_set_get(STINT_WRAP_SET "/other communicators");
        c->key = 0;
    }
}

static struct stint_mpi_comm *stint_mpi_comm_find(MPI_Comm comm) {
    static __thread struct stint_mpi_comm here[STINT_MPI_COMMS]
        __attribute__((tls_model("initial-exec")));
    unsigned place = stint_mpi_comm_place(comm);
    unsigned changes = __atomic_load_n(&stint_mpi_changes[place], __ATOMIC_ACQUIRE) + 1;
    struct stint_mpi_comm *c = &here[place];
    if (c->comm == comm && c->changes == changes) {
        return c;
    }
    if (!stint_mpi_runs() || stint_mpi_comm_is_null(comm)) {
        return stint_mpi_comm_none();
    }
    stint_mpi_comm_fill(c, comm);
    c->changes = changes;
    return c;
}

static stint_set *stint_mpi_new_root(const struct stint_mpi_comm *c, int root) {
    char name[STINT_MPI_SET_BYTES];
    int rank = MPI_UNDEFINED;
    stint_mpi_translate(c, 0, 1, &root, &rank);
    uint64_t key = stint_mpi_hash(c->key, &rank, sizeof rank) | 1;
    struct stint_mpi_known_set *place = stint_mpi_place(key);
    if (!place || rank == MPI_UNDEFINED) {
        return c->set;
    }
    stint_mpi_put_name(name, c);
    sprintf(name + strlen(name), ", root %d", rank);
    return stint_mpi_set_of(place, name);
}

/* The set of a rooted collective: each root has its own, as the ranks wait for it, or it for them.
 * Between two groups, no rank of the communicator is the root. */
static stint_set *stint_mpi_root_set(struct stint_mpi_comm *c, int root) {
    if (root < 0 || root >= c->size || c->remote || !c->key) {
        return c->set;
    }
    if (!c->root_set || c->root != root) {
        c->root_set = stint_mpi_new_root(c, root);
        c->root = root;
    }
    return c->root_set;
}

/* By the first call that asks for it, where the launcher's environment does not tell. */
static void stint_mpi_rank_see(MPI_Comm comm, const int *rank, int result) {
    static int is_seen; /* atomic */
    if (result != MPI_SUCCESS || __atomic_load_n(&is_seen, __ATOMIC_RELAXED)) {
        return;
    }
    const struct stint_mpi_comm *c = stint_mpi_comm_find(comm);
    if (c->is_world && *rank >= 0) {
        __atomic_store_n(&is_seen, 1, __ATOMIC_RELAXED);
        stint_impl_rank_seen((uint32_t)*rank, (uint32_t)c->size);
    }
}

/* ---- Bytes. */

/* A root as a peer. Between two groups, only some ranks have valid counts. */
static int stint_mpi_root(const struct stint_mpi_comm *c, int root) {
    return c->remote ? MPI_PROC_NULL : root;
}

/* The bytes of the first buffer, or of the second one if the first is in place. */
static uint64_t stint_mpi_bytes(const void *buffer, long long count, MPI_Datatype type,
                                const void *other, long long other_count, MPI_Datatype other_type,
                                int peer) {
    MPI_Count size = 0;
    if (buffer == MPI_IN_PLACE) {
        buffer = other;
        count = other_count;
        type = other_type;
    }
    if (peer == MPI_PROC_NULL || buffer == MPI_IN_PLACE || count <= 0 || !stint_mpi_runs() ||
        stint_mpi_type_is_null(type)) {
        return 0;
    }
    STINT_MPI_CALL(MPI_Type_size_x, (type, &size));
    return size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

/* ---- Parameters of Fortran: references, numbers of handles, addresses that mean a constant. */

#if defined(STINT_WRAP_PRELOAD) && defined(OPEN_MPI)
static MPI_Comm stint_mpi_fortran_comm(const void *word) {
    MPI_Comm comm = NULL;
    if (stint_mpi_runs()) {
        STINT_MPI_SET(comm =, MPI_Comm_f2c, (*(const MPI_Fint *)word));
    }
    return comm;
}

static MPI_Datatype stint_mpi_fortran_type(const void *word) {
    MPI_Datatype type = NULL;
    if (stint_mpi_runs()) {
        STINT_MPI_SET(type =, MPI_Type_f2c, (*(const MPI_Fint *)word));
    }
    return type;
}

static const void *stint_mpi_fortran_buffer(const void *word) {
    static const void *in_place;
    const void *known = __atomic_load_n(&in_place, __ATOMIC_RELAXED);
    if (!known) {
        known = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
        __atomic_store_n(&in_place, known, __ATOMIC_RELAXED);
    }
    return word == known ? MPI_IN_PLACE : word;
}
#elif defined(STINT_WRAP_PRELOAD)
static MPI_Comm stint_mpi_fortran_comm(const void *word) {
    return *(const MPI_Comm *)word;
}
#endif

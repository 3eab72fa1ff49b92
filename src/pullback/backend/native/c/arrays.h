/* Arrays inside compiled functions: buffers that are counted, views of them, shapes.

   Every array of rank R is a `pb_arrayR`: a pointer to its first item, the buffer that holds it (NULL: the caller's),
   lengths and strides in bytes.  Copying the struct makes another name of the same items. */
#ifndef PB_ARRAYS_H
#define PB_ARRAYS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pullback.h"

#define PB_MAX_RANK 8
#define PB_HOST_BYTES 16384 /* arrays from this size on are the host's own: its allocator has huge pages */
#define PB_FORCED static inline __attribute__((always_inline, unused))
/* The routines of runtime.h: compiled with the module, or (PB_LINKED) once a machine and linked. */
#if defined(PB_LINKED)
#define PB_RUNTIME extern __attribute__((visibility("hidden")))
#elif defined(PB_MAKES_RUNTIME)
#define PB_RUNTIME __attribute__((visibility("hidden")))
#else
#define PB_RUNTIME static __attribute__((noinline, unused))
#endif
#define PB_ONCE static __attribute__((noinline, unused)) /* compiled once a module: its callers stay small */
#if defined(__clang__)
#define PB_BRIEF
#define PB_SHORT
#else
#define PB_BRIEF __attribute__((optimize("O1"))) /* of calls only: compiled in less time */
#define PB_SHORT __attribute__((optimize("O2")))
#endif
#define PB_COMPLEX(type, re, im) __builtin_complex((type)(re), (type)(im))

/* Before a loop whose iterations do not depend on one another but for sums, which may be added in any order. */
#define PB_PRAGMA(text) _Pragma(#text)
#define PB_ROW(sums) PB_PRAGMA(omp simd sums)

typedef struct pb_buffer {
    int64_t refs;
    struct pb_buffer *next; /* of those kept for the next new array */
    void *handle;  /* the host's array, or NULL where the items follow this header */
    char *data;
    int64_t room;  /* bytes */
    int32_t dtype; /* with rank and n: what the host's array is */
    int32_t rank;
    int64_t n[PB_MAX_RANK];
} pb_buffer;

#define PB_ARRAY_TYPE(R, K) \
    typedef struct pb_array##R { char *data; pb_buffer *owner; int64_t n[K]; int64_t s[K]; } pb_array##R;
PB_ARRAY_TYPE(0, 1)
PB_ARRAY_TYPE(1, 1)
PB_ARRAY_TYPE(2, 2)
PB_ARRAY_TYPE(3, 3)
PB_ARRAY_TYPE(4, 4)
PB_ARRAY_TYPE(5, 5)
PB_ARRAY_TYPE(6, 6)
PB_ARRAY_TYPE(7, 7)
PB_ARRAY_TYPE(8, 8)

/* One name of a buffer less; the last frees it. */
PB_RUNTIME void pb_free_buffer(pb_host *host, pb_buffer *buffer);
/* A buffer for an array of a shape; NULL where there is no memory: the host's error is set. */
PB_RUNTIME pb_buffer *pb_new_buffer(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const int64_t *n);
/* Whether the items stand one after the other in C order. */
PB_RUNTIME int pb_is_contiguous(int32_t rank, int64_t size, const int64_t *n, const int64_t *s);
/* The broadcast of a shape so far (`n`, of rank `rank`) with another of rank r <= rank; 0 where they do not fit. */
PB_RUNTIME int pb_broadcast(int32_t rank, int64_t *n, int32_t r, const int64_t *m);
/* The strides with which an array of rank r is walked along a space of rank `rank`: 0 along axes it is broadcast over.
   An axis of the space of length one gets the stride that lets it be merged with the next. */
PB_RUNTIME void pb_walk(int32_t rank, const int64_t *space, int32_t r, const int64_t *n, const int64_t *s, int64_t *out);
/* The addresses between which the items of an array lie. */
PB_RUNTIME void pb_extent(int32_t rank, int64_t size, const char *data, const int64_t *n, const int64_t *s, const char **low, const char **high);
/* Whether a loop that writes items of `a` and reads those of `b` could read one that it has written at another step. */
PB_RUNTIME int pb_clash(int32_t rank_a, int64_t size_a, const char *a, const int64_t *na, const int64_t *sa, int32_t rank_b,
                       int64_t size_b, const char *b, const int64_t *nb, const int64_t *sb);
/* Replace the one -1 of a shape by what `count` items leave; whether the shape then has so many. */
PB_RUNTIME int pb_fill_shape(int32_t rank, int64_t *n, int64_t count);
/* Copy items of one size between two walks of a space. */
PB_RUNTIME void pb_copy_items(int32_t rank, const int64_t *n, int64_t size, char *to, const int64_t *st, const char *from, const int64_t *sf);
/* Hand an array over to the host: the host's own array where it is one as it is, else a copy. */
PB_RUNTIME int pb_give(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const char *data, pb_buffer *owner, const int64_t *n,
                   const int64_t *s, pb_arg *out);

/* Make an array of one that an operation of the host gave: its reference is taken over.  What the names held before is
   given back.  The owner is NULL where there is no memory. */
PB_RUNTIME void pb_adopt(pb_host *host, int32_t dtype, int32_t rank, const pb_arg *given, char **data, pb_buffer **owner, int64_t *n, int64_t *s);

/* Give a name of a buffer up, where that is done once. */
PB_RUNTIME void pb_let_go(pb_host *host, pb_buffer *buffer);
/* A name of one buffer becomes a name of another. */
PB_RUNTIME void pb_exchange(pb_host *host, pb_buffer *old, pb_buffer *next);
/* Make an array a new one of a shape; 0 where there is no memory. */
PB_RUNTIME int pb_renew(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const int64_t *shape, char **data, pb_buffer **owner, int64_t *n, int64_t *s);
/* Large buffers that are free during a call of an entry are kept for its next new arrays: the memory is there already.
   An entry begins with none, and at its end gives them back; those of a call that it interrupts come back then. */
typedef struct pb_pool { pb_buffer *first; int32_t count; } pb_pool;
PB_RUNTIME pb_pool pb_begin(void);
PB_RUNTIME void pb_end(pb_host *host, pb_pool outer);

/* Another name of a buffer. */
PB_FORCED void pb_retain(pb_buffer *buffer) {
    if (buffer) buffer->refs++;
}

PB_FORCED void pb_release(pb_host *host, pb_buffer *buffer) {
    if (buffer && --buffer->refs == 0) pb_free_buffer(host, buffer);
}

/* The strides of an array in C order. */
PB_FORCED void pb_c_strides(int32_t rank, int64_t size, const int64_t *n, int64_t *s) {
    for (int32_t k = rank - 1; k >= 0; k--) {
        s[k] = size;
        size *= n[k] > 0 ? n[k] : 1;
    }
}

/* How many items a shape has. */
PB_FORCED int64_t pb_count(int32_t rank, const int64_t *n) {
    int64_t out = 1;
    for (int32_t k = 0; k < rank; k++) out *= n[k];
    return out;
}

/* Whether two shapes of one rank are the same. */
PB_FORCED int pb_same_shape(int32_t rank, const int64_t *a, const int64_t *b) {
    for (int32_t k = 0; k < rank; k++)
        if (a[k] != b[k]) return 0;
    return 1;
}

/* An index as a position from the front, or -1 where it is out of bounds. */
PB_FORCED int64_t pb_position(int64_t i, int64_t n) {
    i += i < 0 ? n : 0;
    return (uint64_t)i < (uint64_t)n ? i : -1;
}

/* The bounds of a slice of an axis of length n, as Python has them: `start` and the number of items. */
PB_FORCED int64_t pb_slice(int64_t n, int64_t *start, int64_t stop, int64_t step) {
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n, first = *start;
    if (first < 0) {
        first += n;
        if (first < low) first = low;
    } else if (first > high) {
        first = high;
    }
    if (stop < 0) {
        stop += n;
        if (stop < low) stop = low;
    } else if (stop > high) {
        stop = high;
    }
    *start = first;
    if (step > 0) return first < stop ? (stop - first - 1) / step + 1 : 0;
    return stop < first ? (first - stop - 1) / -step + 1 : 0;
}

/* Whether all lengths are lengths. */
PB_FORCED int pb_shape_is_fine(int32_t rank, const int64_t *n) {
    for (int32_t k = 0; k < rank; k++)
        if (n[k] < 0) return 0;
    return 1;
}

/* What generated code says often.  `host` and a label `fail` are in scope wherever these stand. */
#define PB_RARE(test) __builtin_expect(!!(test), 0)
#define PB_OFTEN(test) __builtin_expect(!!(test), 1)
#define PB_FAIL(code, place, text) \
    do { \
        host->error = (code); \
        host->line = (place); \
        host->message = (text); \
        goto fail; \
    } while (0)
#define PB_RETAIN(array) pb_retain((array).owner)
#define PB_RELEASE(array) pb_release(host, (array).owner)
#define PB_LET_GO(array) (pb_let_go(host, (array).owner), (array).owner = NULL)
#define PB_SET(to, from) \
    do { \
        if ((to).owner || (from).owner) pb_exchange(host, (to).owner, (from).owner); \
        (to) = (from); \
    } while (0)
#define PB_SWAP(a, b) \
    do { \
        const __typeof__(a) pb_first = (a); \
        (a) = (b); \
        (b) = pb_first; \
    } while (0)
#define PB_NEW(to, dtype, size, rank, shape, place) \
    do { \
        if (PB_RARE(!pb_renew(host, dtype, size, rank, shape, &(to).data, &(to).owner, (to).n, (to).s))) { \
            host->line = (place); \
            goto fail; \
        } \
    } while (0)

/* A sum that keeps what rounding loses (Neumaier): partial sums are added to it in a fixed order. */
typedef struct pb_total { double sum, lost; } pb_total;
PB_FORCED void pb_add_total(pb_total *total, double x) {
    double t = total->sum + x;
    total->lost += __builtin_fabs(total->sum) >= __builtin_fabs(x) ? (total->sum - t) + x : (x - t) + total->sum;
    total->sum = t;
}
PB_FORCED double pb_total_of(const pb_total *total) {
    double out = total->sum + total->lost;
    return out != out ? total->sum : out; /* infinities leave a NaN in what was lost */
}

#ifndef PB_LINKED
#include "runtime.h"
#endif

#endif

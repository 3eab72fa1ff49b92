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
#define PB_ONCE static __attribute__((noinline, unused)) /* compiled once a module: its callers stay small */
#define PB_SMALL static __attribute__((noinline, unused, optimize("O1"))) /* of any strides: seldom run */
#define PB_COMPLEX(type, re, im) __builtin_complex((type)(re), (type)(im))

/* Before a loop whose iterations do not depend on one another but for sums, which may be added in any order. */
#define PB_PRAGMA(text) _Pragma(#text)
#define PB_ROW(sums) PB_PRAGMA(omp simd sums)

typedef struct pb_buffer {
    int64_t refs;
    void *handle;  /* the host's array, or NULL where the items follow this header */
    char *data;
    int32_t dtype;
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

/* Another name of a buffer. */
PB_FORCED void pb_retain(pb_buffer *buffer) {
    if (buffer) buffer->refs++;
}

/* One name of a buffer less; the last frees it. */
PB_ONCE void pb_free_buffer(pb_host *host, pb_buffer *buffer) {
    if (buffer->handle) host->drop_array(host, buffer->handle);
    free(buffer);
}

PB_FORCED void pb_release(pb_host *host, pb_buffer *buffer) {
    if (buffer && --buffer->refs == 0) pb_free_buffer(host, buffer);
}

/* A buffer for an array of a shape; NULL where there is no memory: the host's error is set. */
PB_ONCE pb_buffer *pb_new_buffer(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const int64_t *n) {
    int64_t bytes = size;
    for (int32_t k = 0; k < rank; k++) {
        if (n[k] < 0 || __builtin_mul_overflow(bytes, n[k], &bytes)) {
            host->error = PB_VALUE_ERROR;
            host->message = "negative or too large dimensions are not allowed";
            return NULL;
        }
    }
    host->error = PB_MEMORY_ERROR;
    host->message = NULL;
    pb_buffer *buffer;
    if (bytes >= PB_HOST_BYTES) {
        buffer = malloc(sizeof(pb_buffer));
        if (!buffer) return NULL;
        buffer->handle = host->new_array(host, dtype, rank, n, &buffer->data);
        if (!buffer->handle) {
            free(buffer);
            host->error = PB_HOST_ERROR;
            return NULL;
        }
    } else {
        buffer = malloc(sizeof(pb_buffer) + (size_t)bytes);
        if (!buffer) return NULL;
        buffer->handle = NULL;
        buffer->data = (char *)(buffer + 1);
    }
    buffer->refs = 1;
    buffer->dtype = dtype;
    buffer->rank = rank;
    for (int32_t k = 0; k < rank; k++) buffer->n[k] = n[k];
    return buffer;
}

/* The strides of an array in C order. */
PB_FORCED void pb_c_strides(int32_t rank, int64_t size, const int64_t *n, int64_t *s) {
    for (int32_t k = rank - 1; k >= 0; k--) {
        s[k] = size;
        size *= n[k] > 0 ? n[k] : 1;
    }
}

/* Whether the items stand one after the other in C order. */
PB_ONCE int pb_is_contiguous(int32_t rank, int64_t size, const int64_t *n, const int64_t *s) {
    for (int32_t k = rank - 1; k >= 0; k--) {
        if (n[k] == 0) return 1;
        if (n[k] != 1 && s[k] != size) return 0;
        size *= n[k];
    }
    return 1;
}

/* How many items a shape has. */
PB_FORCED int64_t pb_count(int32_t rank, const int64_t *n) {
    int64_t out = 1;
    for (int32_t k = 0; k < rank; k++) out *= n[k];
    return out;
}

/* Whether an array is the only name of a buffer, and is itself as a new array of this dtype and shape would be: then a
   kernel writes its result there, item by item after that item has been read.  (A transposed view would not do: it may
   be an operand too.  For the same reason no operand may be a view that does not count in `refs`.) */
PB_ONCE int pb_reusable(const pb_buffer *owner, const char *data, int32_t dtype, int64_t size, int32_t rank, const int64_t *n, const int64_t *s,
                        const int64_t *wanted) {
    if (!owner || owner->refs != 1 || owner->data != data || owner->dtype != dtype) return 0;
    if (owner->handle && owner->rank != rank) return 0;
    for (int32_t k = 0; k < rank; k++)
        if (n[k] != wanted[k] || (owner->handle && owner->n[k] != n[k])) return 0;
    return pb_is_contiguous(rank, size, n, s) && pb_count(owner->rank, owner->n) == pb_count(rank, n);
}

/* Whether two shapes of one rank are the same. */
PB_FORCED int pb_same_shape(int32_t rank, const int64_t *a, const int64_t *b) {
    for (int32_t k = 0; k < rank; k++)
        if (a[k] != b[k]) return 0;
    return 1;
}

/* The broadcast of a shape so far (`n`, of rank `rank`) with another of rank r <= rank; 0 where they do not fit. */
PB_ONCE int pb_broadcast(int32_t rank, int64_t *n, int32_t r, const int64_t *m) {
    for (int32_t k = 0; k < r; k++) {
        int64_t *have = &n[rank - r + k];
        if (*have == m[k] || m[k] == 1) continue;
        if (*have != 1) return 0;
        *have = m[k];
    }
    return 1;
}

/* The strides with which an array of rank r is walked along a space of rank `rank`: 0 along axes it is broadcast over.
   An axis of the space of length one gets the stride that lets it be merged with the next. */
PB_ONCE void pb_walk(int32_t rank, const int64_t *space, int32_t r, const int64_t *n, const int64_t *s, int64_t *out) {
    for (int32_t k = rank - 1; k >= 0; k--) {
        int32_t own = k - (rank - r);
        if (space[k] == 1)
            out[k] = k == rank - 1 ? 0 : out[k + 1] * space[k + 1];
        else
            out[k] = own < 0 || n[own] == 1 ? 0 : s[own];
    }
}

/* Merge neighbouring axes that every operand walks as one: the merged ones come last, the others have length one.
   `move`: a last axis of length one may change places with another (nothing is reduced along one of them). */
PB_ONCE void pb_coalesce(int32_t rank, int64_t *n, int32_t count, int64_t *const *strides, int move) {
    if (move && n[rank - 1] == 1) {
        int32_t k = rank - 1;
        while (k > 0 && n[k] == 1) k--;
        for (int32_t j = 0; j < count; j++) strides[j][rank - 1] = strides[j][k];
        n[rank - 1] = n[k];
        if (k != rank - 1) n[k] = 1;
        for (int32_t i = rank - 2; i >= k; i--)
            for (int32_t j = 0; j < count; j++) strides[j][i] = strides[j][rank - 1] * n[rank - 1];
    }
    for (int32_t k = rank - 2; k >= 0; k--) {
        int together = 1;
        for (int32_t j = 0; j < count; j++)
            if (strides[j][k] != strides[j][rank - 1] * n[rank - 1]) {
                together = 0;
                break;
            }
        if (!together) return;
        n[rank - 1] *= n[k];
        n[k] = 1;
    }
}

/* The addresses between which the items of an array lie. */
PB_ONCE void pb_extent(int32_t rank, int64_t size, const char *data, const int64_t *n, const int64_t *s, const char **low, const char **high) {
    *low = data;
    *high = data + size;
    for (int32_t k = 0; k < rank; k++) {
        if (n[k] == 0) {
            *high = *low;
            return;
        }
        if (s[k] < 0)
            *low += (n[k] - 1) * s[k];
        else
            *high += (n[k] - 1) * s[k];
    }
}

/* Whether a loop that writes items of `a` and reads those of `b` could read one that it has written at another step. */
PB_ONCE int pb_clash(int32_t rank_a, int64_t size_a, const char *a, const int64_t *na, const int64_t *sa, int32_t rank_b,
                       int64_t size_b, const char *b, const int64_t *nb, const int64_t *sb) {
    if (a == b && rank_a == rank_b && size_a == size_b) {
        int same = 1;
        for (int32_t k = 0; k < rank_a; k++)
            if (na[k] != nb[k] || (na[k] > 1 && sa[k] != sb[k])) same = 0;
        if (same) return 0;
    }
    const char *low_a, *high_a, *low_b, *high_b;
    pb_extent(rank_a, size_a, a, na, sa, &low_a, &high_a);
    pb_extent(rank_b, size_b, b, nb, sb, &low_b, &high_b);
    return low_a < high_b && low_b < high_a;
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

/* Replace the one -1 of a shape by what `count` items leave; whether the shape then has so many. */
PB_ONCE int pb_fill_shape(int32_t rank, int64_t *n, int64_t count) {
    int64_t known = 1;
    int32_t open = -1;
    for (int32_t k = 0; k < rank; k++) {
        if (n[k] == -1 && open < 0)
            open = k;
        else if (n[k] < 0)
            return 0;
        else
            known *= n[k];
    }
    if (open < 0) return known == count;
    if (known == 0 || count % known) return 0;
    n[open] = count / known;
    return 1;
}

/* Copy items of one size between two walks of a space. */
PB_ONCE void pb_copy_items(int32_t rank, const int64_t *n, int64_t size, char *to, const int64_t *st, const char *from, const int64_t *sf) {
    if (rank == 0) {
        memcpy(to, from, (size_t)size);
        return;
    }
    if (rank == 1) {
        if (st[0] == size && sf[0] == size) {
            memcpy(to, from, (size_t)(size * n[0]));
            return;
        }
        if (size == 8) {
            for (int64_t i = 0; i < n[0]; i++) *(int64_t *)(to + i * st[0]) = *(const int64_t *)(from + i * sf[0]);
            return;
        }
        for (int64_t i = 0; i < n[0]; i++) memcpy(to + i * st[0], from + i * sf[0], (size_t)size);
        return;
    }
    for (int64_t i = 0; i < n[0]; i++) pb_copy_items(rank - 1, n + 1, size, to + i * st[0], st + 1, from + i * sf[0], sf + 1);
}

/* Hand an array over to the host: the host's own array where it is one as it is, else a copy. */
PB_ONCE int pb_give(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const char *data, pb_buffer *owner, const int64_t *n,
                   const int64_t *s, pb_arg *out) {
    if (owner && owner->handle && owner->data == data && owner->dtype == dtype && owner->rank == rank &&
        pb_same_shape(rank, owner->n, n) && pb_is_contiguous(rank, size, n, s)) {
        out->a.data = owner->handle;
        owner->handle = NULL; /* it is the host's from here on */
        return 1;
    }
    char *items;
    void *handle = host->new_array(host, dtype, rank, n, &items);
    if (!handle) {
        host->error = PB_HOST_ERROR;
        return 0;
    }
    int64_t t[PB_MAX_RANK];
    pb_c_strides(rank, size, n, t);
    pb_copy_items(rank, n, size, items, t, data, s);
    out->a.data = handle;
    return 1;
}

/* Make an array of one that an operation of the host gave: its reference is taken over.  What the names held before is
   given back.  The owner is NULL where there is no memory. */
PB_ONCE void pb_adopt(pb_host *host, int32_t dtype, int32_t rank, const pb_arg *given, char **data, pb_buffer **owner, int64_t *n, int64_t *s) {
    pb_release(host, *owner);
    pb_buffer *buffer = *owner = malloc(sizeof(pb_buffer));
    if (!buffer) {
        host->drop_array(host, given->a.handle);
        return;
    }
    buffer->refs = 1;
    buffer->handle = given->a.handle;
    buffer->data = *data = given->a.data;
    buffer->dtype = dtype;
    buffer->rank = rank;
    for (int32_t k = 0; k < rank; k++) {
        n[k] = buffer->n[k] = given->a.shape[k];
        s[k] = given->a.strides[k];
    }
}

/* What generated code says often.  `host` and a label `fail` are in scope wherever these stand. */
#define PB_RARE(test) __builtin_expect(!!(test), 0)
#define PB_FAIL(code, place, text) \
    do { \
        host->error = (code); \
        host->line = (place); \
        host->message = (text); \
        goto fail; \
    } while (0)
#define PB_RETAIN(array) pb_retain((array).owner)
#define PB_RELEASE(array) pb_release(host, (array).owner)
#define PB_SET(to, from) \
    do { \
        pb_retain((from).owner); \
        pb_release(host, (to).owner); \
        (to) = (from); \
    } while (0)
#define PB_NEW(to, dtype, size, rank, shape, place) \
    do { \
        pb_buffer *pb_made = pb_new_buffer(host, dtype, size, rank, shape); \
        if (PB_RARE(!pb_made)) { \
            host->line = (place); \
            goto fail; \
        } \
        pb_release(host, (to).owner); \
        (to).owner = pb_made; \
        (to).data = pb_made->data; \
        memcpy((to).n, shape, sizeof (to).n); \
        pb_c_strides(rank, size, (to).n, (to).s); \
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

#endif

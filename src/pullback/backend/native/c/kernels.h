/* How a kernel is run: a table says what its operands are, one routine walks them all.

   Generated code gives for each kernel a row function, which takes some rows of items that stand side by side, and a
   table.  Everything else is in runtime.h: the shape of the space, checks, new arrays, what overlaps, the order
   of the axes, blocks, threads.  Operands whose items do not stand side by side are packed block by block. */
#ifndef PB_KERNELS_H
#define PB_KERNELS_H

#include "arrays.h"

#define PB_BLOCK 2048       /* items that a row function takes at once: their sums are taken as one */

/* What an operand of a kernel is. */
enum { PB_READ, PB_MADE, PB_STORED, PB_ADDED, PB_REDUCED };

/* One operand.
   inner   the stride along the last axis that the row function takes: the size of an item, or 0
   spans   it is known to have the shape of the space
   axes    of PB_REDUCED: bit k is set where axis k of the space is reduced; keep: it stays, with length one
   start   of PB_REDUCED: the item that a reduction begins with */
typedef struct {
    uint8_t what, rank, dtype, size, inner, spans, keep;
    uint32_t axes;
    const void *start;
} pb_role;

/* Some rows (the operands at `at`, their strides from row to row at `step`) of `length` items. */
typedef void pb_row(int64_t rows, int64_t length, char *const *at, const int64_t *step, const void *numbers, void *part);
/* Add what a row function left in `part` to all that came before. */
typedef void pb_fold(void *all, const void *part);

typedef struct {
    pb_row *row;
    pb_fold *fold;
    const pb_role *roles;
    int32_t count, rank, own_rank, place, part;
    int32_t cost;   /* of one item */
    int32_t nonzero; /* nothing may not be reduced */
    int32_t ordered; /* rows must be taken one after the other */
} pb_kernel;

/* What every array begins with: the same for all ranks. */
typedef struct __attribute__((may_alias)) { char *data; pb_buffer *owner; int64_t n[2 * PB_MAX_RANK]; } pb_any;
PB_FORCED const int64_t *pb_strides_of(const pb_any *x, int32_t rank) {
    return x->n + (rank ? rank : 1);
}

/* Run a kernel: `arrays` are the addresses of its operands, `shape` that of the space where no operand tells it, `all`
   where its sums are gathered.  Non-zero: the host's error is set, and nothing has been changed. */
PB_RUNTIME int32_t pb_run(pb_host *host, const pb_kernel *kernel, void *const *arrays, const int64_t *shape, const void *numbers, int64_t *total, void *all);

/* A function that a loop calls for its element has failed in one of the threads that run the loop: the error of one of
   them is the host's. */
PB_ONCE void pb_stop(pb_host *host, const pb_host *own, int32_t *stopped) {
    if (__atomic_exchange_n(stopped, 1, __ATOMIC_RELAXED)) return;
    host->error = own->error;
    host->line = own->line;
    host->message = own->message;
    memcpy(host->detail, own->detail, sizeof(host->detail));
}

/* Whether a local array of one axis has a buffer of its own with room for a result. */
PB_FORCED int pb_ready(const pb_array1 *o, int64_t size, int64_t n) {
    const pb_buffer *owner = o->owner;
    return owner && owner->refs == 1 && owner->data == o->data && n * size <= owner->room && (!owner->handle || 2 * n * size >= owner->room);
}

/* Give a local array of one axis a new buffer; the old one, which may still be read, goes to `old`.  0: no memory. */
PB_RUNTIME int pb_replace(pb_host *host, pb_array1 *o, int32_t dtype, int64_t size, int64_t n, pb_buffer **old);

/* Whether what a loop of n steps reads has no byte in common with what it writes. */
PB_RUNTIME int pb_apart(int64_t n, const char *a, int64_t step_a, int64_t size_a, const char *b, int64_t step_b, int64_t size_b);

/* The same, or what it reads is at each step just what it writes there. */
PB_FORCED int pb_clear(int64_t n, const char *a, int64_t step_a, int64_t size_a, const char *b, int64_t step_b, int64_t size_b) {
    return (a == b && step_a == step_b && size_a == size_b) || pb_apart(n, a, step_a, size_a, b, step_b, size_b);
}

#endif

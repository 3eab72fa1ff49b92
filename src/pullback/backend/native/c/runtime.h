/* The routines behind arrays.h and kernels.h.  A module has them as its own, or is linked with them. */
#ifndef PB_RUNTIME_H
#define PB_RUNTIME_H

#include "arrays.h"
#include "kernels.h"
#include "products.h"

#define PB_KEPT 8 /* buffers at most that are kept */
static _Thread_local pb_pool pb_kept;

PB_RUNTIME pb_pool pb_begin(void) {
    const pb_pool outer = pb_kept;
    pb_kept = (pb_pool){NULL, 0};
    return outer;
}

PB_RUNTIME void pb_end(pb_host *host, pb_pool outer) {
    while (pb_kept.first) {
        pb_buffer *next = pb_kept.first->next;
        host->drop_array(host, pb_kept.first->handle);
        free(pb_kept.first);
        pb_kept.first = next;
    }
    pb_kept = outer;
}

PB_RUNTIME void pb_free_buffer(pb_host *host, pb_buffer *buffer) {
    if (buffer->handle && buffer->room && pb_kept.count < PB_KEPT) {
        buffer->next = pb_kept.first;
        pb_kept.first = buffer;
        pb_kept.count++;
        return;
    }
    if (buffer->handle) host->drop_array(host, buffer->handle);
    free(buffer);
}

PB_RUNTIME void pb_let_go(pb_host *host, pb_buffer *buffer) {
    pb_release(host, buffer);
}

/* A buffer that is kept and serves a new array: one that is just so, or else one that is not much larger. */
PB_ONCE pb_buffer *pb_take(int32_t dtype, int32_t rank, const int64_t *n, int64_t bytes) {
    pb_buffer **best = NULL;
    for (pb_buffer **at = &pb_kept.first; *at; at = &(*at)->next) {
        const pb_buffer *x = *at;
        if (x->room == bytes && x->dtype == dtype && x->rank == rank && pb_same_shape(rank, n, x->n)) {
            best = at;
            break;
        }
        if (!best && x->room >= bytes && x->room <= bytes + bytes / 4) best = at;
    }
    if (!best) return NULL;
    pb_buffer *taken = *best;
    *best = taken->next;
    pb_kept.count--;
    taken->refs = 1;
    return taken;
}

PB_RUNTIME pb_buffer *pb_new_buffer(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const int64_t *n) {
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
        buffer = pb_take(dtype, rank, n, bytes);
        if (buffer) return buffer;
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
    buffer->room = bytes;
    buffer->dtype = dtype;
    buffer->rank = rank;
    for (int32_t k = 0; k < rank; k++) buffer->n[k] = n[k];
    return buffer;
}

PB_RUNTIME int pb_is_contiguous(int32_t rank, int64_t size, const int64_t *n, const int64_t *s) {
    for (int32_t k = rank - 1; k >= 0; k--) {
        if (n[k] == 0) return 1;
        if (n[k] != 1 && s[k] != size) return 0;
        size *= n[k];
    }
    return 1;
}

PB_RUNTIME int pb_broadcast(int32_t rank, int64_t *n, int32_t r, const int64_t *m) {
    for (int32_t k = 0; k < r; k++) {
        int64_t *have = &n[rank - r + k];
        if (*have == m[k] || m[k] == 1) continue;
        if (*have != 1) return 0;
        *have = m[k];
    }
    return 1;
}

PB_RUNTIME void pb_walk(int32_t rank, const int64_t *space, int32_t r, const int64_t *n, const int64_t *s, int64_t *out) {
    for (int32_t k = rank - 1; k >= 0; k--) {
        int32_t own = k - (rank - r);
        if (space[k] == 1)
            out[k] = k == rank - 1 ? 0 : out[k + 1] * space[k + 1];
        else
            out[k] = own < 0 || n[own] == 1 ? 0 : s[own];
    }
}

PB_RUNTIME void pb_extent(int32_t rank, int64_t size, const char *data, const int64_t *n, const int64_t *s, const char **low, const char **high) {
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

PB_RUNTIME int pb_clash(int32_t rank_a, int64_t size_a, const char *a, const int64_t *na, const int64_t *sa, int32_t rank_b,
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

PB_RUNTIME int pb_fill_shape(int32_t rank, int64_t *n, int64_t count) {
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

PB_RUNTIME void pb_copy_items(int32_t rank, const int64_t *n, int64_t size, char *to, const int64_t *st, const char *from, const int64_t *sf) {
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

PB_RUNTIME int pb_give(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const char *data, pb_buffer *owner, const int64_t *n,
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

#define PB_PARALLEL 4000000 /* the cost of all items from which on threads are worth it */
PB_RUNTIME void pb_exchange(pb_host *host, pb_buffer *old, pb_buffer *next) {
    pb_retain(next);
    pb_release(host, old);
}

PB_RUNTIME int pb_renew(pb_host *host, int32_t dtype, int64_t size, int32_t rank, const int64_t *shape, char **data, pb_buffer **owner, int64_t *n, int64_t *s) {
    pb_buffer *made = pb_new_buffer(host, dtype, size, rank, shape);
    if (!made) return 0;
    pb_release(host, *owner);
    *owner = made;
    *data = made->data;
    for (int32_t k = 0; k < rank; k++) n[k] = shape[k];
    pb_c_strides(rank, size, n, s);
    return 1;
}

#define PB_SIDE 32          /* how long a row of packed items is where there are many: items of columns stand side by side */
#define PB_PACKED 256       /* the same where operands are packed */
/* The walk of one kernel's operands, when everything is known. */
typedef struct {
    const pb_kernel *kernel;
    const void *numbers;
    char **at;
    int64_t (*s)[PB_MAX_RANK];
    int64_t n[PB_MAX_RANK];
    int32_t packed;           /* how many operands must be packed */
    int64_t rows, length;     /* of a block */
    int64_t tall, wide;       /* blocks along the last axis but one, and the last */
    int64_t blocks;
} pb_steps;

/* The shape of the result of a reduction. */
PB_FORCED void pb_left(const pb_kernel *kernel, const pb_role *role, const int64_t *n, int64_t *m) {
    int32_t r = 0;
    for (int32_t k = 0; k < kernel->rank; k++) {
        if (!(role->axes >> k & 1))
            m[r++] = n[k];
        else if (role->keep)
            m[r++] = 1;
    }
}

/* Copy rows of items; a stride of 0 repeats an item. */
PB_ONCE void pb_pack(int64_t size, int64_t rows, int64_t n, char *to, int64_t to_row, int64_t to_s, const char *from, int64_t from_row, int64_t from_s) {
    for (int64_t r = 0; r < rows; r++, to += to_row, from += from_row) {
        if (size == 8)
            for (int64_t k = 0; k < n; k++) memcpy(to + k * to_s, from + k * from_s, 8);
        else if (size == 4)
            for (int64_t k = 0; k < n; k++) memcpy(to + k * to_s, from + k * from_s, 4);
        else
            for (int64_t k = 0; k < n; k++) memcpy(to + k * to_s, from + k * from_s, (size_t)size);
    }
}

/* Add items (`shape`, walked with s) to those of an array, in its dtype. */
#define PB_ADD_ITEM(T) { T a, b; memcpy(&a, to, sizeof a); memcpy(&b, from, sizeof b); a = (T)(a + b); memcpy(to, &a, sizeof a); break; }
PB_ONCE void pb_add_items(int32_t dtype, int32_t rank, const int64_t *n, char *to, const int64_t *st, const char *from, const int64_t *sf) {
    if (rank) {
        for (int64_t i = 0; i < n[0]; i++) pb_add_items(dtype, rank - 1, n + 1, to + i * st[0], st + 1, from + i * sf[0], sf + 1);
        return;
    }
    switch (dtype) {
    case PB_BOOL: { *to = *to | *from; break; }
    case PB_INT8: case PB_UINT8: PB_ADD_ITEM(uint8_t)
    case PB_INT16: case PB_UINT16: PB_ADD_ITEM(uint16_t)
    case PB_INT32: case PB_UINT32: PB_ADD_ITEM(uint32_t)
    case PB_INT64: case PB_UINT64: PB_ADD_ITEM(uint64_t)
    case PB_FLOAT32: PB_ADD_ITEM(float)
    case PB_FLOAT64: PB_ADD_ITEM(double)
    case PB_COMPLEX64: PB_ADD_ITEM(float _Complex)
    case PB_COMPLEX128: PB_ADD_ITEM(double _Complex)
    }
}

/* Run one block: at the operands themselves, or with packed copies of those that need it. */
PB_ONCE void pb_run_block(const pb_steps *w, int64_t block, void *part) {
    const pb_kernel *kernel = w->kernel;
    const int32_t count = kernel->count, rank = kernel->rank;
    int64_t i[PB_MAX_RANK] = {0}, step[count];
    char *at[count];
    const int64_t column = block % w->wide * w->length;
    block /= w->wide;
    const int64_t first = block % w->tall * w->rows;
    block /= w->tall;
    for (int32_t k = rank - 3; k >= 0; k--) {
        i[k] = block % w->n[k];
        block /= w->n[k];
    }
    const int64_t high = rank > 1 ? w->n[rank - 2] : 1, across = w->n[rank - 1];
    const int64_t rows = high - first < w->rows ? high - first : w->rows;
    const int64_t length = across - column < w->length ? across - column : w->length;
    for (int32_t j = 0; j < count; j++) {
        const int64_t *s = w->s[j];
        char *x = w->at[j] + column * s[rank - 1];
        for (int32_t k = 0; k < rank - 2; k++) x += i[k] * s[k];
        step[j] = rank > 1 ? s[rank - 2] : 0;
        at[j] = x + first * step[j];
    }
    if (!w->packed) {
        kernel->row(rows, length, at, step, w->numbers, part);
        return;
    }
    _Alignas(64) char room[w->packed][PB_PACKED * 16];
    char *real[count];
    int32_t used = 0;
    for (int32_t j = 0; j < count; j++) {
        const pb_role *role = &kernel->roles[j];
        const int64_t size = role->size, s = w->s[j][rank - 1];
        real[j] = NULL;
        if (s == role->inner) continue;
        real[j] = at[j];
        at[j] = room[used++];
        if (role->what == PB_ADDED && kernel->ordered)
            memset(at[j], 0, (size_t)(rows * length * size));
        else if (role->what != PB_MADE && role->what != PB_STORED)
            pb_pack(size, rows, length, at[j], length * size, size, real[j], step[j], s);
    }
    int64_t packed[count];
    for (int32_t j = 0; j < count; j++) packed[j] = real[j] ? length * kernel->roles[j].size : step[j];
    kernel->row(rows, length, at, packed, w->numbers, part);
    for (int32_t j = 0; j < count; j++) {
        const pb_role *role = &kernel->roles[j];
        if (real[j] && role->what == PB_ADDED && kernel->ordered)
            pb_add_items(role->dtype, 2, (int64_t[]){rows, length}, real[j], (int64_t[]){step[j], w->s[j][rank - 1]}, at[j], (int64_t[]){length * role->size, role->size});
        else if (real[j] && role->what != PB_READ)
            pb_pack(role->size, rows, length, real[j], step[j], w->s[j][rank - 1], at[j], length * role->size, role->size);
    }
}

/* Run all blocks.  Parts are folded in the order of the blocks, whoever computed them. */
PB_ONCE void pb_run_blocks(pb_host *host, const pb_steps *w, void *all) {
    const pb_kernel *kernel = w->kernel;
    const int64_t size = kernel->part ? kernel->part : 1;
#ifdef _OPENMP
    const int64_t total = pb_count(kernel->rank, w->n);
    if (host->threads > 1 && w->blocks > 1 && total >= PB_PARALLEL / kernel->cost && !kernel->ordered) {
        char *parts = malloc((size_t)(w->blocks * size));
        if (parts) {
#pragma omp parallel for schedule(dynamic, 4) num_threads((int)host->threads)
            for (int64_t b = 0; b < w->blocks; b++) pb_run_block(w, b, parts + b * size);
            if (kernel->fold)
                for (int64_t b = 0; b < w->blocks; b++) kernel->fold(all, parts + b * size);
            free(parts);
            return;
        }
    }
#endif
    (void)host;
    _Alignas(16) char part[size];
    for (int64_t b = 0; b < w->blocks; b++) {
        pb_run_block(w, b, part);
        if (kernel->fold) kernel->fold(all, part);
    }
}

/* The lengths of the space, from the operands; 0 where they do not fit. */
PB_ONCE int pb_space(const pb_kernel *kernel, void *const *arrays, const int64_t *shape, int64_t *n) {
    const int32_t rank = kernel->rank;
    const pb_any *known = NULL;
    for (int32_t k = 0; k < rank; k++) n[k] = 1;
    for (int32_t j = 0; j < kernel->count && !known; j++)
        if (kernel->roles[j].spans && kernel->roles[j].what != PB_MADE) known = arrays[j];
    if (known) memcpy(n, known->n, sizeof(int64_t) * (size_t)rank);
    if (shape) {
        memcpy(n, shape, sizeof(int64_t) * (size_t)rank);
        if (!pb_shape_is_fine(rank, n)) return 0;
    }
    for (int32_t j = 0; j < kernel->count; j++) {
        const pb_role *role = &kernel->roles[j];
        const pb_any *x = arrays[j];
        if (role->what != PB_READ || x == known) continue;
        if (role->spans ? !pb_same_shape(rank, n, x->n) : !pb_broadcast(rank, n, role->rank, x->n)) return 0;
    }
    return 1;
}

/* Whether the old buffer of a result may take the new one: nothing else has it, it is large enough, and what the kernel
   reads there it reads at the place where it then writes. */
PB_ONCE int pb_serves(const pb_kernel *kernel, void *const *arrays, int32_t j, const int64_t *n) {
    const pb_role *role = &kernel->roles[j];
    const pb_any *o = arrays[j];
    pb_buffer *owner = o->owner;
    if (!owner || owner->refs != 1 || owner->data != o->data) return 0;
    const int64_t bytes = pb_count(role->rank, n) * role->size;
    if (bytes > owner->room || (owner->handle && 2 * bytes < owner->room)) return 0;
    for (int32_t k = 0; k < kernel->count; k++) {
        const pb_role *other = &kernel->roles[k];
        const pb_any *x = arrays[k];
        if (k == j || x->owner != owner || other->what == PB_MADE) continue;
        if (other->what != PB_READ || other->rank != role->rank || other->size != role->size || !pb_same_shape(role->rank, n, x->n) ||
            !pb_is_contiguous(role->rank, role->size, n, pb_strides_of(x, role->rank)))
            return 0;
    }
    return 1;
}

/* Copy what was stored into a temporary to where it belongs, broadcast; 0 where it does not fit. */
PB_ONCE int pb_settle(const pb_role *role, int32_t own, const int64_t *n, const pb_any *d, const char *from, int whole) {
    int64_t s[PB_MAX_RANK], t[PB_MAX_RANK], to[PB_MAX_RANK];
    const int32_t rank = role->rank, lead = own > rank ? own - rank : 0;
    pb_c_strides(own, role->size, n, s);
    for (int32_t k = 0; k < lead; k++)
        if (n[k] != 1) return 0;
    for (int32_t k = 0; k < rank; k++) to[k] = d->n[k];
    if (!pb_broadcast(rank, to, own - lead, n + lead) || !pb_same_shape(rank, to, d->n)) return 0;
    pb_walk(rank, to, own - lead, n + lead, s + lead, t);
    if (role->what == PB_ADDED && !whole)
        pb_add_items(role->dtype, rank, to, d->data, pb_strides_of(d, rank), from, t);
    else
        pb_copy_items(rank, to, role->size, d->data, pb_strides_of(d, rank), from, t);
    return 1;
}

/* Put the axes into an order that is good to walk: those that all operands walk as one become one, axes of length one
   go, and the last is one along which most operands' items stand side by side. */
PB_ONCE void pb_order(pb_steps *w, int pinned) {
    const pb_kernel *kernel = w->kernel;
    const int32_t count = kernel->count, rank = kernel->rank;
    int64_t(*s)[PB_MAX_RANK] = w->s;
    int32_t last = rank - 1;
    if (!pinned && rank > 1) {
        int32_t best = -1, most = -1;
        for (int32_t k = rank - 1; k >= 0; k--) {
            int32_t units = 0;
            if (w->n[k] == 1) continue;
            for (int32_t j = 0; j < count; j++) units += s[j][k] == kernel->roles[j].inner;
            if (units > most) most = units, best = k;
        }
        if (best >= 0 && best != last) {
            const int64_t length = w->n[best];
            for (int32_t k = best; k < last; k++) w->n[k] = w->n[k + 1];
            w->n[last] = length;
            for (int32_t j = 0; j < count; j++) {
                const int64_t stride = s[j][best];
                for (int32_t k = best; k < last; k++) s[j][k] = s[j][k + 1];
                s[j][last] = stride;
            }
        }
    }
    /* from the last axis on: `top` is the axis that the next ones may be merged into */
    int32_t top = last;
    for (int32_t k = last - 1; k >= 0; k--) {
        if (w->n[k] == 1) continue;
        int together = 1;
        for (int32_t j = 0; j < count && together; j++) together = s[j][k] == s[j][top] * w->n[top];
        if (together) {
            w->n[top] *= w->n[k];
            continue;
        }
        top--;
        w->n[top] = w->n[k];
        for (int32_t j = 0; j < count; j++) s[j][top] = s[j][k];
    }
    for (int32_t k = 0; k < top; k++) {
        w->n[k] = 1;
        for (int32_t j = 0; j < count; j++) s[j][k] = 0;
    }
    if (w->n[last] == 1)
        for (int32_t j = 0; j < count; j++) s[j][last] = kernel->roles[j].inner;
}

/* Make a local array the one that a kernel has made. */
PB_ONCE void pb_hand(pb_host *host, pb_any *o, const pb_role *role, pb_buffer *made, const int64_t *n) {
    if (made != o->owner) pb_release(host, o->owner);
    o->owner = made;
    o->data = made->data;
    for (int32_t k = 0; k < role->rank; k++) o->n[k] = n[k];
    pb_c_strides(role->rank, role->size, n, o->n + (role->rank ? role->rank : 1));
}

PB_RUNTIME void pb_adopt(pb_host *host, int32_t dtype, int32_t rank, const pb_arg *given, char **data, pb_buffer **owner, int64_t *n, int64_t *s) {
    pb_release(host, *owner);
    pb_buffer *buffer = *owner = malloc(sizeof(pb_buffer));
    if (!buffer) {
        host->drop_array(host, given->a.handle);
        return;
    }
    buffer->refs = 1;
    buffer->room = 0; /* nothing of ours is written there */
    buffer->handle = given->a.handle;
    buffer->data = *data = given->a.data;
    buffer->dtype = dtype;
    buffer->rank = rank;
    for (int32_t k = 0; k < rank; k++) {
        n[k] = buffer->n[k] = given->a.shape[k];
        s[k] = given->a.strides[k];
    }
}

/* A kernel of few items, whose operands' items stand side by side along the last axis and whose other axes are one:
   run as it stands.  -1 where it is not so simple, and nothing has been done; 0, or 1 where there is no memory. */
PB_ONCE int pb_run_few(pb_host *host, const pb_kernel *kernel, void *const *arrays, const void *numbers, int64_t *total, void *all) {
    const int32_t count = kernel->count, rank = kernel->rank, last = rank - 1;
    int64_t step[count];
    char *at[count];
    pb_buffer *made[count];
    const int64_t *n = NULL;
    if (rank < 2 || kernel->own_rank != rank || kernel->ordered || kernel->nonzero) return -1;
    for (int32_t j = 0; j < count && !n; j++)
        if (kernel->roles[j].spans && kernel->roles[j].what != PB_MADE) n = ((const pb_any *)arrays[j])->n;
    if (!n) return -1;
    const int64_t items = pb_count(rank, n);
    if (items <= 0 || items > PB_BLOCK || n[last] == 1) return -1;
    int flat = 1, makes = 0;
    for (int32_t j = 0; j < count; j++) {
        const pb_role *role = &kernel->roles[j];
        const pb_any *x = arrays[j];
        made[j] = NULL;
        if (role->what == PB_MADE) {
            if (role->rank != rank) return -1;
            step[j] = n[last] * role->size;
            makes = 1;
            continue;
        }
        if (role->what != PB_READ && role->rank != rank) return -1;
        const int64_t *m = x->n, *s = pb_strides_of(x, role->rank);
        const int32_t lead = rank - role->rank;
        int64_t next = -1;
        step[j] = 0;
        at[j] = x->data;
        for (int32_t k = last; k >= 0; k--) {
            const int64_t own = k < lead ? 1 : m[k - lead], stride = own == 1 ? 0 : s[k - lead];
            if (own != n[k] && (own != 1 || role->what != PB_READ)) return -1;
            if (k == last) {
                if (stride != role->inner) return -1;
            } else if (n[k] > 1) {
                if (next < 0)
                    step[j] = stride;
                else if (stride != next)
                    return -1;
                next = stride * n[k];
                if (stride < 0) return -1;
            }
        }
        if (role->inner ? step[j] != n[last] * role->inner : role->rank > 0) flat = 0;
        if (role->what == PB_READ) continue;
        for (int32_t k = 0; k < count; k++) {
            const pb_role *other = &kernel->roles[k];
            const pb_any *y = arrays[k];
            if (other->what == PB_READ && (!x->owner || x->owner == y->owner || !y->owner) &&
                pb_clash(role->rank, role->size, x->data, x->n, s, other->rank, other->size, y->data, y->n, pb_strides_of(y, other->rank)))
                return -1;
        }
    }
    for (int32_t j = 0; j < count && makes; j++) {
        const pb_role *role = &kernel->roles[j];
        if (role->what != PB_MADE) continue;
        made[j] = pb_serves(kernel, arrays, j, n) ? ((pb_any *)arrays[j])->owner : pb_new_buffer(host, role->dtype, role->size, rank, n);
        if (PB_RARE(!made[j])) {
            for (int32_t k = 0; k < j; k++)
                if (made[k] && made[k] != ((pb_any *)arrays[k])->owner) pb_release(host, made[k]);
            host->line = kernel->place;
            return 1;
        }
        at[j] = made[j]->data;
    }
    *total = items;
    _Alignas(16) char part[kernel->part ? kernel->part : 1];
    kernel->row(flat ? 1 : items / n[last], flat ? items : n[last], at, step, numbers, part);
    if (kernel->fold) kernel->fold(all, part);
    if (makes) {
        int64_t shape[PB_MAX_RANK]; /* which may be that of an array that is changed here */
        for (int32_t k = 0; k < rank; k++) shape[k] = n[k];
        for (int32_t j = 0; j < count; j++)
            if (made[j]) pb_hand(host, arrays[j], &kernel->roles[j], made[j], shape);
    }
    return 0;
}

PB_RUNTIME int32_t pb_run(pb_host *host, const pb_kernel *kernel, void *const *arrays, const int64_t *shape, const void *numbers, int64_t *total, void *all) {
    const int done_few = shape ? -1 : pb_run_few(host, kernel, arrays, numbers, total, all);
    if (done_few >= 0) return done_few;
    const int32_t count = kernel->count, rank = kernel->rank;
    int64_t s[count][PB_MAX_RANK], n[PB_MAX_RANK], m[PB_MAX_RANK];
    char *at[count];
    pb_buffer *made[count], *apart[count];
    int8_t whole[count];
    pb_steps w = {.kernel = kernel, .numbers = numbers, .at = at, .s = s};
    int pinned = 0, done = 0;
    for (int32_t j = 0; j < count; j++) made[j] = apart[j] = NULL;
    host->error = PB_VALUE_ERROR;
    host->message = "operands could not be broadcast together";
    if (!pb_space(kernel, arrays, shape, n)) goto fail;
    const int64_t items = pb_count(rank, n);
    *total = items;
    host->message = "zero-size array to reduction operation which has no identity";
    if (PB_RARE(kernel->nonzero && items == 0)) {
        int none = 1;
        for (int32_t j = 0; j < count; j++) {
            if (kernel->roles[j].what != PB_REDUCED) continue;
            pb_left(kernel, &kernel->roles[j], n, m);
            none = none && pb_count(kernel->roles[j].rank, m) == 0;
            pinned = 1;
        }
        if (!pinned || !none) goto fail;
    }
    for (int32_t j = 0; j < count; j++) {
        const pb_role *role = &kernel->roles[j];
        const pb_any *x = arrays[j];
        const int64_t *strides = pb_strides_of(x, role->rank);
        at[j] = x->data;
        whole[j] = 0;
        switch (role->what) {
        case PB_READ:
            pb_walk(rank, n, role->rank, x->n, strides, s[j]);
            if (!role->inner) /* the row function reads one item a row: no other axis may come last */
                for (int32_t k = 0; k < rank; k++) pinned |= s[j][k] != 0;
            break;
        case PB_MADE:
            made[j] = pb_serves(kernel, arrays, j, n) ? x->owner : pb_new_buffer(host, role->dtype, role->size, role->rank, n);
            if (PB_RARE(!made[j])) goto fail;
            at[j] = made[j]->data;
            pb_c_strides(rank, role->size, n, m);
            pb_walk(rank, n, rank, n, m, s[j]);
            break;
        case PB_STORED:
        case PB_ADDED: {
            const int fits = role->rank == kernel->own_rank && pb_same_shape(role->rank, n, x->n);
            int clash = !fits;
            for (int32_t k = 0; k < count && !clash; k++) {
                const pb_role *other = &kernel->roles[k];
                const pb_any *y = arrays[k];
                if (other->what == PB_READ)
                    clash = pb_clash(role->rank, role->size, x->data, x->n, strides, other->rank, other->size, y->data, y->n, pb_strides_of(y, other->rank));
            }
            if (PB_RARE(clash)) {
                apart[j] = pb_new_buffer(host, role->dtype, role->size, kernel->own_rank, n);
                if (PB_RARE(!apart[j])) goto fail;
                at[j] = apart[j]->data;
                pb_c_strides(rank, role->size, n, m);
                pb_walk(rank, n, rank, n, m, s[j]);
                if (role->what == PB_ADDED && (whole[j] = fits && !kernel->ordered)) {
                    pb_copy_items(role->rank, n, role->size, at[j], m, x->data, strides);
                } else if (role->what == PB_ADDED) {
                    memset(at[j], 0, (size_t)(items * role->size));
                }
            } else {
                pb_walk(rank, n, role->rank, x->n, strides, s[j]);
            }
            break;
        }
        case PB_REDUCED: {
            pb_left(kernel, role, n, m);
            made[j] = pb_new_buffer(host, role->dtype, role->size, role->rank, m);
            if (PB_RARE(!made[j])) goto fail;
            at[j] = made[j]->data;
            int64_t size = role->size;
            for (int32_t k = rank - 1; k >= 0; k--) {
                s[j][k] = role->axes >> k & 1 ? 0 : size;
                if (!(role->axes >> k & 1)) size *= n[k];
            }
            for (int64_t k = 0, c = pb_count(role->rank, m); k < c; k++) memcpy(at[j] + k * role->size, role->start, role->size);
            pinned = 1;
            break;
        }
        }
    }
    memcpy(w.n, n, sizeof n);
    pb_order(&w, pinned);
    const int32_t last = rank - 1;
    for (int32_t j = 0; j < count; j++) w.packed += s[j][last] != kernel->roles[j].inner;
    const int64_t block = w.packed ? PB_PACKED : PB_BLOCK, across = w.n[last], high = rank > 1 ? w.n[rank - 2] : 1;
    if (items) {
        const int64_t longest = w.packed && high >= PB_PACKED / PB_SIDE ? PB_SIDE : block;
        w.length = across < longest ? across : longest;
        w.rows = block / w.length;
        if (w.rows > high) w.rows = high;
        w.wide = (across + w.length - 1) / w.length;
        w.tall = (high + w.rows - 1) / w.rows;
        w.blocks = items / (across * high) * w.tall * w.wide;
        pb_run_blocks(host, &w, all);
    }
    host->message = "could not broadcast input array";
    host->error = PB_VALUE_ERROR;
    for (int32_t j = 0; j < count; j++)
        if (apart[j] && !pb_settle(&kernel->roles[j], kernel->own_rank, n, arrays[j], at[j], whole[j])) goto fail;
    for (int32_t j = 0; j < count; j++) {
        if (!made[j]) continue;
        if (kernel->roles[j].what == PB_REDUCED) pb_left(kernel, &kernel->roles[j], n, m);
        pb_hand(host, arrays[j], &kernel->roles[j], made[j], kernel->roles[j].what == PB_REDUCED ? m : n);
    }
    done = 1;
fail:
    for (int32_t j = 0; j < count; j++) {
        pb_release(host, apart[j]);
        if (!done && made[j] && made[j] != ((pb_any *)arrays[j])->owner) pb_release(host, made[j]);
    }
    if (!done) host->line = kernel->place;
    return !done;
}

PB_RUNTIME int pb_replace(pb_host *host, pb_array1 *o, int32_t dtype, int64_t size, int64_t n, pb_buffer **old) {
    pb_buffer *made = pb_new_buffer(host, dtype, size, 1, &n);
    if (!made) return 0;
    *old = o->owner;
    o->owner = made;
    o->data = made->data;
    return 1;
}

PB_RUNTIME int pb_apart(int64_t n, const char *a, int64_t step_a, int64_t size_a, const char *b, int64_t step_b, int64_t size_b) {
    if (n == 0) return 1;
    const int64_t last_a = (n - 1) * step_a, last_b = (n - 1) * step_b;
    const char *low_a = last_a < 0 ? a + last_a : a, *high_a = (last_a < 0 ? a : a + last_a) + size_a;
    const char *low_b = last_b < 0 ? b + last_b : b, *high_b = (last_b < 0 ? b : b + last_b) + size_b;
    if (high_a <= low_b || high_b <= low_a) return 1;
    if (step_a != step_b || step_a == 0) return 0;
    const int64_t step = step_a < 0 ? -step_a : step_a; /* two columns of one matrix, perhaps */
    int64_t between = (b - a) % step;
    if (between < 0) between += step;
    return between >= size_a && between + size_b <= step;
}

#include "runtime_selection.h"

#include "products_runtime.h"

#endif

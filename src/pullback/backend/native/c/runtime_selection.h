/* The routines behind selection.h. */
#ifndef PB_RUNTIME_SELECTION_H
#define PB_RUNTIME_SELECTION_H

#include "selection.h"

PB_RUNTIME int pb_may_overlap(int32_t rank_a, int64_t size_a, const char *a, const int64_t *na, const int64_t *sa, int32_t rank_b,
                           int64_t size_b, const char *b, const int64_t *nb, const int64_t *sb) {
    const char *low_a, *high_a, *low_b, *high_b;
    pb_extent(rank_a, size_a, a, na, sa, &low_a, &high_a);
    pb_extent(rank_b, size_b, b, nb, sb, &low_b, &high_b);
    return low_a < high_b && low_b < high_a;
}

PB_RUNTIME int pb_fits(int32_t rank, const int64_t *place, int32_t r, const int64_t *n, const int64_t *s, int64_t *walk) {
    for (; r > rank; r--, n++, s++)
        if (*n != 1) return 0;
    for (int32_t k = 0; k < rank; k++) {
        int32_t own = k - (rank - r);
        if (own >= 0 && n[own] != 1 && n[own] != place[k]) return 0;
        walk[k] = own < 0 || n[own] == 1 ? 0 : s[own];
    }
    return 1;
}

/* An item of an array of indices, of the integer dtype with this code. */
PB_FORCED int64_t pb_index_item(int32_t dtype, const char *at) {
    switch (dtype) {
    case PB_INT8: return *(const int8_t *)at;
    case PB_UINT8: return *(const uint8_t *)at;
    case PB_INT16: return *(const int16_t *)at;
    case PB_UINT16: return *(const uint16_t *)at;
    case PB_INT32: return *(const int32_t *)at;
    case PB_UINT32: return *(const uint32_t *)at;
    default: return *(const int64_t *)at;
    }
}

PB_RUNTIME int64_t pb_add_offsets(int32_t rank, const int64_t *n, int64_t *offsets, int32_t dtype, const char *at, const int64_t *walk,
                               int64_t length, int64_t stride) {
    if (rank > 1) {
        int64_t done = 0;
        for (int64_t i = 0; i < n[0]; i++) {
            int64_t more = pb_add_offsets(rank - 1, n + 1, offsets + done, dtype, at + i * walk[0], walk + 1, length, stride);
            if (more < 0) return -1;
            done += more;
        }
        return done;
    }
    const int64_t count = rank ? n[0] : 1, step = rank ? walk[0] : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = pb_index_item(dtype, at + i * step);
        if (length >= 0) {
            index = dtype == PB_UINT64 && index < 0 ? -1 : pb_position(index, length);
            if (index < 0) return -1;
        }
        offsets[i] += index * stride;
    }
    return count;
}

PB_RUNTIME int64_t pb_walk_offsets(int32_t rank, const int64_t *n, const int64_t *walk, int64_t from, int64_t *offsets) {
    if (rank == 0) {
        offsets[0] = from;
        return 1;
    }
    int64_t done = 0;
    for (int64_t i = 0; i < n[0]; i++) done += pb_walk_offsets(rank - 1, n + 1, walk + 1, from + i * walk[0], offsets + done);
    return done;
}

PB_RUNTIME int64_t pb_mask_offsets(int32_t rank, const int64_t *n, const char *mask, const int64_t *sm, const int64_t *stride, int64_t from, int64_t *offsets) {
    if (rank == 0) {
        if (*(const uint8_t *)mask == 0) return 0;
        if (offsets) offsets[0] = from;
        return 1;
    }
    int64_t count = 0;
    if (rank == 1) {
        for (int64_t i = 0; i < n[0]; i++) {
            if (!*(const uint8_t *)(mask + i * sm[0])) continue;
            if (offsets) offsets[count] = from + i * stride[0];
            count++;
        }
        return count;
    }
    for (int64_t i = 0; i < n[0]; i++)
        count += pb_mask_offsets(rank - 1, n + 1, mask + i * sm[0], sm + 1, stride + 1, from + i * stride[0], offsets ? offsets + count : NULL);
    return count;
}

PB_RUNTIME void pb_gather(int64_t count, const int64_t *offsets, char *to, int64_t step, const char *from, int32_t rank, const int64_t *n,
                       int64_t size, const int64_t *st, const int64_t *sf) {
    if (rank == 0 && size == 8) {
        for (int64_t i = 0; i < count; i++) *(int64_t *)(to + i * step) = *(const int64_t *)(from + offsets[i]);
        return;
    }
    for (int64_t i = 0; i < count; i++) pb_copy_items(rank, n, size, to + i * step, st, from + offsets[i], sf);
}

#endif

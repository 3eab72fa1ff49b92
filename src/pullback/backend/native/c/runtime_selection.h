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

#define PB_OFFSETS(T) \
    for (int64_t i = 0; i < count; i++) { \
        int64_t index = (int64_t)*(const T *)(at + i * step); \
        index += index < 0 ? length : 0; \
        bad |= (uint64_t)index >= (uint64_t)length; \
        offsets[i] = index * stride; \
    } \
    break;
PB_RUNTIME int pb_set_offsets(int64_t count, int64_t *offsets, int32_t dtype, const char *at, int64_t step, int64_t length, int64_t stride) {
    int bad = 0;
    switch (dtype) {
    case PB_INT8: PB_OFFSETS(int8_t)
    case PB_UINT8: PB_OFFSETS(uint8_t)
    case PB_INT16: PB_OFFSETS(int16_t)
    case PB_UINT16: PB_OFFSETS(uint16_t)
    case PB_INT32: PB_OFFSETS(int32_t)
    case PB_UINT32: PB_OFFSETS(uint32_t)
    case PB_UINT64:
        for (int64_t i = 0; i < count; i++) bad |= *(const uint64_t *)(at + i * step) >= (uint64_t)length;
        if (bad) break; /* such an index is not negative */
        PB_OFFSETS(int64_t)
    default: PB_OFFSETS(int64_t)
    }
    return !bad;
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

/* The true items of a mask that stand side by side: eight at once where none is. */
PB_ONCE int64_t pb_flat_mask_offsets(int64_t n, const uint8_t *mask, int64_t stride, int64_t from, int64_t *offsets) {
    int64_t count = 0;
    int64_t i = 0;
    if (!offsets) {
        while (i + 64 <= n) { /* columns of bytes, added before they overflow */
            uint8_t sums[64] = {0};
            for (int64_t r = 0; r < 255 && i + 64 <= n; r++, i += 64)
                for (int64_t k = 0; k < 64; k++) sums[k] += mask[i + k] != 0;
            for (int64_t k = 0; k < 64; k++) count += sums[k];
        }
        for (; i < n; i++) count += mask[i] != 0;
        return count;
    }
    for (; i + 8 <= n; i += 8) {
        uint64_t some;
        memcpy(&some, mask + i, 8);
        if (!some) continue;
        for (int64_t k = i; k < i + 8; k++)
            if (mask[k]) offsets[count++] = from + k * stride;
    }
    for (; i < n; i++)
        if (mask[i]) offsets[count++] = from + i * stride;
    return count;
}

PB_RUNTIME int64_t pb_mask_offsets(int32_t rank, const int64_t *n, const char *mask, const int64_t *sm, const int64_t *stride, int64_t from, int64_t *offsets) {
    if (rank == 0) {
        if (*(const uint8_t *)mask == 0) return 0;
        if (offsets) offsets[0] = from;
        return 1;
    }
    int even = sm[rank - 1] == 1; /* whether the axes of both arrays are one */
    for (int32_t k = rank - 2; k >= 0 && even; k--) even = sm[k] == sm[k + 1] * n[k + 1] && stride[k] == stride[k + 1] * n[k + 1];
    if (even) return pb_flat_mask_offsets(pb_count(rank, n), (const uint8_t *)mask, stride[rank - 1], from, offsets);
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
    if (rank == 0 && size == 4) {
        for (int64_t i = 0; i < count; i++) *(int32_t *)(to + i * step) = *(const int32_t *)(from + offsets[i]);
        return;
    }
    for (int64_t i = 0; i < count; i++) pb_copy_items(rank, n, size, to + i * step, st, from + offsets[i], sf);
}

#define PB_KEYS 8 /* are searched for at once: one waits for memory while the others go on */
PB_RUNTIME void pb_search(int64_t n, const char *x, int64_t s, int64_t count, const char *keys, int64_t step, int right, int64_t *out) {
    for (int64_t first = 0; first < count; first += PB_KEYS) {
        const int64_t wide = count - first < PB_KEYS ? count - first : PB_KEYS;
        double key[PB_KEYS] = {0};
        int64_t low[PB_KEYS] = {0};
        int odd = 0;
        for (int64_t j = 0; j < wide; j++) {
            key[j] = *(const double *)(keys + (first + j) * step);
            odd |= key[j] != key[j];
        }
        /* as many steps for every key, none of which is a branch; an item that is NaN stands before no number */
        int64_t left = n;
        for (; left > 1; left -= left / 2)
            for (int64_t j = 0; j < PB_KEYS; j++) {
                const double item = *(const double *)(x + (low[j] + left / 2 - 1) * s);
                low[j] += left / 2 & -(int64_t)((item < key[j]) | (right & (item == key[j])));
            }
        for (int64_t j = 0; j < wide; j++) {
            const double item = n ? *(const double *)(x + low[j] * s) : 0;
            out[first + j] = n ? low[j] + ((item < key[j]) | (right & (item == key[j]))) : 0;
        }
        for (int64_t j = 0; odd && j < wide; j++) {
            if (key[j] == key[j]) continue;
            int64_t at = n; /* NaN comes after all numbers */
            while (!right && at > 0 && *(const double *)(x + (at - 1) * s) != *(const double *)(x + (at - 1) * s)) at--;
            out[first + j] = at;
        }
    }
}

PB_RUNTIME int pb_histogram(int64_t n, const char *x, int64_t sx, const char *w, int64_t sw, int64_t bins, double *edges, char *out) {
    if (!n) return 0;
    double low = *(const double *)x, high = low, odd = 0;
    for (int64_t i = 0; i < n; i++) {
        const double item = *(const double *)(x + i * sx);
        low = item < low ? item : low;
        high = item > high ? item : high;
        odd += item - item; /* NaN where one is not finite */
    }
    if (odd != 0 || low - low != 0 || high - high != 0) return 0;
    if (low == high) low -= 0.5, high += 0.5;
    const double width = high - low, step = width / (double)bins;
    if (width - width != 0 || step == 0) return 0;
    for (int64_t k = 0; k < bins; k++) edges[k] = (double)k * step + low;
    edges[bins] = high;
    memset(out, 0, (size_t)bins * 8);
    for (int64_t i = 0; i < n; i++) {
        const double item = *(const double *)(x + i * sx);
        int64_t k = (int64_t)((item - low) / width * (double)bins);
        k -= k >= bins;
        k -= k > 0 && item < edges[k];
        k += k != bins - 1 && item >= edges[k + 1];
        if (w)
            ((double *)out)[k] += *(const double *)(w + i * sw);
        else
            ((int64_t *)out)[k]++;
    }
    return 1;
}

#endif

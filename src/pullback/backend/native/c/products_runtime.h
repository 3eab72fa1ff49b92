/* The routines of products.h.  A product of matrices packs columns of the second into a panel, and takes tiles of four
   rows by two vectors, whose sums stay in registers. */
#ifndef PB_PRODUCTS_RUNTIME_H
#define PB_PRODUCTS_RUNTIME_H

#include "products.h"

/* A product and the sum it goes to may be rounded once. */
#if defined(__clang__)
#define PB_FUSED
#define PB_FUSES _Pragma("clang fp contract(fast)")
#else
#define PB_FUSED __attribute__((optimize("fp-contract=fast")))
#define PB_FUSES
#endif
#ifdef __AVX512F__
#define PB_VECTOR 64
#else
#define PB_VECTOR 32
#endif
#define PB_DEEP 256   /* items of a row that a panel has */
#define PB_LONG 1024  /* items of a vector that are summed up at once */

/* The axes of a sum of products as lists of offsets: of those of all three arrays, of rows (a and c), of columns (b and
   c), of the inner index (a and b). */
typedef struct {
    int64_t n[4], *a[4], *b[4], *c[4], *room;
    int swapped; /* a and b, and rows and columns, have changed their places */
} pb_sums;

/* The offsets of some axes, the last one the fastest. */
PB_ONCE void pb_list_offsets(int32_t count, const pb_axis *axes, int64_t n, int64_t *a, int64_t *b, int64_t *c) {
    a[0] = b[0] = c[0] = 0;
    for (int64_t k = count - 1, done = 1; k >= 0; done *= axes[k--].n)
        for (int64_t i = 1; i < axes[k].n && n; i++)
            for (int64_t j = 0; j < done; j++) {
                a[i * done + j] = a[j] + i * axes[k].a;
                b[i * done + j] = b[j] + i * axes[k].b;
                c[i * done + j] = c[j] + i * axes[k].c;
            }
}

/* Take the axes of a sum of products apart; columns are to be what stands side by side in c.  0: there is no memory. */
PB_ONCE int pb_gather_axes(const int32_t *count, pb_axis *axes, int64_t size, pb_sums *x) {
    int64_t all = 0;
    int32_t counts[4] = {count[0], count[1], count[2], count[3]};
    pb_axis *at[4];
    for (int32_t g = 0; g < 4; axes += counts[g++]) at[g] = axes;
    x->swapped = counts[1] && at[1][counts[1] - 1].c == size && !(counts[2] && at[2][counts[2] - 1].c == size);
    if (x->swapped) {
        pb_axis *held = at[1];
        at[1] = at[2], at[2] = held;
        counts[1] = count[2], counts[2] = count[1];
        for (int32_t g = 0; g < 4; g++)
            for (int32_t k = 0; k < counts[g]; k++) {
                const int64_t a = at[g][k].a;
                at[g][k].a = at[g][k].b, at[g][k].b = a;
            }
    }
    for (int32_t g = 0; g < 4; g++) {
        x->n[g] = 1;
        for (int32_t k = 0; k < counts[g]; k++) x->n[g] *= at[g][k].n;
        all += x->n[g] ? x->n[g] : 1;
    }
    int64_t *room = x->room = malloc(sizeof(int64_t) * 3 * (size_t)all);
    if (!room) return 0;
    for (int32_t g = 0; g < 4; g++) {
        const int64_t n = x->n[g] ? x->n[g] : 1;
        x->a[g] = room, x->b[g] = room + n, x->c[g] = room + 2 * n;
        room += 3 * n;
        pb_list_offsets(counts[g], at[g], x->n[g], x->a[g], x->b[g], x->c[g]);
    }
    return 1;
}

/* With PB_CBLAS large products are those of a BLAS: of matrices whose rows or columns stand side by side. */
#ifdef PB_CBLAS
#include <cblas.h>
#define PB_BLAS(K, T, GEMM) \
    PB_ONCE int pb_blas_##K(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, int64_t rb, int64_t cb, T *c) { \
        const int64_t size = sizeof(T), most = INT32_MAX; \
        const int turn_a = ca != size, turn_b = cb != size; \
        const int64_t la = (turn_a ? ca : ra) / size, lb = (turn_b ? cb : rb) / size; \
        if ((double)m * n * k <= PB_LARGE_PRODUCT || m > most || n > most || k > most || la > most || lb > most) return 0; \
        if ((turn_a && ra != size) || (turn_b && rb != size) || la < (turn_a ? m : k) || lb < (turn_b ? k : n)) return 0; \
        GEMM(CblasRowMajor, turn_a ? CblasTrans : CblasNoTrans, turn_b ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1, (const T *)a, \
             (int)la, (const T *)b, (int)lb, 0, c, (int)n); \
        return 1; \
    }
PB_BLAS(d, double, cblas_dgemm)
PB_BLAS(s, float, cblas_sgemm)
#else
#define pb_blas_d(...) 0
#define pb_blas_s(...) 0
#endif

#define PB_PRODUCTS(K, T) \
    typedef T pb_vector_##K __attribute__((vector_size(PB_VECTOR), aligned(sizeof(T)), may_alias)); \
    enum { PB_LANES_##K = PB_VECTOR / sizeof(T), PB_WIDE_##K = 2 * PB_LANES_##K }; \
    PB_RUNTIME PB_FUSED T pb_dot_##K(int64_t n, const char *a, int64_t sa, const char *b, int64_t sb) { \
        PB_FUSES \
        T out = 0; \
        int64_t k = 0; \
        if (sa == sizeof(T) && sb == sizeof(T)) { \
            const T *x = (const T *)a, *y = (const T *)b; \
            if (n >= 4 * PB_LANES_##K) { \
                pb_vector_##K sum[4] = {{0}}; \
                for (; k + 4 * PB_LANES_##K <= n; k += 4 * PB_LANES_##K) \
                    for (int j = 0; j < 4; j++) \
                        sum[j] += *(const pb_vector_##K *)(x + k + j * PB_LANES_##K) * *(const pb_vector_##K *)(y + k + j * PB_LANES_##K); \
                const pb_vector_##K all = (sum[0] + sum[1]) + (sum[2] + sum[3]); \
                for (int j = 0; j < PB_LANES_##K; j++) out += all[j]; \
            } \
            for (; k < n; k++) out += x[k] * y[k]; \
            return out; \
        } \
        if (n >= 8) { \
            T sum[8] = {0}; \
            for (; k + 8 <= n; k += 8) \
                for (int j = 0; j < 8; j++) sum[j] += *(const T *)(a + (k + j) * sa) * *(const T *)(b + (k + j) * sb); \
            out = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])); \
        } \
        for (; k < n; k++) out += *(const T *)(a + k * sa) * *(const T *)(b + k * sb); \
        return out; \
    } \
    /* y = a x: by inner products where rows stand side by side, else by sums of columns. */ \
    PB_ONCE PB_FUSED void pb_times_vector_##K(int64_t m, int64_t k, const char *a, int64_t ra, int64_t ca, const char *x, int64_t sx, T *y) { \
        PB_FUSES \
        if (ra != sizeof(T) || ca == sizeof(T)) { \
            for (int64_t i = 0; i < m; i++) y[i] = pb_dot_##K(k, a + i * ra, ca, x, sx); \
            return; \
        } \
        for (int64_t i = 0; i < m; i += PB_LONG) { \
            const int64_t n = m - i < PB_LONG ? m - i : PB_LONG; \
            T *out = y + i; \
            for (int64_t j = 0; j < n; j++) out[j] = 0; \
            int64_t p = 0; \
            for (; p + 4 <= k; p += 4) { \
                const char *from = a + p * ca; \
                const T *a0 = (const T *)from + i, *a1 = (const T *)(from + ca) + i, *a2 = (const T *)(from + 2 * ca) + i, *a3 = (const T *)(from + 3 * ca) + i; \
                const T x0 = *(const T *)(x + p * sx), x1 = *(const T *)(x + (p + 1) * sx), x2 = *(const T *)(x + (p + 2) * sx), x3 = *(const T *)(x + (p + 3) * sx); \
                PB_ROW() for (int64_t j = 0; j < n; j++) out[j] += (a0[j] * x0 + a1[j] * x1) + (a2[j] * x2 + a3[j] * x3); \
            } \
            for (; p < k; p++) { \
                const T *a0 = (const T *)(a + p * ca) + i; \
                const T x0 = *(const T *)(x + p * sx); \
                PB_ROW() for (int64_t j = 0; j < n; j++) out[j] += a0[j] * x0; \
            } \
        } \
    } \
    /* Up to four rows of c, as wide as a panel, to which (`more`) or into which a product goes.  The items of a row of a \
       stand at the offsets `at`, and the rows at `rows`; those of c at `down` and `across`. */ \
    PB_ONCE PB_FUSED void pb_tile_##K(int64_t k, const char *a, const int64_t *at, const int64_t *row, int64_t rows, const T *panel, char *c, const int64_t *down, const int64_t *across, int64_t wide, int more) { \
        PB_FUSES \
        const char *a0 = a + row[0], *a1 = a + row[rows > 1], *a2 = a + row[rows > 2 ? 2 : 0], *a3 = a + row[rows > 3 ? 3 : 0]; \
        pb_vector_##K s[4][2] = {{{0}}}; \
        for (int64_t p = 0; p < k; p++, panel += PB_WIDE_##K) { \
            const pb_vector_##K b0 = *(const pb_vector_##K *)panel, b1 = *(const pb_vector_##K *)(panel + PB_LANES_##K); \
            const int64_t o = at[p]; \
            const T x0 = *(const T *)(a0 + o), x1 = *(const T *)(a1 + o), x2 = *(const T *)(a2 + o), x3 = *(const T *)(a3 + o); \
            s[0][0] += x0 * b0; s[0][1] += x0 * b1; \
            s[1][0] += x1 * b0; s[1][1] += x1 * b1; \
            s[2][0] += x2 * b0; s[2][1] += x2 * b1; \
            s[3][0] += x3 * b0; s[3][1] += x3 * b1; \
        } \
        const int even = wide == PB_WIDE_##K && across[PB_WIDE_##K - 1] - across[0] == (PB_WIDE_##K - 1) * (int64_t)sizeof(T) && across[1] - across[0] == sizeof(T); \
        for (int64_t r = 0; r < rows; r++) { \
            const T *sum = (const T *)s[r]; \
            char *to = c + down[r]; \
            if (even) { \
                pb_vector_##K *out = (pb_vector_##K *)(to + across[0]); \
                out[0] = more ? (pb_vector_##K)(out[0] + s[r][0]) : s[r][0]; \
                out[1] = more ? (pb_vector_##K)(out[1] + s[r][1]) : s[r][1]; \
            } else { \
                for (int64_t j = 0; j < wide; j++) { \
                    T *out = (T *)(to + across[j]); \
                    *out = more ? *out + sum[j] : sum[j]; \
                } \
            } \
        } \
    } \
    /* c = a b, where everything stands at offsets: rows of a and c (m), columns of b and c (n), columns of a and rows of b (k). */ \
    PB_ONCE void pb_at_offsets_##K(int64_t m, const int64_t *ma, const int64_t *mc, int64_t n, const int64_t *nb, const int64_t *nc, int64_t k, const int64_t *ka, const int64_t *kb, const char *a, const char *b, char *c) { \
        _Alignas(64) T panel[PB_DEEP * PB_WIDE_##K]; \
        if (k == 0) \
            for (int64_t i = 0; i < m; i++) \
                for (int64_t j = 0; j < n; j++) *(T *)(c + mc[i] + nc[j]) = 0; \
        for (int64_t q = 0; q < k; q += PB_DEEP) { \
            const int64_t deep = k - q < PB_DEEP ? k - q : PB_DEEP; \
            for (int64_t j = 0; j < n; j += PB_WIDE_##K) { \
                const int64_t wide = n - j < PB_WIDE_##K ? n - j : PB_WIDE_##K; \
                const int even = wide == PB_WIDE_##K && nb[j + PB_WIDE_##K - 1] - nb[j] == (PB_WIDE_##K - 1) * (int64_t)sizeof(T) && nb[j + 1] - nb[j] == sizeof(T); \
                for (int64_t p = 0; p < deep; p++) { \
                    const char *from = b + kb[q + p]; \
                    T *to = panel + p * PB_WIDE_##K; \
                    if (even) { \
                        memcpy(to, from + nb[j], PB_WIDE_##K * sizeof(T)); \
                        continue; \
                    } \
                    for (int64_t w = 0; w < wide; w++) to[w] = *(const T *)(from + nb[j + w]); \
                    for (int64_t w = wide; w < PB_WIDE_##K; w++) to[w] = 0; \
                } \
                for (int64_t i = 0; i < m; i += 4) \
                    pb_tile_##K(deep, a, ka + q, ma + i, m - i < 4 ? m - i : 4, panel, c, mc + i, nc + j, wide, q != 0); \
            } \
        } \
    } \
    PB_RUNTIME void pb_matmul_##K(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, int64_t rb, int64_t cb, T *c) { \
        if (n == 1) { \
            pb_times_vector_##K(m, k, a, ra, ca, b, rb, c); \
            return; \
        } \
        if (m == 1) { \
            pb_times_vector_##K(n, k, b, cb, rb, a, ca, c); \
            return; \
        } \
        if (pb_blas_##K(m, n, k, a, ra, ca, b, rb, cb, c)) return; \
        _Alignas(64) T panel[PB_DEEP * PB_WIDE_##K]; \
        int64_t at[PB_DEEP], across[PB_WIDE_##K], row[4] = {0, ra, 2 * ra, 3 * ra}, down[4]; \
        for (int64_t p = 0; p < PB_DEEP && p < k; p++) at[p] = p * ca; \
        for (int64_t w = 0; w < PB_WIDE_##K; w++) across[w] = w * (int64_t)sizeof(T); \
        for (int64_t r = 0; r < 4; r++) down[r] = r * n * (int64_t)sizeof(T); \
        if (k == 0) memset(c, 0, (size_t)(m * n) * sizeof(T)); \
        for (int64_t q = 0; q < k; q += PB_DEEP) { \
            const int64_t deep = k - q < PB_DEEP ? k - q : PB_DEEP; \
            for (int64_t j = 0; j < n; j += PB_WIDE_##K) { \
                const int64_t wide = n - j < PB_WIDE_##K ? n - j : PB_WIDE_##K; \
                for (int64_t p = 0; p < deep; p++) { \
                    const char *from = b + (q + p) * rb + j * cb; \
                    for (int64_t w = 0; w < PB_WIDE_##K; w++) panel[p * PB_WIDE_##K + w] = w < wide ? *(const T *)(from + w * cb) : 0; \
                } \
                for (int64_t i = 0; i < m; i += 4) \
                    pb_tile_##K(deep, a + i * ra + q * ca, at, row, m - i < 4 ? m - i : 4, panel, (char *)(c + i * n + j), down, across, wide, q != 0); \
            } \
        } \
    } \
    PB_RUNTIME int pb_contract_##K(const int32_t *count, pb_axis *axes, const char *a, const char *b, char *c) { \
        pb_sums x; \
        if (!pb_gather_axes(count, axes, sizeof(T), &x)) return 0; \
        const char *left = x.swapped ? b : a, *right = x.swapped ? a : b; \
        for (int64_t i = 0; i < x.n[0]; i++) \
            pb_at_offsets_##K(x.n[1], x.a[1], x.c[1], x.n[2], x.b[2], x.c[2], x.n[3], x.a[3], x.b[3], left + x.a[0][i], right + x.b[0][i], c + x.c[0][i]); \
        free(x.room); \
        return 1; \
    }
PB_PRODUCTS(d, double)
PB_PRODUCTS(s, float)

PB_RUNTIME int pb_any_nan_d(int64_t n, const char *x) {
    int out = 0;
    for (int64_t i = 0; i < n; i++) out |= ((const double *)x)[i] != ((const double *)x)[i];
    return out;
}

PB_RUNTIME int pb_any_nan_s(int64_t n, const char *x) {
    int out = 0;
    for (int64_t i = 0; i < n; i++) out |= ((const float *)x)[i] != ((const float *)x)[i];
    return out;
}

/* Products of complex numbers, by sums of rows of b: the plain formula, as NumPy has it. */
#define PB_COMPLEX_PRODUCTS(K, C, T) \
    PB_RUNTIME C pb_dot_##K(int64_t n, const char *a, int64_t sa, const char *b, int64_t sb) { \
        T re = 0, im = 0; \
        for (int64_t p = 0; p < n; p++) { \
            const T *x = (const T *)(a + p * sa), *y = (const T *)(b + p * sb); \
            re += x[0] * y[0] - x[1] * y[1]; \
            im += x[0] * y[1] + x[1] * y[0]; \
        } \
        return PB_COMPLEX(T, re, im); \
    } \
    PB_RUNTIME void pb_matmul_##K(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, int64_t rb, int64_t cb, C *c) { \
        for (int64_t i = 0; i < m; i++) { \
            T *out = (T *)(c + i * n); \
            for (int64_t j = 0; j < 2 * n; j++) out[j] = 0; \
            for (int64_t p = 0; p < k; p++) { \
                const T *x = (const T *)(a + i * ra + p * ca); \
                const T re = x[0], im = x[1]; \
                const char *from = b + p * rb; \
                for (int64_t j = 0; j < n; j++) { \
                    const T *y = (const T *)(from + j * cb); \
                    out[2 * j] += re * y[0] - im * y[1]; \
                    out[2 * j + 1] += re * y[1] + im * y[0]; \
                } \
            } \
        } \
    }
PB_COMPLEX_PRODUCTS(z, double _Complex, double)
PB_COMPLEX_PRODUCTS(c, float _Complex, float)

#endif

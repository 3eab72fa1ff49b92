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
    /* Up to four rows of c, as wide as a panel, to which (`more`) or into which a product goes. */ \
    PB_ONCE PB_FUSED void pb_tile_##K(int64_t k, const char *a, int64_t ra, int64_t ca, int64_t rows, const T *panel, T *c, int64_t n, int64_t wide, int more) { \
        PB_FUSES \
        const char *a1 = a + (rows > 1 ? ra : 0), *a2 = a + (rows > 2 ? 2 * ra : 0), *a3 = a + (rows > 3 ? 3 * ra : 0); \
        pb_vector_##K s[4][2] = {{{0}}}; \
        for (int64_t p = 0; p < k; p++, panel += PB_WIDE_##K, a += ca, a1 += ca, a2 += ca, a3 += ca) { \
            const pb_vector_##K b0 = *(const pb_vector_##K *)panel, b1 = *(const pb_vector_##K *)(panel + PB_LANES_##K); \
            const T x0 = *(const T *)a, x1 = *(const T *)a1, x2 = *(const T *)a2, x3 = *(const T *)a3; \
            s[0][0] += x0 * b0; s[0][1] += x0 * b1; \
            s[1][0] += x1 * b0; s[1][1] += x1 * b1; \
            s[2][0] += x2 * b0; s[2][1] += x2 * b1; \
            s[3][0] += x3 * b0; s[3][1] += x3 * b1; \
        } \
        for (int64_t r = 0; r < rows; r++, c += n) { \
            const T *sum = (const T *)s[r]; \
            if (more) \
                for (int64_t j = 0; j < wide; j++) c[j] += sum[j]; \
            else \
                for (int64_t j = 0; j < wide; j++) c[j] = sum[j]; \
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
        _Alignas(64) T panel[PB_DEEP * PB_WIDE_##K]; \
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
                    pb_tile_##K(deep, a + i * ra + q * ca, ra, ca, m - i < 4 ? m - i : 4, panel, c + i * n + j, n, wide, q != 0); \
            } \
        } \
    }
PB_PRODUCTS(d, double)
PB_PRODUCTS(s, float)

#endif

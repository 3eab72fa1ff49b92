/* Inner products and small matrix products, of any strides. */
#ifndef PB_PRODUCTS_H
#define PB_PRODUCTS_H

#include "arrays.h"

#ifdef __FMA__
#define PB_FMA(a, b, c) __builtin_fma(a, b, c)
#define PB_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define PB_FMA(a, b, c) ((a) * (b) + (c))
#define PB_FMAF(a, b, c) ((a) * (b) + (c))
#endif

#define PB_PRODUCTS(K, T, FMA) \
    /* The inner product of two vectors: 32 partial sums, added in a fixed order. */ \
    static __attribute__((unused)) T pb_dot_##K(int64_t n, const char *a, int64_t sa, const char *b, int64_t sb) { \
        T out = 0; \
        if (sa == sizeof(T) && sb == sizeof(T)) { \
            const T *x = (const T *)a, *y = (const T *)b; \
            int64_t k = 0; \
            if (n >= 32) { \
                T acc[32] = {0}; \
                for (; k + 32 <= n; k += 32) \
                    for (int j = 0; j < 32; j++) acc[j] = FMA(x[k + j], y[k + j], acc[j]); \
                for (int w = 16; w; w /= 2) \
                    for (int j = 0; j < w; j++) acc[j] += acc[j + w]; \
                out = acc[0]; \
            } \
            for (; k < n; k++) out = FMA(x[k], y[k], out); \
            return out; \
        } \
        for (int64_t k = 0; k < n; k++) out = FMA(*(const T *)(a + k * sa), *(const T *)(b + k * sb), out); \
        return out; \
    } \
    /* c = a b, where c is in C order and nothing else is known of the strides. */ \
    static __attribute__((unused)) void pb_matmul_##K(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, \
                                                      int64_t rb, int64_t cb, T *c) { \
        if (n == 1 || (rb == sizeof(T) && ca == sizeof(T))) { \
            for (int64_t i = 0; i < m; i++) \
                for (int64_t j = 0; j < n; j++) c[i * n + j] = pb_dot_##K(k, a + i * ra, ca, b + j * cb, rb); \
            return; \
        } \
        for (int64_t i = 0; i < m; i++) { \
            T *row = c + i * n; \
            for (int64_t j = 0; j < n; j++) row[j] = 0; \
            for (int64_t p = 0; p < k; p++) { \
                const T x = *(const T *)(a + i * ra + p * ca); \
                const char *y = b + p * rb; \
                if (cb == sizeof(T)) \
                    for (int64_t j = 0; j < n; j++) row[j] = FMA(x, ((const T *)y)[j], row[j]); \
                else \
                    for (int64_t j = 0; j < n; j++) row[j] = FMA(x, *(const T *)(y + j * cb), row[j]); \
            } \
        } \
    }
PB_PRODUCTS(d, double, PB_FMA)
PB_PRODUCTS(s, float, PB_FMAF)

#endif

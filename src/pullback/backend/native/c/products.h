/* Inner products, and products of matrices and vectors, of any strides (in bytes). */
#ifndef PB_PRODUCTS_H
#define PB_PRODUCTS_H

#include "arrays.h"

/* How many multiplications a product of matrices has from which on the host's is worth its call. */
#define PB_LARGE_PRODUCT 100000

/* The inner product of two vectors: partial sums, added in a fixed order. */
PB_RUNTIME double pb_dot_d(int64_t n, const char *a, int64_t sa, const char *b, int64_t sb);
PB_RUNTIME float pb_dot_s(int64_t n, const char *a, int64_t sa, const char *b, int64_t sb);
/* c = a b, where c (m rows, n columns) is in C order, and a has k columns. */
PB_RUNTIME void pb_matmul_d(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, int64_t rb, int64_t cb, double *c);
PB_RUNTIME void pb_matmul_s(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, int64_t rb, int64_t cb, float *c);

#endif

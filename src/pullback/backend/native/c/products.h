/* Inner products, products of matrices and vectors, and sums of products, of any strides (in bytes). */
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
/* The same of complex numbers, of 128 and 64 bits. */
PB_RUNTIME void pb_matmul_z(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, int64_t rb, int64_t cb, double _Complex *c);
PB_RUNTIME void pb_matmul_c(int64_t m, int64_t n, int64_t k, const char *a, int64_t ra, int64_t ca, const char *b, int64_t rb, int64_t cb, float _Complex *c);
PB_RUNTIME double _Complex pb_dot_z(int64_t n, const char *a, int64_t sa, const char *b, int64_t sb);
PB_RUNTIME float _Complex pb_dot_c(int64_t n, const char *a, int64_t sa, const char *b, int64_t sb);

/* An axis of a sum of products: its length, and the strides in bytes of the factors and of the result along it. */
typedef struct pb_axis { int64_t n, a, b, c; } pb_axis;
/* c = the sum of a b over some axes: a product of matrices whose rows, columns and inner index may be several axes
   each.  `axes` has first those of all three, then those of a and c, of b and c, of a and b: `count` of each.  0: there
   is no memory. */
PB_RUNTIME int pb_contract_d(const int32_t *count, pb_axis *axes, const char *a, const char *b, char *c);
PB_RUNTIME int pb_contract_s(const int32_t *count, pb_axis *axes, const char *a, const char *b, char *c);
/* Whether any of some items is NaN. */
PB_RUNTIME int pb_any_nan_d(int64_t n, const char *x);
PB_RUNTIME int pb_any_nan_s(int64_t n, const char *x);

#endif

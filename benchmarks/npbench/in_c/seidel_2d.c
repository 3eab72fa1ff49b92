#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NINTH (1.0 / 9.0)

/* One row: all that does not depend on the new neighbour at once, then the chain of the neighbours. */
static void forward_row(double *restrict row, const double *restrict up, const double *restrict down,
                        double *restrict rest, int64_t n)
{
#pragma omp simd
    for (int64_t j = 1; j < n - 1; j++)
        rest[j] = NINTH * (row[j] + row[j + 1] + up[j - 1] + up[j] + up[j + 1] + down[j - 1] + down[j] + down[j + 1]);
    double left = row[0];
    for (int64_t j = 1; j < n - 1; j++)
        row[j] = left = NINTH * left + rest[j];
}

/* The row's cotangents: the chain from its end, then what each new value gives to the nine it was made of. */
static void backward_row(double *restrict row, double *restrict up, double *restrict down, double *restrict g, int64_t n)
{
    double right = 0.0;
    for (int64_t j = n - 2; j > 0; j--)
        g[j] = right = NINTH * right + NINTH * row[j];
    row[0] += g[1];
    row[n - 1] += g[n - 2];
#pragma omp simd
    for (int64_t j = 1; j < n - 1; j++)
        row[j] = g[j] + g[j - 1];
#pragma omp simd
    for (int64_t j = 1; j < n - 1; j++) {
        double three = g[j - 1] + g[j] + g[j + 1];
        up[j] += three;
        down[j] += three;
    }
    up[0] += g[1];
    down[0] += g[1];
    up[n - 1] += g[n - 2];
    down[n - 1] += g[n - 2];
}

double value_and_grad(int64_t TSTEPS, int64_t N, const double *A, double *A_bar)
{
    int64_t n = N, size = n * n;
    double *a = malloc(size * sizeof *a), *row = calloc(n, sizeof *row), total = 0.0;
    memcpy(a, A, size * sizeof *a);
    for (int64_t t = 0; t < TSTEPS - 1; t++)
        for (int64_t i = 1; i < n - 1; i++)
            forward_row(a + i * n, a + (i - 1) * n, a + (i + 1) * n, row, n);
#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < size; k++) {
        total += a[k];
        A_bar[k] = 1.0;
    }
    row[0] = row[n - 1] = 0.0;
    for (int64_t t = 0; t < TSTEPS - 1; t++)
        for (int64_t i = n - 2; i > 0; i--)
            backward_row(A_bar + i * n, A_bar + (i - 1) * n, A_bar + (i + 1) * n, row, n);
    free(row);
    free(a);
    return total;
}

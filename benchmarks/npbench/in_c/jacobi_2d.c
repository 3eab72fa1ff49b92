#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The average of five points, for all points within; to[] is not from[]. */
static void averages(const double *restrict from, double *restrict to, int64_t n)
{
    for (int64_t i = 1; i < n - 1; i++) {
        const double *mid = from + i * n, *up = mid - n, *down = mid + n;
        double *row = to + i * n;
#pragma omp simd
        for (int64_t j = 1; j < n - 1; j++)
            row[j] = 0.2 * (mid[j] + mid[j - 1] + mid[j + 1] + down[j] + up[j]);
    }
}

/* What the points on the border of a grid give to the averages next to them. */
static void border(const double *restrict inner, double *restrict bar, int64_t n)
{
    int64_t last = (n - 1) * n;
    for (int64_t j = 1; j < n - 1; j++) {
        bar[j] += 0.2 * inner[n + j];
        bar[last + j] += 0.2 * inner[last - n + j];
        bar[j * n] += 0.2 * inner[j * n + 1];
        bar[j * n + n - 1] += 0.2 * inner[j * n + n - 2];
    }
}

/* The stencil is its own transpose but for the border, which has cotangents of its own: those within are kept apart, in
 * grids whose border is zero. */
double value_and_grad(int64_t TSTEPS, const double *A, const double *B, int64_t A_0, double *A_bar, double *B_bar)
{
    int64_t n = A_0, size = n * n;
    double *a = malloc(2 * size * sizeof *a), *b = a + size, total = 0.0;
    memcpy(a, A, size * sizeof *a);
    memcpy(b, B, size * sizeof *b);
    for (int64_t t = 1; t < TSTEPS; t++) {
        averages(a, b, n);
        averages(b, a, n);
    }
#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < size; k++) {
        total += a[k];
        A_bar[k] = 1.0;
        B_bar[k] = 0.0;
    }
    memset(a, 0, 2 * size * sizeof *a);
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            a[i * n + j] = 1.0;
    for (int64_t t = 1; t < TSTEPS; t++) {
        border(a, B_bar, n);
        averages(a, b, n);
        border(b, A_bar, n);
        averages(b, a, n);
    }
    for (int64_t i = 1; i < n - 1; i++)
        memcpy(A_bar + i * n + 1, a + i * n + 1, (n - 2) * sizeof *a);
    free(a);
    return total;
}

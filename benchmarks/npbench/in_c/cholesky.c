#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double *restrict x, const double *restrict y, int64_t n)
{
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < n; k++)
        total += x[k] * y[k];
    return total;
}

double value_and_grad(const double *A, int64_t A_0, double *A_bar)
{
    int64_t n = A_0, size = n * n;
    double *a = malloc(size * sizeof *a), total = 0.0;
    memcpy(a, A, size * sizeof *a);
    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (int64_t j = 0; j < i; j++)
            row[j] = (row[j] - dot(row, a + j * n, j)) / a[j * n + j];
        row[i] = sqrt(row[i] - dot(row, row, i));
    }
#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < size; k++) {
        total += a[k];
        A_bar[k] = 1.0;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        double *restrict row = a + i * n, *restrict bar = A_bar + i * n;
        double of_square = bar[i] / (2.0 * row[i]);
        bar[i] = of_square;
#pragma omp simd
        for (int64_t k = 0; k < i; k++)
            bar[k] -= 2.0 * of_square * row[k];
        for (int64_t j = i - 1; j >= 0; j--) {
            const double *restrict other = a + j * n;
            double *restrict other_bar = A_bar + j * n;
            double through = bar[j] / other[j];
            other_bar[j] -= through * row[j];
            bar[j] = through;
#pragma omp simd
            for (int64_t k = 0; k < j; k++) {
                bar[k] -= through * other[k];
                other_bar[k] -= through * row[k];
            }
        }
    }
    free(a);
    return total;
}

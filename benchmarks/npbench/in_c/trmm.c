#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double value_and_grad(double alpha, const double *A, const double *B, int64_t B_0, int64_t B_1, double *A_bar,
                      double *B_bar)
{
    int64_t m = B_0, n = B_1;
    double *b = malloc(m * n * sizeof *b), total = 0.0;
    memcpy(b, B, m * n * sizeof *b);
    for (int64_t i = 0; i < m; i++) {
        double *restrict row = b + i * n;
        for (int64_t k = i + 1; k < m; k++) {
            const double *restrict other = B + k * n;
            double factor = A[k * m + i];
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                row[j] += factor * other[j];
        }
    }
#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < m * n; k++) {
        total += alpha * b[k];
        B_bar[k] = alpha;
    }
    memset(A_bar, 0, m * m * sizeof *A_bar);
    for (int64_t i = m - 1; i >= 0; i--) {
        const double *restrict bar = B_bar + i * n;
        for (int64_t k = i + 1; k < m; k++) {
            const double *restrict other = B + k * n;
            double *restrict other_bar = B_bar + k * n;
            double factor = A[k * m + i], of_factor = 0.0;
#pragma omp simd reduction(+ : of_factor)
            for (int64_t j = 0; j < n; j++) {
                of_factor += bar[j] * other[j];
                other_bar[j] += factor * bar[j];
            }
            A_bar[k * m + i] = of_factor;
        }
    }
    free(b);
    return total;
}

#include <stdint.h>
#include <stdlib.h>

/* All y are kept: row k of the tape is y[:k] as step k finds it. */
double value_and_grad(const double *r, int64_t r_0, double *r_bar)
{
    int64_t n = r_0;
    double *tape = malloc((n * (n - 1) / 2 + n) * sizeof *tape), *work = malloc(4 * n * sizeof *work);
    double *alpha = work, *beta = work + n, *bar = work + 2 * n, *next = work + 3 * n;
    double *y = tape;
    alpha[0] = y[0] = -r[0];
    beta[0] = 1.0;
    for (int64_t k = 1; k < n; k++) {
        double *restrict grown = y + k;
        double sum = r[k];
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < k; i++)
            sum += r[k - 1 - i] * y[i];
        beta[k] = beta[k - 1] * (1.0 - alpha[k - 1] * alpha[k - 1]);
        double a = alpha[k] = -sum / beta[k];
#pragma omp simd
        for (int64_t i = 0; i < k; i++)
            grown[i] = y[i] + a * y[k - 1 - i];
        grown[k] = a;
        y = grown;
    }
    double total = 0.0, beta_bar = 0.0, alpha_bar = 0.0;
    for (int64_t i = 0; i < n; i++) {
        total += y[i];
        bar[i] = 1.0;
        r_bar[i] = 0.0;
    }
    for (int64_t k = n - 1; k > 0; k--) {
        double a = alpha[k], of_a = alpha_bar + bar[k];
        y -= k;
#pragma omp simd reduction(+ : of_a)
        for (int64_t i = 0; i < k; i++)
            of_a += bar[i] * y[k - 1 - i];
        double of_sum = -of_a / beta[k];
        beta_bar += of_sum * a;
        r_bar[k] += of_sum;
#pragma omp simd
        for (int64_t i = 0; i < k; i++) {
            next[i] = bar[i] + a * bar[k - 1 - i] + of_sum * r[k - 1 - i];
            r_bar[i] += of_sum * y[k - 1 - i];
        }
        double *swap = bar;
        bar = next;
        next = swap;
        double before = alpha[k - 1];
        alpha_bar = -2.0 * before * beta[k - 1] * beta_bar;
        beta_bar *= 1.0 - before * before;
    }
    r_bar[0] -= alpha_bar + bar[0];
    free(work);
    free(tape);
    return total;
}

#include "_maths.h"

double value_and_grad(double a, double b, const double *x, int64_t x_0, double *a_bar, double *b_bar, double *x_bar,
                      int64_t threads)
{
    double total = 0.0, of_a = 0.0, of_b = 0.0;
#pragma omp parallel for simd if (parallel : threads > 1 && x_0 > PARALLEL) num_threads(threads) schedule(static) \
    reduction(+ : total, of_a, of_b)
    for (int64_t i = 0; i < x_0; i++) {
        double square = x[i] * x[i];
        double over = 1.0 / (1.0 + square);
        double bell = exp_negative(-square) * over;
        double t = tanh_any(fma(a, x[i], b));
        double product = t * bell;
        double inner = fma(-t, t, 1.0) * bell;
        total += product;
        of_a += inner * x[i];
        of_b += inner;
        x_bar[i] = fma(a, inner, -2.0 * x[i] * product * (1.0 + over));
    }
    *a_bar = of_a;
    *b_bar = of_b;
    return total;
}

#include "_maths.h"

#define SCALE 0.7978845608028654

double value_and_grad(const double *x, int64_t x_0, double *x_bar, int64_t threads)
{
    double total = 0.0;
#pragma omp parallel for simd if (parallel : threads > 1 && x_0 > PARALLEL) num_threads(threads) schedule(static) \
    reduction(+ : total)
    for (int64_t i = 0; i < x_0; i++) {
        double square = x[i] * x[i];
        double t = tanh_any(SCALE * x[i] * fma(0.044715, square, 1.0));
        double half = fma(0.5, t, 0.5);
        total = fma(x[i], half, total);
        x_bar[i] = fma(0.5 * SCALE * x[i] * fma(-t, t, 1.0), fma(0.134145, square, 1.0), half);
    }
    return total;
}

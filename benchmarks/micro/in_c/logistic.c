#include "_maths.h"

double value_and_grad(const double *x, const double *y, int64_t x_0, double *x_bar, int64_t threads)
{
    double total = 0.0, share = 1.0 / (double)x_0;
#pragma omp parallel for simd if (parallel : threads > 1 && x_0 > PARALLEL) num_threads(threads) schedule(static) \
    reduction(+ : total)
    for (int64_t i = 0; i < x_0; i++) {
        double z = -x[i] * y[i];
        double e = exp_negative(-fabs(z));
        double over = 1.0 / (1.0 + e);
        total += (z > 0.0 ? z : 0.0) + log1p_unit(e);
        x_bar[i] = -share * y[i] * (z > 0.0 ? over : e * over);
    }
    return total * share;
}

#include "_maths.h"

#define SCALE 0.7978845608028654

/* The distribution, and its derivative. */
static inline double normal(double z, double *density)
{
    double square = z * z;
    double t = tanh_any(SCALE * z * fma(0.044715, square, 1.0));
    *density = 0.5 * SCALE * fma(-t, t, 1.0) * fma(0.134145, square, 1.0);
    return fma(0.5, t, 0.5);
}

double value_and_grad(const double *spot, const double *strike, const double *volatility, const double *years, double rate,
                      int64_t spot_0, double *spot_bar, double *volatility_bar, int64_t threads)
{
    double total = 0.0;
#pragma omp parallel for simd if (parallel : threads > 1 && spot_0 > PARALLEL) num_threads(threads) schedule(static) \
    reduction(+ : total)
    for (int64_t i = 0; i < spot_0; i++) {
        double v = volatility[i];
        double sqrt_years = sqrt(years[i]);
        double root = v * sqrt_years;
        double d1 = (log_positive(spot[i] / strike[i]) + fma(0.5 * v, v, rate) * years[i]) / root;
        double d2 = d1 - root;
        double density1, density2;
        double n1 = normal(d1, &density1);
        double n2 = normal(d2, &density2);
        double discounted = strike[i] * exp_moderate(-rate * years[i]);
        total += spot[i] * n1 - discounted * n2;
        double through = spot[i] * density1 - discounted * density2;
        spot_bar[i] = n1 + through / (root * spot[i]);
        volatility_bar[i] = fma(discounted * density2, sqrt_years, -through * d2 / v);
    }
    return total;
}

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Row by row along the first axis: a row of the Laplacian is made when the fluxes on its near side need it, and its
 * cotangent is used up as soon as those on its far side are done; rings of rows hold what is alive.  The second and third
 * axis are one: the next point along the second is `k` further on. */

static void laplacian(const double *restrict mid, double *restrict lap, int64_t width, int64_t k, int64_t count)
{
#pragma omp simd
    for (int64_t m = 0; m < count; m++)
        lap[m] = 4.0 * mid[m] - (mid[m + width] + mid[m - width] + mid[m + k] + mid[m - k]);
}

/* The fluxes between neighbours, and their cotangents: the coefficients on both sides, where the limiter lets pass. */
static void fluxes(const double *low, const double *high, const double *in_low, const double *in_high,
                   const double *coeff_low, const double *coeff_high, double *restrict flux, double *restrict bar,
                   int64_t count)
{
#pragma omp simd
    for (int64_t m = 0; m < count; m++) {
        double step = high[m] - low[m];
        int stopped = step * (in_high[m] - in_low[m]) > 0.0;
        flux[m] = stopped ? 0.0 : step;
        bar[m] = stopped ? 0.0 : coeff_high[m] - coeff_low[m];
    }
}

/* The sum of a row of the result, and the cotangent of its coefficients. */
static double results(const double *restrict in, const double *restrict coeff, const double *near, const double *far,
                      const double *along, double *restrict coeff_bar, int64_t k, int64_t count)
{
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int64_t m = 0; m < count; m++) {
        double divergence = far[m] - near[m] + along[m + k] - along[m];
        total += in[m] - coeff[m] * divergence;
        coeff_bar[m] = -divergence;
    }
    return total;
}

/* The cotangent of a row of the field, from three rows of the Laplacian's. */
static void gather(const double *up, const double *mid, const double *down, double *restrict bar, int64_t k,
                   int64_t count)
{
#pragma omp simd
    for (int64_t m = 0; m < count; m++)
        bar[m] = 4.0 * mid[m] - up[m] - down[m] - mid[m - k] - mid[m + k];
}

double value_and_grad(const double *in_field, const double *coeff, int64_t coeff_0, int64_t coeff_1, int64_t coeff_2,
                      double *in_field_bar, double *coeff_bar)
{
    int64_t ni = coeff_0, nj = coeff_1, k = coeff_2;
    int64_t row = nj * k, width = row + 4 * k, padded = row + 6 * k;
    double *work = calloc(2 * (row + 2 * k) + 5 * row + 3 * (row + 2 * k) + 3 * padded, sizeof *work), *end = work;
    double *lap[2], *flux[2], *bar[2], *lap_bar[3], *none, *between, *along, *along_bar;
    for (int side = 0; side < 2; side++) {
        lap[side] = end, end += row + 2 * k;
        flux[side] = end, end += row;
        bar[side] = end, end += row;
    }
    for (int third = 0; third < 3; third++)
        lap_bar[third] = end, end += padded;
    none = end, end += row;         /* stays zero */
    between = end, end += row + 2 * k; /* coefficients, with zeros on both sides */
    along = end, end += row + 2 * k;   /* fluxes along the second axis: k more than in a row */
    along_bar = end;

    double total = 0.0;
    laplacian(in_field + width + k, lap[0], width, k, row + 2 * k);
    for (int64_t i = 0; i < ni + 4; i++) {
        double *target = lap_bar[i % 3];
        memset(target, 0, padded * sizeof *target);
        const double *near_bar = i > 0 && i <= ni + 1 ? bar[(i + 1) % 2] : none;
        const double *far_bar = none;
        if (i <= ni) {
            double *low = lap[i % 2], *high = lap[(i + 1) % 2];
            const double *in = in_field + (i + 1) * width + 2 * k;
            laplacian(in_field + (i + 2) * width + k, high, width, k, row + 2 * k);
            fluxes(low + k, high + k, in, in + width, i > 0 ? coeff + (i - 1) * row : none,
                   i < ni ? coeff + i * row : none, flux[i % 2], bar[i % 2], row);
            far_bar = bar[i % 2];
            if (i > 0) {
                const double *here = coeff + (i - 1) * row;
                memcpy(between + k, here, row * sizeof *between);
                fluxes(low, low + k, in - k, in, between, between + k, along, along_bar, row + k);
                total += results(in, here, flux[(i + 1) % 2], flux[i % 2], along, coeff_bar + (i - 1) * row, k, row);
#pragma omp simd
                for (int64_t m = 0; m < row + k; m++)
                    target[m + 2 * k] = -along_bar[m];
#pragma omp simd
                for (int64_t m = 0; m < row + k; m++)
                    target[m + 3 * k] += along_bar[m];
            }
        }
#pragma omp simd
        for (int64_t m = 0; m < row; m++)
            target[m + 3 * k] += near_bar[m] - far_bar[m];
        double *field_bar = in_field_bar + i * width;
        gather(lap_bar[(i + 1) % 3] + k, lap_bar[(i + 2) % 3] + k, target + k, field_bar, k, width);
        if (i > 1 && i < ni + 2)
#pragma omp simd
            for (int64_t m = 2 * k; m < row + 2 * k; m++)
                field_bar[m] += 1.0;
    }
    free(work);
    return total;
}

/* Exponentials and logarithms without branches, for loops that the compiler turns into vector code.
 *
 * The polynomials are minimax fits; each function is within a few ulp on the range that it says it takes.
 */
#ifndef MATHS_H
#define MATHS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("prefer-vector-width=512")
#endif

#define LN2 0.6931471805599453
#define LN2_HIGH 0x1.62e42fep-1 /* few bits of it: the product with a small whole number is exact */
#define LN2_LOW 0x1.f473de6af278fp-30
#define LOG2_E 1.4426950408889634
#define SHIFT 0x1.8p52 /* adding it rounds to a whole number, held in the low bits */
#define PARALLEL 20000           /* so many elements repay a team of threads */

static inline int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x = n ln 2 + r: exp(r) - 1, and 2^n; for -708 <= x <= 709. */
static inline double reduced_expm1(double x, double *power)
{
    double shifted = fma(x, LOG2_E, SHIFT);
    double n = shifted - SHIFT;
    double r = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, x));
    double s = r * r;
    double p01 = fma(r, 0.16666666666666685, 0.5000000000000006);
    double p23 = fma(r, 0.008333333333314605, 0.04166666666657362);
    double p45 = fma(r, 0.00019841269902998816, 0.001388888893237957);
    double p67 = fma(r, 2.755722798501341e-06, 2.4801504445092036e-05);
    double p89 = fma(r, 2.5114462546404722e-08, 2.7626326848798384e-07);
    double high = fma(s, fma(s, p89, p67), p45);
    *power = of_bits((int64_t)(((uint64_t)bits_of(shifted) + 1023) << 52));
    return fma(s, fma(s, fma(s, high, p23), p01), r);
}

/* exp(x) for x <= 0; 0 below -708; NaN of NaN. */
static inline double exp_negative(double x)
{
    double power, part = reduced_expm1(x < -708.0 ? -708.0 : x, &power);
    return x < -708.0 ? 0.0 : fma(part, power, power);
}

/* exp(x) for any x in [-708, 709]. */
static inline double exp_moderate(double x)
{
    double power, part = reduced_expm1(x, &power);
    return fma(part, power, power);
}

/* tanh(x) for any x, by exp(-2|x|) - 1. */
static inline double tanh_any(double x)
{
    double twice = -2.0 * fabs(x);
    double power, part = reduced_expm1(twice < -40.0 ? -40.0 : twice, &power);
    double less = fma(part, power, power - 1.0);
    return copysign(less / (2.0 + less), x);
}

/* log((1 + s) / (1 - s)) for |s| <= 0.1716. */
static inline double log_ratio(double s)
{
    double z = s * s, zz = z * z;
    double q01 = fma(z, 0.3999999999941312, 0.6666666666666735);
    double q23 = fma(z, 0.2222219853106592, 0.28571428742766847);
    double q45 = fma(z, 0.1531398671302577, 0.18183566672068083);
    double q = fma(zz, fma(zz, fma(zz, 0.14796625007149644, q45), q23), q01);
    return fma(s * z, q, 2.0 * s);
}

/* log(1 + e) for 0 <= e <= 1. */
static inline double log1p_unit(double e)
{
    double far = e > 0.41421356237309503 ? 1.0 : 0.0;
    double f = far != 0.0 ? 0.5 * (e - 1.0) : e;
    return fma(far, LN2, log_ratio(f / (2.0 + f)));
}

/* log(x) for positive normal x. */
static inline double log_positive(double x)
{
    int64_t bits = bits_of(x) - 0x3fe6a09e667f3bcd; /* from sqrt(1/2) on */
    uint64_t biased = ((uint64_t)bits >> 52) ^ 0x800; /* the exponent plus 2048, which is never negative */
    double n = of_bits((int64_t)(biased | 0x4330000000000000)) - (0x1p52 + 2048.0);
    double m = of_bits((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
    double f = m - 1.0;
    return fma(n, LN2_HIGH, fma(n, LN2_LOW, log_ratio(f / (2.0 + f))));
}

#endif

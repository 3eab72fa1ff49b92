/* Exponentials, logarithms, powers and hyperbolic functions of double: see maths.h. */
#ifndef PB_MATHS_EXP_H
#define PB_MATHS_EXP_H

#include "maths_bits.h"

#define PB_LOG2_E 0x1.71547652b82fep+0
#define PB_LN2 0x1.62e42fefa39efp-1
#define PB_LN2_HIGH 0x1.62e42feep-1 /* 32 bits: its products with exponents are exact */
#define PB_LN2_LOW 0x1.a39ef35793c76p-33

/* (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2. */
PB_INLINE double pb_exp_rest(double r) {
    double r2 = r * r, r4 = r2 * r2;
    double a = pb_fma(r, 0x1.5555555555556p-3, 0x1.0p-1);
    double b = pb_fma(r, 0x1.11111111109b3p-7, 0x1.5555555553d63p-5);
    double c = pb_fma(r, 0x1.a01a01a7c41d5p-13, 0x1.6c16c1788bd90p-10);
    double d = pb_fma(r, 0x1.71de0dae63bb3p-19, 0x1.a019b90d2ae7ap-16);
    double e = pb_fma(r, 0x1.af38a9b0ec855p-26, 0x1.289185613a3d6p-22);
    return pb_fma(r4, pb_fma(r4, e, pb_fma(r2, d, c)), pb_fma(r2, b, a));
}

/* 2^scale * e^x: the exponential with room at both ends, for -760 < x < 720. */
PB_INLINE double pb_exp_scaled(double x, double scale) {
    double rounded = pb_fma(x, PB_LOG2_E, PB_ROUND);
    double n = rounded - PB_ROUND;
    double r = pb_fma(-n, PB_LN2_LOW, pb_fma(-n, PB_LN2_HIGH, x));
    double p = pb_fma(r * r, pb_exp_rest(r), r) + 1.0;
    return pb_scale(p, rounded + scale);
}

PB_INLINE double pb_sqrt(double x) { return __builtin_sqrt(x); }

/* Beyond the ends the general formula makes anything; what is chosen at last takes no time before. */
PB_INLINE double pb_exp(double x) { return pb_ends(x, pb_exp_scaled(x, 0.0), -750.0, 710.0); }

/* e^x for x <= 290: the power of two has room for denormal results above them, and there is no other end. The order of
 * the operands keeps NaN. */
PB_INLINE double pb_exp_below(double x) {
    double near = -746.0 > x ? -746.0 : x;
    double rounded = pb_fma(near, PB_LOG2_E, PB_ROUND);
    double n = rounded - PB_ROUND;
    double r = pb_fma(-n, PB_LN2_LOW, pb_fma(-n, PB_LN2_HIGH, near));
    double p = pb_fma(r * r, pb_exp_rest(r), r) + 1.0;
    return (p * pb_power_of_two(rounded, 600)) * 0x1p-600;
}

/* 2^shift * (e^x - 1), without a loss of digits where x is small: for x in [-700, 710]. The remainder of x has a
 * low part too, and the largest terms are added first: about one rounding each. */
PB_INLINE double pb_expm1_scaled(double x, int64_t shift) {
    double rounded = pb_fma(x, PB_LOG2_E, PB_ROUND);
    double n = rounded - PB_ROUND;
    double high = pb_fma(-n, PB_LN2_HIGH, x), low = n * PB_LN2_LOW;
    double r = high - low, r_low = (high - r) - low;
    double r2 = r * r, r4 = r2 * r2;
    double a = pb_fma(r, 0x1.5555555555555p-5, 0x1.5555555555556p-3);
    double b = pb_fma(r, 0x1.6c16c16c167e1p-10, 0x1.11111111109b3p-7);
    double c = pb_fma(r, 0x1.a01a01a47b054p-16, 0x1.a01a01a7c41d5p-13);
    double d = pb_fma(r, 0x1.27e4e1f48534fp-22, 0x1.71de0dae63bb3p-19);
    double e = pb_fma(r, 0x1.1f66df7fca49fp-29, 0x1.af38a9b0ec855p-26);
    double q = pb_fma(r4, pb_fma(r4, e, pb_fma(r2, d, c)), pb_fma(r2, b, a));
    double tail = pb_fma(r2, pb_fma(r, q, 0.5), r_low);
    double s = pb_power_of_two(rounded, shift), one = pb_power_of_two(PB_ROUND, shift);
    return pb_fma(s, r, s - one) + s * tail;
}

PB_INLINE double pb_expm1(double x) {
    double y = 2.0 * pb_expm1_scaled(x, -1);
    y = __builtin_fabs(x) < 0x1p-54 ? x : y;
    y = x < -50.0 ? -1.0 : y;
    return x < 710.0 ? y : x + PB_INF;
}

/* t / (2 + t) with t = e^(2|x|) - 1: this sign of the exponent makes an error of t smaller, not larger. The remainder
 * h of |x| by ln(2) / 2 is not doubled: the coefficients are those of `pb_exp_rest` times powers of two. */
PB_INLINE double pb_tanh(double x) {
    double size = __builtin_fabs(x);
    double rounded = pb_fma(size, 2.0 * PB_LOG2_E, PB_ROUND);
    double n = rounded - PB_ROUND;
    double h = pb_fma(-n, 0.5 * PB_LN2_LOW, pb_fma(-n, 0.5 * PB_LN2_HIGH, size));
    double h2 = h * h, h4 = h2 * h2;
    double a = pb_fma(h, 0x1.5555555555556p+0, 0x1.0p+1);
    double b = pb_fma(h, 0x1.11111111109b3p-2, 0x1.5555555553d63p-1);
    double c = pb_fma(h, 0x1.a01a01a7c41d5p-6, 0x1.6c16c1788bd90p-4);
    double d = pb_fma(h, 0x1.71de0dae63bb3p-10, 0x1.a019b90d2ae7ap-8);
    double e = pb_fma(h, 0x1.af38a9b0ec855p-15, 0x1.289185613a3d6p-12);
    double rest = pb_fma(h4, pb_fma(h4, e, pb_fma(h2, d, c)), pb_fma(h2, b, a));
    double s = pb_power_of_two(rounded, 0);
    double t = pb_fma(s, pb_fma(h2, rest, h + h), s - 1.0);
    return pb_copysign(size > 20.0 ? 1.0 : t / (2.0 + t), x);
}

/* The hyperbolic sine and cosine from h = (e^|x| - 1) / 2 and g = e^|x| / 2, which reach as far as they do. */
PB_INLINE double pb_sinh(double x) {
    double a = __builtin_fabs(x);
    double h = 2.0 * pb_expm1_scaled(a, -2);
    double y = h + h / (h + h + 1.0);
    y = h < PB_INF ? y : h;
    y = a < 710.5 ? y : a + PB_INF;
    return pb_copysign(a < 0x1p-28 ? a : y, x);
}

PB_INLINE double pb_cosh(double x) {
    double a = __builtin_fabs(x);
    double g = pb_exp_scaled(a, -1.0);
    return a < 711.0 ? g + 0.25 / g : a + PB_INF;
}

/* log(1 + f) - f + f^2 / 2, from s = f / (2 + f) and f^2 / 2, for 1 + f in [sqrt(1/2), sqrt(2)). */
PB_INLINE double pb_log_rest(double s, double half_square) {
    double z = s * s, z2 = z * z, z4 = z2 * z2;
    double a = pb_fma(z, 0x1.9999999995273p-2, 0x1.5555555555558p-1);
    double b = pb_fma(z, 0x1.c71c62d5e53e0p-3, 0x1.2492492dfd86cp-2);
    double c = pb_fma(z, 0x1.39fdcceb4bb45p-3, 0x1.7462b91b8df65p-3);
    double q = pb_fma(z4, pb_fma(z2, 0x1.2b5f68a50d903p-3, c), pb_fma(z2, b, a));
    return s * pb_fma(z, q, half_square);
}

/* The results of a logarithm that are no numbers or come from none: y otherwise. */
PB_INLINE double pb_log_special(double x, double y) {
    y = x < PB_INF ? y : x;
    y = x == 0.0 ? -PB_INF : y;
    return x < 0.0 ? PB_NAN : y;
}

PB_INLINE double pb_log(double x) {
    pb_parts parts = pb_split(x);
    double k = parts.exponent, f = parts.mantissa - 1.0;
    double half_square = 0.5 * f * f;
    double rest = pb_log_rest(f / (2.0 + f), half_square);
    double y = pb_fma(k, PB_LN2_HIGH, f - (half_square - pb_fma(k, PB_LN2_LOW, rest)));
    return pb_log_special(x, y);
}

/* log(x) for x >= 2^-1022. */
PB_INLINE double pb_log_normal(double x) {
    pb_parts parts = pb_split_normal(x);
    double k = parts.exponent, f = parts.mantissa - 1.0;
    double half_square = 0.5 * f * f;
    double rest = pb_log_rest(f / (2.0 + f), half_square);
    double y = pb_fma(k, PB_LN2_HIGH, f - (half_square - pb_fma(k, PB_LN2_LOW, rest)));
    return x < PB_INF ? y : x;
}

/* log(1 + x) for 0 <= x <= 1: above sqrt(2) - 1 as log(2) + log(1 + (x - 1) / 2). */
PB_INLINE double pb_log1p_unit(double x) {
    double far = x > 0x1.a827999fcef32p-2 ? 1.0 : 0.0;
    double f = pb_fma(far, pb_fma(-0.5, x, -0.5), x); /* no selection: a compiler would make two ways of it */
    double s = f / (2.0 + f), z = s * s, z2 = z * z, z4 = z2 * z2;
    double a = pb_fma(z, 0x1.9999999995273p-2, 0x1.5555555555558p-1);
    double b = pb_fma(z, 0x1.c71c62d5e53e0p-3, 0x1.2492492dfd86cp-2);
    double c = pb_fma(z, 0x1.39fdcceb4bb45p-3, 0x1.7462b91b8df65p-3);
    double q = pb_fma(z4, pb_fma(z2, 0x1.2b5f68a50d903p-3, c), pb_fma(z2, b, a));
    return pb_fma(far, PB_LN2, pb_fma(s, pb_fma(z, q, -f), f));
}

/* log(x) / log(base) to the last digits: 1 / log(base) = high + low and k / log2(base) = k * (k_high + k_low),
 * where `high` has 26 bits. */
PB_INLINE double pb_log_base(double x, double high, double low, double k_high, double k_low) {
    pb_parts parts = pb_split(x);
    double k = parts.exponent, f = parts.mantissa - 1.0;
    double half_square = 0.5 * f * f;
    double rest = pb_log_rest(f / (2.0 + f), half_square);
    double main = pb_from_bits(pb_bits(f - half_square) & 0xfffffffff8000000u); /* 26 bits */
    double tail = ((f - main) - half_square) + rest;
    double small = pb_fma(main + tail, low, pb_fma(tail, high, k * k_low));
    double large = k * k_high, product = main * high;
    double sum = large + product;
    return pb_log_special(x, sum + (small + pb_sum_error(large, product, sum)));
}

PB_INLINE double pb_log2(double x) {
    return pb_log_base(x, 0x1.715476p+0, 0x1.4ae0bf85ddf44p-26, 1.0, 0.0);
}

PB_INLINE double pb_log10(double x) {
    return pb_log_base(x, 0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28, 0x1.34413508p-2, 0x1.f79fef311f12bp-34);
}

/* log(u) where u = 1 + x rounded, and what its rounding error makes: error / u, where 1 / (1 + f) by two terms will do. */
PB_INLINE double pb_log1p(double x) {
    double u = 1.0 + x;
    double error = pb_sum_error(1.0, x, u);
    pb_parts parts = pb_split_normal(u);
    double k = parts.exponent, f = parts.mantissa - 1.0;
    double correction = error * parts.twice_inverse * pb_fma(-0.5 * f, 1.0 - f, 0.5);
    double half_square = 0.5 * f * f;
    double rest = pb_log_rest(f / (2.0 + f), half_square);
    double small = pb_fma(k, PB_LN2_LOW, rest + correction);
    double y = pb_fma(k, PB_LN2_HIGH, f - (half_square - small));
    y = x == 0.0 ? x : y;
    y = x < PB_INF ? y : x;
    y = x == -1.0 ? -PB_INF : y;
    return x < -1.0 ? PB_NAN : y;
}

/* (2^r - 1) / r for |r| <= 1/2. */
PB_INLINE double pb_exp2_rest(double r) {
    double r2 = r * r, r4 = r2 * r2;
    double a = pb_fma(r, 0x1.ebfbdff82c598p-3, 0x1.62e42fefa39efp-1);
    double b = pb_fma(r, 0x1.3b2ab6fba1dc6p-7, 0x1.c6b08d704a0c2p-5);
    double c = pb_fma(r, 0x1.4309130975155p-13, 0x1.5d87fe78a526dp-10);
    double d = pb_fma(r, 0x1.62bfd46781ef6p-20, 0x1.ffcbfc6712438p-17);
    double e = pb_fma(r, 0x1.e6065f532c950p-28, 0x1.b524fad88eda7p-24);
    double tail = pb_fma(r2, 0x1.e9d419696343bp-32, e);
    return pb_fma(r4, pb_fma(r4, tail, pb_fma(r2, d, c)), pb_fma(r2, b, a));
}

PB_INLINE double pb_exp2(double x) {
    double rounded = x + PB_ROUND;
    double r = x - (rounded - PB_ROUND);
    return pb_ends(x, pb_scale(pb_fma(r, pb_exp2_rest(r), 1.0), rounded), -1080.0, 1024.0);
}

/* A number as an unevaluated sum. */
typedef struct {
    double high, low;
} pb_pair;

/* The binary logarithm of a positive finite number to about 2^-65 of its size:
 * log2(m) = s (c1 + z (c3 + z P(z))) with s = (m - 1) / (m + 1), z = s^2; s and the sums of c1 and c3 are pairs. */
PB_INLINE pb_pair pb_log2_pair(double x) {
    pb_parts parts = pb_split(x);
    double k = parts.exponent, m = parts.mantissa;
    double f = m - 1.0, d = m + 1.0, d_low = m - (d - 1.0);
    double inverse = 1.0 / d;
    double s = f * inverse;
    double s_low = (pb_exact_remainder(s, d, f) - s * d_low) * inverse;
    double z = s * s, z_low = pb_fma(2.0 * s, s_low, pb_product_error(s, s, z));
    double z2 = z * z, z4 = z2 * z2;
    double a = pb_fma(z, 0x1.a61762a7adfa9p-2, 0x1.2776c50ef9bfep-1);
    double b = pb_fma(z, 0x1.0c9a84bf7d5e8p-2, 0x1.484b13d79c08bp-2);
    double c = pb_fma(z, 0x1.89feda6ebf723p-3, 0x1.c68f2edc66a05p-3);
    double e = pb_fma(z, 0x1.5a695e156ba31p-3, 0x1.59dfb3503e6b3p-3);
    double w = z * pb_fma(z4, pb_fma(z2, e, c), pb_fma(z2, b, a));
    double t = 0x1.ec709dc3a03fdp-1 + w;
    double t_low = ((0x1.ec709dc3a03fdp-1 - t) + w) + 0x1.d27f05548af0cp-55;
    double p = z * t, p_low = pb_product_error(z, t, p) + pb_fma(z, t_low, z_low * t);
    double u = 0x1.71547652b82fep+1 + p;
    double u_low = ((0x1.71547652b82fep+1 - u) + p) + (p_low + 0x1.777d0ffda0d24p-55);
    double l = s * u, l_low = pb_product_error(s, u, l) + pb_fma(s, u_low, s_low * u);
    pb_pair sum;
    sum.high = k + l;
    sum.low = ((k - sum.high) + l) + l_low;
    return sum;
}

/* x^n for a constant -3 <= n <= 7, by products: within 4 ulp, and several times as fast as a logarithm. The inverse is
 * taken first: a square may overflow where its inverse is a number. */
#define PB_WHOLE_POWER(T, F)                                                                                           \
    PB_INLINE T pb_whole_power##F(T x, int n) {                                                                        \
        T first = n < 0 ? (T)1 / x : x, second = first * first, fourth = second * second;                              \
        int size = n < 0 ? -n : n;                                                                                     \
        T odd = size & 1 ? first : (T)1, even = size & 2 ? second : (T)1;                                              \
        return odd * even * (size & 4 ? fourth : (T)1);                                                                \
    }                                                                                                                  \
    /* x^(n / 2) for an odd constant -5 <= n <= 7, by the root. Powers of -0.0 and -inf are those of 0 and inf. */     \
    PB_INLINE T pb_half_power##F(T x, int n) {                                                                         \
        T base = x == (T)-PB_INF ? (T)PB_INF : x + (T)0, root = __builtin_sqrt##F(base);                               \
        return n < 0 ? pb_whole_power##F(base, (n + 1) / 2) / root : pb_whole_power##F(base, (n - 1) / 2) * root;      \
    }                                                                                                                  \
    /* Whether an exponent is known to the compiler and such a number. */                                              \
    PB_INLINE int pb_is_whole_power##F(T y) {                                                                          \
        return __builtin_constant_p(y) && y >= -3 && y <= 7 && y == (T)(int)y;                                         \
    }                                                                                                                  \
    PB_INLINE int pb_is_half_power##F(T y) {                                                                           \
        return __builtin_constant_p(y) && y > -3 && y < 4 && y != (T)(int)y && 2 * y == (T)(int)(2 * y);               \
    }

PB_WHOLE_POWER(double, )
PB_WHOLE_POWER(float, f)

/* |x|^y = 2^(y log2|x|), then the sign, then what zeros, infinities and NaN give: as C99 and NumPy have it. */
PB_INLINE double pb_any_power(double x, double y) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    pb_pair l = pb_log2_pair(a);
    double factor = y > 0x1p70 ? 0x1p70 : y; /* beyond, the result is 0, 1 or infinity all the same */
    factor = factor < -0x1p70 ? -0x1p70 : factor;
    double e = factor * l.high;
    double e_low = pb_fma(factor, l.low, pb_product_error(factor, l.high, e));
    double rounded = e + PB_ROUND;
    double r = (e - (rounded - PB_ROUND)) + e_low;
    double power = pb_ends(e, pb_scale(pb_fma(r, pb_exp2_rest(r), 1.0), rounded), -1080.0, 1025.0);
    double far = (a > 1.0) == (y > 0.0) ? PB_INF : 0.0; /* where the base is 0 or infinite */
    power = (a == 0.0) | (a == PB_INF) ? far : power;
    power = (x != x) | (y != y) ? x + y : power;
    int whole = pb_is_integer(b), odd = whole & !pb_is_integer(0.5 * b);
    uint64_t sign = pb_bits(x) & 0x8000000000000000u;
    double signed_power = pb_from_bits(pb_bits(power) ^ sign);
    power = odd ? signed_power : power;
    power = (x < 0.0) & (a != PB_INF) & !whole & (y == y) ? PB_NAN : power;
    return (y == 0.0) | (x == 1.0) ? 1.0 : power;
}

/* np.power. NumPy's operator ** takes the root for y = 1/2, which differs in -0.0 and -inf: that is for the caller. */
PB_INLINE double pb_pow(double x, double y) {
    if (pb_is_whole_power(y)) return pb_whole_power(x, (int)y);
    if (pb_is_half_power(y)) return pb_half_power(x, (int)(2 * y));
    return pb_any_power(x, y);
}

#endif

/* Inverse circular and hyperbolic functions, roots and sums of exponentials, for double: see maths.h. */
#ifndef PB_MATHS_INVERSE_H
#define PB_MATHS_INVERSE_H

#include "maths_bits.h"
#include "maths_exp.h"

#define PB_PI 0x1.921fb54442d18p+1
#define PB_PI_LOW 0x1.1a62633145c07p-53

/* asin(s) / s - 1 of z = s^2 <= 1/4. */
PB_INLINE double pb_asin_rest(double z) {
    double z2 = z * z, z4 = z2 * z2;
    double a = pb_fma(z, 0x1.3333333332ec4p-4, 0x1.5555555555556p-3);
    double b = pb_fma(z, 0x1.f1c71c1d4aa0dp-6, 0x1.6db6db6e3292ep-5);
    double c = pb_fma(z, 0x1.1c4d343fa57f6p-6, 0x1.6e8bb1d89492bp-6);
    double d = pb_fma(z, 0x1.78246f32d075cp-7, 0x1.c9cf3759fd8ffp-7);
    double e = pb_fma(z, 0x1.653a8f8cfd43cp-8, 0x1.524ea8b3aad31p-7);
    double f = pb_fma(z2, 0x1.d78189767524ep-6, pb_fma(z, -0x1.e7a24f548c99fp-7, 0x1.1d661531b222ep-6));
    return z * pb_fma(z4, pb_fma(z4, pb_fma(z2, f, e), pb_fma(z2, d, c)), pb_fma(z2, b, a));
}

/* Above 1/2, asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)); outside [-1, 1] the root makes NaN. */
PB_INLINE double pb_arcsin(double x) {
    double a = __builtin_fabs(x);
    int large = a > 0.5;
    double z = large ? 0.5 * (1.0 - a) : a * a;
    double root = __builtin_sqrt(z);
    double s = large ? -2.0 * root : a;
    double high = large ? 0.5 * PB_PI : 0.0, low = large ? 0.5 * PB_PI_LOW : 0.0;
    return pb_copysign(high + (s + pb_fma(s, pb_asin_rest(z), low)), x);
}

PB_INLINE double pb_arccos(double x) {
    double a = __builtin_fabs(x);
    int large = a > 0.5;
    double z = large ? 0.5 * (1.0 - a) : a * a;
    double root = __builtin_sqrt(z);
    double s = large ? pb_copysign(2.0 * root, x) : -x;
    double half_turns = large ? (x < 0.0 ? 1.0 : 0.0) : 0.5;
    double high = half_turns * PB_PI, low = half_turns * PB_PI_LOW;
    return high + (s + pb_fma(s, pb_asin_rest(z), low));
}

/* The angle between 0 and pi/2 of the point (x, y), neither negative: atan of y / x, (y - x) / (y + x) or -x / y,
 * whichever is at most tan(pi/8) in size, and the angle to which that is added. */
PB_INLINE double pb_angle_of(double y, double x) {
    int steep = y > 0x1.3504f333f9de6p+1 * x, middle = y > 0x1.a827999fcef32p-2 * x;
    double upper = steep ? -x : middle ? y - x : y;
    double lower = steep ? y : middle ? y + x : x;
    double eighths = steep ? 0.5 : middle ? 0.25 : 0.0;
    double t = upper / lower, z = t * t, z2 = z * z, z4 = z2 * z2;
    double a = pb_fma(z, 0x1.999999999933dp-3, -0x1.5555555555555p-2);
    double b = pb_fma(z, 0x1.c71c7184c32bfp-4, -0x1.24924924355d5p-3);
    double c = pb_fma(z, 0x1.3b126143b5cbcp-4, -0x1.745d0b153ffadp-4);
    double d = pb_fma(z, 0x1.dfe49b2919c4ep-5, -0x1.10fa5ee9ab25cp-4);
    double e = pb_fma(z2, -0x1.39f38ad451ea6p-6, pb_fma(z, 0x1.41495cefb6c73p-5, -0x1.a090d1950d2b4p-5));
    double q = z * pb_fma(z4, pb_fma(z4, e, pb_fma(z2, d, c)), pb_fma(z2, b, a));
    return eighths * PB_PI + (t + pb_fma(t, q, eighths * PB_PI_LOW));
}

PB_INLINE double pb_arctan(double x) { return pb_copysign(pb_angle_of(__builtin_fabs(x), 1.0), x); }

/* All quadrants: the point is mirrored into the first one, scaled where a sum could overflow or digits be denormal, and
 * moved where it has no ratio (the origin, and two infinities). */
PB_INLINE double pb_arctan2(double y, double x) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    int both = (a == PB_INF) & (b == PB_INF), none = (a == 0.0) & (b == 0.0);
    int large = (a > 0x1p1020) | (b > 0x1p1020), small = (a < 0x1p-900) & (b < 0x1p-900);
    double scale = large ? 0.25 : small ? 0x1p200 : 1.0;
    a = both | none ? 1.0 : a * scale;
    b = both ? 1.0 : b * scale;
    double angle = pb_angle_of(b, a);
    angle = pb_copysign(1.0, x) < 0.0 ? PB_PI - (angle - PB_PI_LOW) : angle;
    angle = (x != x) | (y != y) ? x + y : angle;
    return pb_copysign(angle, y);
}

/* Scaled by powers of two, so that squares neither overflow nor vanish; an infinity wins over NaN. */
PB_INLINE double pb_hypot(double x, double y) {
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    int large = (a > 0x1p500) | (b > 0x1p500), small = (a < 0x1p-500) & (b < 0x1p-500);
    double scale = large ? 0x1p-600 : small ? 0x1p600 : 1.0;
    double back = large ? 0x1p600 : small ? 0x1p-600 : 1.0;
    a *= scale;
    b *= scale;
    double length = __builtin_sqrt(pb_fma(a, a, b * b)) * back;
    return (a == PB_INF) | (b == PB_INF) ? PB_INF : length;
}

/* m^(-1/3) by a polynomial and one step of third order, then the root with its residual. The exponent is divided by
 * three, what remains of it is a factor. */
PB_INLINE double pb_cbrt(double x) {
    double a = __builtin_fabs(x);
    pb_parts parts = pb_split(a);
    double m = parts.mantissa, k = parts.exponent;
    double rounded = pb_fma(k, 0x1.5555555555555p-2, PB_ROUND);
    double rest = k - 3.0 * (rounded - PB_ROUND);
    m *= rest > 0.0 ? 2.0 : rest < 0.0 ? 0.5 : 1.0;
    double factor = rest > 0.0 ? 0x1.965fea53d6e3dp-1 : rest < 0.0 ? 0x1.428a2f98d728bp+0 : 1.0;
    double p = parts.mantissa, p2 = p * p;
    double low = pb_fma(p, -0x1.3bc1a8adff651p+1, 0x1.fecea070db19fp+0);
    double middle = pb_fma(p, -0x1.dcab6a312f17fp+0, 0x1.609d5500e69cap+1);
    double high = pb_fma(p, -0x1.ad647406837dcp-4, 0x1.5df7d238e848cp-1);
    double r = factor * pb_fma(p2, pb_fma(p2, high, middle), low);
    double h = 1.0 - m * r * (r * r);
    r = pb_fma(r * h, pb_fma(h, 2.0 / 9.0, 1.0 / 3.0), r);
    double y = m * (r * r), square = y * y;
    double residual = pb_exact_remainder(square, y, m) - y * pb_product_error(y, y, square);
    y = pb_fma(residual * (1.0 / 3.0), r * r, y) * pb_power_of_two(rounded, 0);
    y = (a == 0.0) | !(a < PB_INF) ? a : y;
    return pb_copysign(y, x);
}

/* log(|x| + sqrt(x^2 + 1)), as log1p of |x| + x^2 / (1 + sqrt(x^2 + 1)); far out log(2|x|). */
PB_INLINE double pb_arcsinh(double x) {
    double a = __builtin_fabs(x);
    int far = a > 0x1p60;
    double near = a + a * a / (1.0 + __builtin_sqrt(pb_fma(a, a, 1.0)));
    return pb_copysign(pb_log1p(far ? a : near) + (far ? PB_LN2 : 0.0), x);
}

PB_INLINE double pb_arccosh(double x) {
    int far = x > 0x1p60;
    double t = x - 1.0;
    double near = t + __builtin_sqrt(t * (t + 2.0));
    double y = pb_log1p(far ? x : near) + (far ? PB_LN2 : 0.0);
    return x < 1.0 ? PB_NAN : y;
}

PB_INLINE double pb_arctanh(double x) {
    double a = __builtin_fabs(x);
    return pb_copysign(0.5 * pb_log1p(2.0 * a / (1.0 - a)), x);
}

/* log(e^x + e^y) from the larger of the two. Equal infinities have no difference. */
PB_INLINE double pb_logaddexp(double x, double y) {
    double larger = x > y ? x : y;
    double sum = larger + pb_log1p(pb_exp(-__builtin_fabs(x - y)));
    return x == y ? x + PB_LN2 : sum;
}

PB_INLINE double pb_logaddexp2(double x, double y) {
    double larger = x > y ? x : y;
    double sum = larger + PB_LOG2_E * pb_log1p(pb_exp2(-__builtin_fabs(x - y)));
    return x == y ? x + 1.0 : sum;
}

#endif

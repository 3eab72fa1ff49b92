/* Circular functions of double: see maths.h. */
#ifndef PB_MATHS_TRIG_H
#define PB_MATHS_TRIG_H

#include "maths_bits.h"

#define PB_TRIG_MAX 0x1p27 /* up to here, the inline reduction is right */

/* x = quadrant * pi/2 + high + low with |high| <= pi/4. */
typedef struct {
    double high, low;
    uint64_t quadrant;
} pb_angle;

/* The reduction for |x| <= PB_TRIG_MAX: pi/2 in three parts of 53 bits, the first product exact, the second a pair. */
PB_INLINE pb_angle pb_reduce(double x) {
    double rounded = pb_fma(x, 0x1.45f306dc9c883p-1, PB_ROUND);
    double n = rounded - PB_ROUND;
    double first = pb_exact_remainder(n, 0x1.921fb54442d18p+0, x);
    double second = n * 0x1.1a62633145c07p-54;
    pb_angle angle;
    angle.high = first - second;
    double error = pb_sum_error(first, -second, angle.high) - pb_product_error(n, 0x1.1a62633145c07p-54, second);
    angle.low = pb_fma(n, 0x1.f1976b7ed8fbcp-110, error);
    angle.quadrant = pb_bits(rounded);
    return angle;
}

/* sin(high + low) for an angle of at most pi/4. */
PB_INLINE double pb_sin_part(double high, double low) {
    double z = high * high, z2 = z * z;
    double a = pb_fma(z, 0x1.1111111110bb2p-7, -0x1.5555555555555p-3);
    double b = pb_fma(z, 0x1.71de379689f47p-19, -0x1.a01a019e83aadp-13);
    double c = pb_fma(z, 0x1.5e0b19ee56c63p-33, -0x1.ae600b0299686p-26);
    double q = pb_fma(z2, pb_fma(z2, c, b), a);
    return high + pb_fma(z * high, q, pb_fma(-0.5 * z, low, low));
}

/* cos(high + low) for an angle of at most pi/4. */
PB_INLINE double pb_cos_part(double high, double low) {
    double z = high * high, z2 = z * z;
    double a = pb_fma(z, -0x1.6c16c16c16967p-10, 0x1.5555555555555p-5);
    double b = pb_fma(z, -0x1.27e4fa17d9fc1p-22, 0x1.a01a019f4eb00p-16);
    double c = pb_fma(z, -0x1.907da35d467bfp-37, 0x1.1eeb68e92d026p-29);
    double q = pb_fma(z2, pb_fma(z2, c, b), a);
    double half = 0.5 * z, w = 1.0 - half;
    return w + (((1.0 - w) - half) + pb_fma(z2, q, -high * low));
}

/* One of two numbers by the lowest bit of `which`, with the sign turned where the next bit is set. */
PB_INLINE double pb_quadrant(double even, double odd, uint64_t which) {
    uint64_t mask = 0 - (which & 1);
    uint64_t bits = (pb_bits(even) & ~mask) | (pb_bits(odd) & mask);
    return pb_from_bits(bits ^ ((which & 2) << 62));
}

/* The sine where |x| <= PB_TRIG_MAX (or x is not finite). */
PB_INLINE double pb_sin_near(double x) {
    pb_angle angle = pb_reduce(x);
    double s = pb_sin_part(angle.high, angle.low), c = pb_cos_part(angle.high, angle.low);
    return __builtin_fabs(x) < 0x1p-27 ? x : pb_quadrant(s, c, angle.quadrant);
}

PB_INLINE double pb_cos_near(double x) {
    pb_angle angle = pb_reduce(x);
    double s = pb_sin_part(angle.high, angle.low), c = pb_cos_part(angle.high, angle.low);
    return pb_quadrant(c, s, angle.quadrant + (angle.quadrant & 1) * 2);
}

PB_INLINE double pb_tan_near(double x) {
    pb_angle angle = pb_reduce(x);
    double s = pb_sin_part(angle.high, angle.low), c = pb_cos_part(angle.high, angle.low);
    double upper = pb_quadrant(s, -c, angle.quadrant & 1), lower = pb_quadrant(c, s, angle.quadrant & 1);
    return __builtin_fabs(x) < 0x1p-27 ? x : upper / lower;
}

/* Right for every x: far angles go to the library. The call keeps a loop from being vectorised. */
PB_INLINE double pb_sin(double x) {
    return __builtin_expect(__builtin_fabs(x) > PB_TRIG_MAX, 0) ? __builtin_sin(x) : pb_sin_near(x);
}

PB_INLINE double pb_cos(double x) {
    return __builtin_expect(__builtin_fabs(x) > PB_TRIG_MAX, 0) ? __builtin_cos(x) : pb_cos_near(x);
}

PB_INLINE double pb_tan(double x) {
    return __builtin_expect(__builtin_fabs(x) > PB_TRIG_MAX, 0) ? __builtin_tan(x) : pb_tan_near(x);
}

#endif

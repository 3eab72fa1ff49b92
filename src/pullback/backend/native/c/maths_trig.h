/* Circular functions of double and float: see maths.h. */
#ifndef PB_MATHS_TRIG_H
#define PB_MATHS_TRIG_H

#include "maths_bits.h"

#define PB_TRIG_MAX 0x1p27 /* up to here, the inline reduction is right */

/* x = n * pi/2 + high + low, or n * pi. */
typedef struct {
    double high, low;
} pb_angle;

/* The rest of x after n times a part of the circle, given as a sum of three numbers: the first product is exact, the
 * second a pair. Right for |x| <= PB_TRIG_MAX. */
PB_INLINE pb_angle pb_reduce(double x, double n, double part, double part_low, double part_lowest) {
    double first = pb_exact_remainder(n, part, x);
    double second = n * part_low;
    pb_angle angle;
    angle.high = first - second;
    double error = pb_sum_error(first, -second, angle.high) - pb_product_error(n, part_low, second);
    angle.low = pb_fma(n, -part_lowest, error);
    return angle;
}

#define PB_PI_PARTS 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, -0x1.f1976b7ed8fbcp-109
#define PB_HALF_PI_PARTS 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110

/* (-1)^n sin(high + low) for an angle of at most pi/2, n given in the lowest bit. */
PB_INLINE double pb_sine(pb_angle angle, uint64_t n) {
    double high = angle.high, z = high * high, z2 = z * z, z4 = z2 * z2;
    double a = pb_fma(z, 0x1.1111111111107p-7, -0x1.5555555555555p-3);
    double b = pb_fma(z, 0x1.71de3a54566a4p-19, -0x1.a01a01a018aacp-13);
    double c = pb_fma(z, 0x1.61240159e8809p-33, -0x1.ae6455a1d2859p-26);
    double d = pb_fma(z, 0x1.89a47787e7d60p-49, -0x1.ae513849999e2p-41);
    double q = pb_fma(z4, pb_fma(z2, d, c), pb_fma(z2, b, a));
    double y = high + pb_fma(z * high, q, pb_fma(-0.5 * z, angle.low, angle.low));
    return pb_from_bits(pb_bits(y) ^ (n << 63));
}

/* The sine where |x| <= PB_TRIG_MAX (or x is not finite): x = n pi + angle. */
PB_INLINE double pb_sin_near(double x) {
    double rounded = pb_fma(x, 0x1.45f306dc9c883p-2, PB_ROUND);
    double y = pb_sine(pb_reduce(x, rounded - PB_ROUND, PB_PI_PARTS), pb_bits(rounded));
    return x == 0.0 ? x : y;
}

/* The cosine there: x = (n + 1/2) pi + angle. */
PB_INLINE double pb_cos_near(double x) {
    double rounded = pb_fma(x, 0x1.45f306dc9c883p-2, -0.5) + PB_ROUND;
    double n = (rounded - PB_ROUND) + 0.5;
    return pb_sine(pb_reduce(x, n, PB_PI_PARTS), pb_bits(rounded) + 1);
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

/* One of two numbers by the lowest bit of n. */
PB_INLINE double pb_either(double even, double odd, uint64_t n) {
    uint64_t mask = 0 - (n & 1);
    return pb_from_bits((pb_bits(even) & ~mask) | (pb_bits(odd) & mask));
}

/* The tangent there: of x = n pi/2 + angle, or the negative inverse. */
PB_INLINE double pb_tan_near(double x) {
    double rounded = pb_fma(x, 0x1.45f306dc9c883p-1, PB_ROUND);
    pb_angle angle = pb_reduce(x, rounded - PB_ROUND, PB_HALF_PI_PARTS);
    double s = pb_sin_part(angle.high, angle.low), c = pb_cos_part(angle.high, angle.low);
    double upper = pb_either(s, -c, pb_bits(rounded)), lower = pb_either(c, s, pb_bits(rounded));
    return x == 0.0 ? x : upper / lower;
}

/* (-1)^n sin(x - n pi) in double, n rounded: a float has no angle so near to a multiple of pi/2 that one double is too
 * short for the remainder. `bits` are those of the sum that rounded n. */
PB_INLINE float pb_sinef(double x, double n, uint64_t bits) {
    double r = pb_fma(-n, 0x1.1a62633145c07p-53, pb_exact_remainder(n, 0x1.921fb54442d18p+1, x));
    double z = r * r, z2 = z * z;
    double a = pb_fma(z, 0x1.11110fdaa9383p-7, -0x1.55555554604ccp-3);
    double b = pb_fma(z, 0x1.719690c67b57dp-19, -0x1.a01905b66cb6ap-13);
    double q = pb_fma(z2, pb_fma(z2, -0x1.9db1b6b1f32c8p-26, b), a);
    double y = pb_fma(z * r, q, r);
    return (float)pb_from_bits(pb_bits(y) ^ (bits << 63));
}

/* Sine and cosine of |x| <= PB_TRIG_MAX. */
PB_INLINE float pb_sin_nearf(float x) {
    double rounded = pb_fma(x, 0x1.45f306dc9c883p-2, PB_ROUND);
    float y = pb_sinef(x, rounded - PB_ROUND, pb_bits(rounded));
    return x == 0.0f ? x : y;
}

PB_INLINE float pb_cos_nearf(float x) {
    double rounded = pb_fma(x, 0x1.45f306dc9c883p-2, -0.5) + PB_ROUND;
    return pb_sinef(x, (rounded - PB_ROUND) + 0.5, pb_bits(rounded) + 1);
}

PB_INLINE float pb_tan_nearf(float x) { return (float)pb_tan_near((double)x); }

/* Right for every x. With glibc's vectorised library (PB_LIBMVEC), gcc makes a loop call that: it takes the rare far
 * angles one by one, which inlined straight-line code cannot. Elsewhere far angles go to the library, and the call keeps
 * a loop from being vectorised. */
#if defined(PB_LIBMVEC) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PB_CIRCULAR(name)                                                                                              \
    extern double name(double) __attribute__((simd("notinbranch")));                                                   \
    extern float name##f(float) __attribute__((simd("notinbranch")));                                                  \
    PB_INLINE double pb_##name(double x) { return name(x); }                                                           \
    PB_INLINE float pb_##name##f(float x) { return name##f(x); }
#else
#define PB_CIRCULAR(name)                                                                                              \
    PB_INLINE double pb_##name(double x) {                                                                             \
        return __builtin_expect(__builtin_fabs(x) > PB_TRIG_MAX, 0) ? __builtin_##name(x) : pb_##name##_near(x);       \
    }                                                                                                                  \
    PB_INLINE float pb_##name##f(float x) {                                                                            \
        return __builtin_expect(__builtin_fabs((double)x) > PB_TRIG_MAX, 0) ? __builtin_##name##f(x)                   \
                                                                            : pb_##name##_nearf(x);                    \
    }
#endif

PB_CIRCULAR(sin)
PB_CIRCULAR(cos)
PB_CIRCULAR(tan)

#endif

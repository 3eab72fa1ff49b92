/* The functions of maths.h for float: in float where that is enough, in double where an intermediate needs more digits. */
#ifndef PB_MATHS_FLOAT_H
#define PB_MATHS_FLOAT_H

#include "maths_bits.h"
#include "maths_exp.h"
#include "maths_inverse.h"

#define PB_LN2_HIGHF 0x1.62e4p-1f /* 15 bits */
#define PB_LN2_LOWF 0x1.7f7d1cp-20f

PB_INLINE float pb_expf(float x) {
    float rounded = pb_fmaf(x, 0x1.715476p+0f, PB_ROUNDF);
    float n = rounded - PB_ROUNDF;
    float r = pb_fmaf(-n, PB_LN2_LOWF, pb_fmaf(-n, PB_LN2_HIGHF, x));
    float r2 = r * r;
    float a = pb_fmaf(r, 0x1.555556p-3f, 0x1.0p-1f), b = pb_fmaf(r, 0x1.1110ep-7f, 0x1.5554eap-5f);
    float c = pb_fmaf(r, 0x1.a124f2p-13f, 0x1.6d4324p-10f);
    float q = pb_fmaf(r2, pb_fmaf(r2, c, b), a);
    return pb_endsf(x, pb_scalef(pb_fmaf(r2, q, r) + 1.0f, rounded), -105.0f, 89.0f);
}

/* 2^shift * (e^x - 1) for x in [-80, 89]: the same steps as for double. */
PB_INLINE float pb_expm1_scaledf(float x, int32_t shift) {
    float rounded = pb_fmaf(x, 0x1.715476p+0f, PB_ROUNDF);
    float n = rounded - PB_ROUNDF;
    float high = pb_fmaf(-n, PB_LN2_HIGHF, x), low = n * PB_LN2_LOWF;
    float r = high - low, r_low = (high - r) - low;
    float r2 = r * r;
    float a = pb_fmaf(r, 0x1.55551ap-5f, 0x1.555556p-3f), b = pb_fmaf(r, 0x1.6d110ap-10f, 0x1.1110f6p-7f);
    float q = pb_fmaf(r2, pb_fmaf(r2, 0x1.a0f86cp-13f, b), a);
    float tail = pb_fmaf(r2, pb_fmaf(r, q, 0.5f), r_low);
    float s = pb_power_of_twof(rounded, shift), one = pb_power_of_twof(PB_ROUNDF, shift);
    return pb_fmaf(s, r, s - one) + s * tail;
}

PB_INLINE float pb_expm1f(float x) {
    float y = 2.0f * pb_expm1_scaledf(x, -1);
    y = __builtin_fabsf(x) < 0x1p-25f ? x : y;
    y = x < -30.0f ? -1.0f : y;
    return x < 89.0f ? y : x + __builtin_inff();
}

PB_INLINE float pb_tanhf(float x) {
    float a = __builtin_fabsf(x);
    float t = pb_expm1_scaledf(2.0f * a, 0);
    float y = t / (2.0f + t);
    return pb_copysignf(a > 10.0f ? 1.0f : y, x);
}

/* log(1 + f) - f + f^2 / 2 from s = f / (2 + f) and f^2 / 2. */
PB_INLINE float pb_log_restf(float s, float half_square) {
    float z = s * s, z2 = z * z;
    float a = pb_fmaf(z, 0x1.9999ecp-2f, 0x1.555556p-1f), b = pb_fmaf(z, 0x1.ddd4dap-3f, 0x1.245c28p-2f);
    return s * pb_fmaf(z, pb_fmaf(z2, b, a), half_square);
}

PB_INLINE float pb_logf(float x) {
    pb_partsf parts = pb_splitf(x);
    float k = parts.exponent, f = parts.mantissa - 1.0f;
    float half_square = 0.5f * f * f;
    float rest = pb_log_restf(f / (2.0f + f), half_square);
    float y = pb_fmaf(k, PB_LN2_HIGHF, f - (half_square - pb_fmaf(k, PB_LN2_LOWF, rest)));
    y = x < __builtin_inff() ? y : x;
    y = x == 0.0f ? -__builtin_inff() : y;
    return x < 0.0f ? __builtin_nanf("") : y;
}

PB_INLINE float pb_log1pf(float x) {
    float u = 1.0f + x;
    float u_seen = u - 1.0f;
    float error = (1.0f - (u - u_seen)) + (x - u_seen);
    pb_partsf parts = pb_split_scaledf(u, 127.0f);
    float k = parts.exponent, f = parts.mantissa - 1.0f;
    float correction = error * parts.twice_inverse * pb_fmaf(-0.5f * f, 1.0f - f, 0.5f);
    float half_square = 0.5f * f * f;
    float rest = pb_log_restf(f / (2.0f + f), half_square);
    float small = pb_fmaf(k, PB_LN2_LOWF, rest + correction);
    float y = pb_fmaf(k, PB_LN2_HIGHF, f - (half_square - small));
    y = x == 0.0f ? x : y;
    y = x < __builtin_inff() ? y : x;
    y = x == -1.0f ? -__builtin_inff() : y;
    return x < -1.0f ? __builtin_nanf("") : y;
}

/* x^y in double: a logarithm to 2^-40 and a power to 2^-33; float's range leaves room, so that one factor scales. */
PB_INLINE float pb_any_powerf(float base, float exponent) {
    double x = base, y = exponent;
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    pb_parts parts = pb_split_normal(a);
    double f = parts.mantissa - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z;
    double p = pb_fma(z2, pb_fma(z, 0x1.0c9a84bf7d5e8p-2, 0x1.484b13d79c08bp-2),
                      pb_fma(z, 0x1.a61762a7adfa9p-2, 0x1.2776c50ef9bfep-1));
    double l = pb_fma(s, pb_fma(z, pb_fma(z, p, 0x1.ec709dc3a03fdp-1), 0x1.71547652b82fep+1), parts.exponent);
    double factor = y > 0x1p40 ? 0x1p40 : y; /* beyond, the result is 0, 1 or infinity all the same */
    factor = factor < -0x1p40 ? -0x1p40 : factor;
    double e = factor * l;
    double rounded = e + PB_ROUND;
    double r = e - (rounded - PB_ROUND), r2 = r * r;
    double q0 = pb_fma(r, 0x1.ebfbe0460cc0bp-3, 0x1.62e42fefa39efp-1);
    double q1 = pb_fma(r, 0x1.3b2a1b516ca7fp-7, 0x1.c6b08d884527ep-5);
    double q2 = pb_fma(r, 0x1.44401fae30efep-13, 0x1.5d879e9962406p-10);
    double q = pb_fma(r2, pb_fma(r2, pb_fma(r2, 0x1.00a594fd058bap-16, q2), q1), q0);
    double power = pb_ends(e, pb_fma(r, q, 1.0) * pb_power_of_two(rounded, 0), -1000.0, 1000.0);
    double far = (a > 1.0) == (y > 0.0) ? PB_INF : 0.0; /* where the base is 0 or infinite */
    power = (a == 0.0) | (a == PB_INF) ? far : power;
    power = (x != x) | (y != y) ? x + y : power;
    int whole = pb_is_integer(b), odd = whole & !pb_is_integer(0.5 * b);
    double signed_power = pb_from_bits(pb_bits(power) ^ (pb_bits(x) & 0x8000000000000000u));
    power = odd ? signed_power : power;
    power = (x < 0.0) & (a != PB_INF) & !whole & (y == y) ? PB_NAN : power;
    return (float)((y == 0.0) | (x == 1.0) ? 1.0 : power);
}

PB_INLINE float pb_powf(float x, float y) {
    if (pb_is_whole_powerf(y)) return pb_whole_powerf(x, (int)y);
    if (pb_is_half_powerf(y)) return pb_half_powerf(x, (int)(2 * y));
    return pb_any_powerf(x, y);
}

/* The rest in double: half as many elements a vector, and the last digit right. */
#define PB_FLOAT_OF(name) \
    PB_INLINE float name##f(float x) { return (float)name((double)x); }
#define PB_FLOAT_OF_TWO(name) \
    PB_INLINE float name##f(float x, float y) { return (float)name((double)x, (double)y); }

PB_FLOAT_OF(pb_exp2)
PB_FLOAT_OF(pb_log2)
PB_FLOAT_OF(pb_log10)
PB_FLOAT_OF(pb_sinh)
PB_FLOAT_OF(pb_cosh)
PB_FLOAT_OF(pb_arcsin)
PB_FLOAT_OF(pb_arccos)
PB_FLOAT_OF(pb_arctan)
PB_FLOAT_OF(pb_cbrt)
PB_FLOAT_OF(pb_arcsinh)
PB_FLOAT_OF(pb_arccosh)
PB_FLOAT_OF(pb_arctanh)
PB_FLOAT_OF_TWO(pb_arctan2)
PB_FLOAT_OF_TWO(pb_logaddexp)
PB_FLOAT_OF_TWO(pb_logaddexp2)

/* The squares of floats fit into double, but for infinities. */
PB_INLINE float pb_hypotf(float x, float y) {
    double a = __builtin_fabs((double)x), b = __builtin_fabs((double)y);
    double length = __builtin_sqrt(a * a + b * b);
    return (float)((a == PB_INF) | (b == PB_INF) ? PB_INF : length);
}

PB_INLINE float pb_sqrtf(float x) { return __builtin_sqrtf(x); }

#endif

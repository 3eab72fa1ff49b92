/* Bits of floating-point numbers, fused multiply-add and exact products: what the functions of maths.h are made of.
 *
 * Everything is straight-line C without intrinsics, so that a compiler vectorises a loop that inlines it. Three things
 * keep old vector instruction sets in: comparisons are of floating-point numbers (SSE2 has none of 64-bit integers),
 * shifts of 64-bit integers are logical (AVX2 has no arithmetic one), and rounding to an integer adds and subtracts a
 * large constant (rounding instructions came with SSE4.1). */
#ifndef PB_MATHS_BITS_H
#define PB_MATHS_BITS_H

#include <stdint.h>

#define PB_INLINE static inline __attribute__((always_inline, unused))
#define PB_INF __builtin_inf()
#define PB_NAN __builtin_nan("")
#define PB_ROUND 0x1.8p52   /* a + PB_ROUND has a, rounded to an integer, in its low bits: |a| < 2^51 */
#define PB_ROUNDF 0x1.8p23f /* the same for float: |a| < 2^22 */

#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__)
#define PB_HAS_FMA 1
#else
#define PB_HAS_FMA 0
#endif

PB_INLINE uint64_t pb_bits(double x) {
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

PB_INLINE double pb_from_bits(uint64_t bits) {
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

PB_INLINE uint32_t pb_bitsf(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

PB_INLINE float pb_from_bitsf(uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* a * b + c, by one instruction where there is one (a call of the library's fma would stop vectorisation). */
PB_INLINE double pb_fma(double a, double b, double c) {
#if PB_HAS_FMA
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

PB_INLINE float pb_fmaf(float a, float b, float c) {
#if PB_HAS_FMA
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* The rounding error of the product p = a * b: exact, unless it overflows or underflows. Without fma, by
 * splitting both factors into halves of 26 bits: then |a| and |b| must be below 2^996. */
PB_INLINE double pb_product_error(double a, double b, double p) {
#if PB_HAS_FMA
    return __builtin_fma(a, b, -p);
#else
    double a_scaled = a * 0x1.0000002p27, b_scaled = b * 0x1.0000002p27;
    double a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
    double a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

/* c - a * b where the result is a number of 53 bits: exact. */
PB_INLINE double pb_exact_remainder(double a, double b, double c) {
#if PB_HAS_FMA
    return __builtin_fma(-a, b, c);
#else
    double p = a * b;
    return (c - p) - pb_product_error(a, b, p);
#endif
}

/* The rounding error of the sum s = a + b, exact whatever the sizes of a and b. */
PB_INLINE double pb_sum_error(double a, double b, double s) {
    double b_seen = s - a;
    return (a - (s - b_seen)) + (b - b_seen);
}

/* The sign bit of y on |x|. */
PB_INLINE double pb_copysign(double x, double y) { return __builtin_copysign(x, y); }

PB_INLINE float pb_copysignf(float x, float y) { return __builtin_copysignf(x, y); }

/* p * 2^n where `rounded` is n + PB_ROUND and p is between 1/2 and 2: half of n is added to the exponent of p and the
 * other half is a factor, so that a denormal result is rounded once. For |n| <= 2000; NaN may come out as a number. */
PB_INLINE double pb_scale(double p, double rounded) {
    uint64_t n = pb_bits(rounded) << 52, half = (pb_bits(rounded) << 51) & 0xfff0000000000000u;
    return pb_from_bits(pb_bits(p) + half) * pb_from_bits(n - half + 0x3ff0000000000000u);
}

PB_INLINE float pb_scalef(float p, float rounded) {
    uint32_t n = pb_bitsf(rounded) << 23, half = (pb_bitsf(rounded) << 22) & 0xff800000u;
    return pb_from_bitsf(pb_bitsf(p) + half) * pb_from_bitsf(n - half + 0x3f800000u);
}

/* y, but 0 where x < low, and infinity or NaN where x is not below `high`: the ends of an exponential. */
PB_INLINE double pb_ends(double x, double y, double low, double high) {
    y = x < low ? 0.0 : y;
    return x < high ? y : x + PB_INF;
}

PB_INLINE float pb_endsf(float x, float y, float low, float high) {
    y = x < low ? 0.0f : y;
    return x < high ? y : x + __builtin_inff();
}

/* 2^(n + shift) as a number, where `rounded` is n + PB_ROUND and -1022 <= n + shift <= 1023. */
PB_INLINE double pb_power_of_two(double rounded, int64_t shift) {
    return pb_from_bits((pb_bits(rounded) - (pb_bits(PB_ROUND) - 1023) + (uint64_t)shift) << 52);
}

PB_INLINE float pb_power_of_twof(float rounded, int32_t shift) {
    return pb_from_bitsf((pb_bitsf(rounded) - (pb_bitsf(PB_ROUNDF) - 127) + (uint32_t)shift) << 23);
}

/* A positive number as 2^exponent * mantissa with the mantissa in [sqrt(1/2), sqrt(2)). */
typedef struct {
    double exponent, mantissa;
    double twice_inverse; /* 2^(1 - exponent); 0 for an exponent of 1024 */
} pb_parts;

typedef struct {
    float exponent, mantissa, twice_inverse;
} pb_partsf;

#define PB_SQRT_HALF_BITS 0x3fe6a09e667f3bcdu
#define PB_SQRT_HALF_BITSF 0x3f3504f3u

/* The parts of scaled / 2^(bias - 1023 - 2^52), which must be a normal number. */
PB_INLINE pb_parts pb_split_scaled(double scaled, double bias) {
    uint64_t bits = pb_bits(scaled) + (0x3ff0000000000000u - PB_SQRT_HALF_BITS);
    pb_parts parts;
    parts.exponent = pb_from_bits((bits >> 52) | 0x4330000000000000u) - bias;
    parts.mantissa = pb_from_bits((bits & 0x000fffffffffffffu) + PB_SQRT_HALF_BITS);
    parts.twice_inverse = pb_from_bits(0x7ff0000000000000u - (bits & 0xfff0000000000000u));
    return parts;
}

PB_INLINE pb_parts pb_split_normal(double x) { return pb_split_scaled(x, 0x1p52 + 1023); }

/* The parts of a positive finite number that may be denormal. */
PB_INLINE pb_parts pb_split(double x) {
    int tiny = x < 0x1p-1022;
    double scale = tiny ? 0x1p54 : 1.0, bias = tiny ? 0x1p52 + 1077 : 0x1p52 + 1023;
    return pb_split_scaled(x * scale, bias);
}

PB_INLINE pb_partsf pb_split_scaledf(float scaled, float bias) {
    uint32_t bits = pb_bitsf(scaled) + (0x3f800000u - PB_SQRT_HALF_BITSF);
    pb_partsf parts;
    parts.exponent = (float)(int32_t)(bits >> 23) - bias;
    parts.mantissa = pb_from_bitsf((bits & 0x007fffffu) + PB_SQRT_HALF_BITSF);
    parts.twice_inverse = pb_from_bitsf(0x7f800000u - (bits & 0xff800000u));
    return parts;
}

PB_INLINE pb_partsf pb_splitf(float x) {
    int tiny = x < 0x1p-126f;
    float scale = tiny ? 0x1p24f : 1.0f, bias = tiny ? 151.0f : 127.0f;
    return pb_split_scaledf(x * scale, bias);
}

/* Whether a number that is not negative is an integer; infinity is one. */
PB_INLINE int pb_is_integer(double a) {
    return (a >= 0x1p52) | (((a + 0x1p52) - 0x1p52) == a);
}

#endif

/* Remainders, comparisons that know NaN, signs and neighbours: NumPy's definitions for double and float. Each function
 * is written once, as a macro of the type and of the suffix of its builtins. See maths.h. */
#ifndef PB_MATHS_ARITH_H
#define PB_MATHS_ARITH_H

#include "maths_bits.h"

/* Names: `pb_floor` and `pb_floorf`. The rounding functions are one instruction where the machine has it. rint rounds
 * halves to even. */
#define PB_ARITHMETIC(T, F, INF)                                                                                       \
    PB_INLINE T pb_floor##F(T x) { return __builtin_floor##F(x); }                                                     \
    PB_INLINE T pb_ceil##F(T x) { return __builtin_ceil##F(x); }                                                       \
    PB_INLINE T pb_trunc##F(T x) { return __builtin_trunc##F(x); }                                                     \
    PB_INLINE T pb_rint##F(T x) { return __builtin_rint##F(x); }                                                       \
    PB_INLINE T pb_fabs##F(T x) { return __builtin_fabs##F(x); }                                                       \
    PB_INLINE T pb_square##F(T x) { return x * x; }                                                                    \
    PB_INLINE T pb_reciprocal##F(T x) { return (T)1 / x; }                                                             \
    /* np.maximum and np.minimum: NaN wins, the first one of two. A constant is mostly a number: one instruction. */   \
    PB_INLINE T pb_maximum##F(T a, T b) {                                                                              \
        if (__builtin_constant_p(b) && b == b) return b > a ? b : a;                                                   \
        return (a >= b) | (a != a) ? a : b;                                                                            \
    }                                                                                                                  \
    PB_INLINE T pb_minimum##F(T a, T b) {                                                                              \
        if (__builtin_constant_p(b) && b == b) return b < a ? b : a;                                                   \
        return (a <= b) | (a != a) ? a : b;                                                                            \
    }                                                                                                                  \
    /* np.fmax and np.fmin: NaN loses. */                                                                              \
    PB_INLINE T pb_fmax##F(T a, T b) { return (a >= b) | (b != b) ? a : b; }                                           \
    PB_INLINE T pb_fmin##F(T a, T b) { return (a <= b) | (b != b) ? a : b; }                                           \
    /* -1, 0, 1 or NaN; of -0.0 too the sign is 0. */                                                                  \
    PB_INLINE T pb_sign##F(T x) {                                                                                      \
        T one = x != 0 ? __builtin_copysign##F((T)1, x) : (T)0;                                                        \
        return x == x ? one : x;                                                                                       \
    }                                                                                                                  \
    PB_INLINE T pb_heaviside##F(T x, T middle) { return x > 0 ? (T)1 : x < 0 ? (T)0 : x == 0 ? middle : x; }           \
    /* np.nan_to_num: what NaN and the infinities become. */                                                           \
    PB_INLINE T pb_nan_to_num##F(T x, T nan, T positive, T negative) {                                                 \
        return x != x ? nan : x == INF ? positive : x == -INF ? negative : x;                                          \
    }                                                                                                                  \
    /* np.fmod: the sign of the dividend. */                                                                           \
    PB_INLINE T pb_fmod##F(T a, T b) {                                                                                 \
        T size = __builtin_fabs##F(a), unit = __builtin_fabs##F(b);                                                    \
        return __builtin_expect(size < unit * PB_NEAR##F && unit > PB_TINY##F && unit < PB_HUGE##F, 1)                 \
                   ? pb_fmod_near##F(a, b)                                                                             \
                   : __builtin_fmod##F(a, b);                                                                          \
    }                                                                                                                  \
    /* np.remainder and Python's %: the sign of the divisor. Division by zero gives NaN. */                            \
    PB_INLINE T pb_signed_remainder##F(T rest, T b) {                                                                  \
        T moved = (b < 0) == (rest < 0) ? rest : rest + b;                                                             \
        T right = rest == 0 ? __builtin_copysign##F((T)0, b) : moved;                                                  \
        return b == 0 ? rest : right;                                                                                  \
    }                                                                                                                  \
    PB_INLINE T pb_remainder##F(T a, T b) { return pb_signed_remainder##F(pb_fmod##F(a, b), b); }                      \
    PB_INLINE T pb_remainder_near##F(T a, T b) { return pb_signed_remainder##F(pb_fmod_near##F(a, b), b); }            \
    /* np.floor_divide and Python's //: a whole number even where a / b is rounded; by zero as a / b. */               \
    PB_INLINE T pb_floor_quotient##F(T a, T b, T rest) {                                                               \
        T whole = (a - rest) / b;                                                                                      \
        whole -= (rest != 0) & ((b < 0) != (rest < 0)) ? (T)1 : (T)0;                                                  \
        T down = __builtin_floor##F(whole);                                                                            \
        down += whole - down > (T)0.5 ? (T)1 : (T)0;                                                                   \
        T signed_down = whole == 0 ? __builtin_copysign##F((T)0, a / b) : down;                                        \
        return b == 0 ? a / b : signed_down;                                                                           \
    }                                                                                                                  \
    PB_INLINE T pb_floor_divide##F(T a, T b) { return pb_floor_quotient##F(a, b, pb_fmod##F(a, b)); }                  \
    PB_INLINE T pb_floor_divide_near##F(T a, T b) { return pb_floor_quotient##F(a, b, pb_fmod_near##F(a, b)); }        \
    /* np.nextafter; and np.spacing: the step away from zero. */                                                       \
    PB_INLINE T pb_nextafter##F(T x, T y) {                                                                            \
        T up = pb_from_bits##F(pb_bits##F(x) + 1), down = pb_from_bits##F(pb_bits##F(x) - 1);                          \
        T next = (x < y) == (x > 0) ? up : down;                                                                       \
        next = x == 0 ? __builtin_copysign##F(pb_from_bits##F(1), y) : next;                                           \
        next = x == y ? y : next;                                                                                      \
        return (x != x) | (y != y) ? x + y : next;                                                                     \
    }                                                                                                                  \
    PB_INLINE T pb_spacing##F(T x) {                                                                                   \
        T step = pb_from_bits##F(pb_bits##F(x) + 1) - x;                                                               \
        step = x == 0 ? pb_from_bits##F(1) : step;                                                                     \
        return (x != x) | (x == INF) | (x == -INF) ? (T)PB_NAN : step;                                                 \
    }

#define PB_NEAR 0x1p52
#define PB_NEARf 0x1p23f
#define PB_TINY 0x1p-900 /* above, the parts of an exact product are no denormal numbers */
#define PB_TINYf 0.0f
#define PB_HUGE 0x1p900 /* below, they do not overflow */
#define PB_HUGEf __builtin_inff()

/* fmod where |a / b| < 2^52 and 2^-900 < |b| < 2^900 (for float |a / b| < 2^23, and b finite and not 0). The quotient
 * may be rounded up to a whole number, which the sign of the remainder shows. Vectorised; `pb_fmod` calls the library
 * for the rest. */
PB_INLINE double pb_fmod_near(double a, double b) {
    double size = __builtin_fabs(a), unit = __builtin_fabs(b);
    double whole = __builtin_trunc(size / unit);
    double rest = pb_exact_remainder(whole, unit, size);
    rest = rest < 0.0 ? rest + unit : rest;
    return pb_copysign(rest, a);
}

/* For float the product is exact in double. */
PB_INLINE float pb_fmod_nearf(float a, float b) {
    double size = __builtin_fabsf(a), unit = __builtin_fabsf(b);
    double rest = size - __builtin_trunc(size / unit) * unit;
    rest = rest < 0.0 ? rest + unit : rest;
    return pb_copysignf((float)rest, a);
}

PB_ARITHMETIC(double, , __builtin_inf())
PB_ARITHMETIC(float, f, __builtin_inff())

PB_INLINE double pb_deg2rad(double x) { return x * 0x1.1df46a2529d39p-6; }
PB_INLINE double pb_rad2deg(double x) { return x * 0x1.ca5dc1a63c1f8p+5; }
PB_INLINE float pb_deg2radf(float x) { return x * 0x1.1df46ap-6f; }
PB_INLINE float pb_rad2degf(float x) { return x * 0x1.ca5dcp+5f; }

#endif

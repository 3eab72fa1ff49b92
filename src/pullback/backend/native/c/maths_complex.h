/* Complex arithmetic and functions as NumPy has them, for complex128 (`pb_cmul`) and complex64 (`pb_cmulf`).
 * Products and quotients are the plain formulas: C's own operators look for infinities afterwards. The functions are
 * the C library's, which NumPy uses too. See maths.h. */
#ifndef PB_MATHS_COMPLEX_H
#define PB_MATHS_COMPLEX_H

#include "maths_arith.h"
#include "maths_float.h"
#include "maths_inverse.h"

/* C: complex type; T: its parts; F: suffix. */
#define PB_COMPLEX_ARITHMETIC(C, T, F)                                                                                 \
    PB_INLINE C pb_complex##F(T real, T imag) { return __builtin_complex(real, imag); }                                \
    PB_INLINE T pb_real##F(C a) { return __real__ a; }                                                                 \
    PB_INLINE T pb_imag##F(C a) { return __imag__ a; }                                                                 \
    PB_INLINE C pb_conj##F(C a) { return pb_complex##F(__real__ a, -__imag__ a); }                                     \
    PB_INLINE C pb_cneg##F(C a) { return pb_complex##F(-__real__ a, -__imag__ a); }                                    \
    PB_INLINE C pb_cadd##F(C a, C b) { return pb_complex##F(__real__ a + __real__ b, __imag__ a + __imag__ b); }       \
    PB_INLINE C pb_csub##F(C a, C b) { return pb_complex##F(__real__ a - __real__ b, __imag__ a - __imag__ b); }       \
    PB_INLINE C pb_cmul##F(C a, C b) {                                                                                 \
        return pb_complex##F(__real__ a * __real__ b - __imag__ a * __imag__ b,                                        \
                             __real__ a * __imag__ b + __imag__ a * __real__ b);                                       \
    }                                                                                                                  \
    /* Smith's method: by the larger part of the divisor, so that no square overflows. By zero: each part by it. */    \
    PB_INLINE C pb_cdiv##F(C a, C b) {                                                                                 \
        T real = __real__ b, imag = __imag__ b;                                                                        \
        int wide = __builtin_fabs##F(real) >= __builtin_fabs##F(imag), zero = (real == 0) & (imag == 0);               \
        T large = wide ? real : imag, small = wide ? imag : real;                                                      \
        T ratio = small / large, scale = (T)1 / (large + small * ratio);                                               \
        T x = wide ? __real__ a + __imag__ a * ratio : __real__ a * ratio + __imag__ a;                                \
        T y = wide ? __imag__ a - __real__ a * ratio : __imag__ a * ratio - __real__ a;                                \
        T none = __builtin_fabs##F(real);                                                                              \
        return pb_complex##F(zero ? __real__ a / none : x * scale, zero ? __imag__ a / none : y * scale);              \
    }                                                                                                                  \
    PB_INLINE C pb_csquare##F(C a) {                                                                                   \
        return pb_complex##F(__real__ a * __real__ a - __imag__ a * __imag__ a,                                        \
                             __real__ a * __imag__ a + __imag__ a * __real__ a);                                       \
    }                                                                                                                  \
    PB_INLINE C pb_creciprocal##F(C a) {                                                                               \
        T real = __real__ a, imag = __imag__ a;                                                                        \
        int wide = __builtin_fabs##F(real) >= __builtin_fabs##F(imag);                                                 \
        T large = wide ? real : imag, small = wide ? imag : real;                                                      \
        T ratio = small / large, size = large + small * ratio;                                                         \
        return pb_complex##F((wide ? (T)1 : ratio) / size, (wide ? -ratio : (T)-1) / size);                            \
    }                                                                                                                  \
    PB_INLINE T pb_cabs##F(C a) { return pb_hypot##F(__real__ a, __imag__ a); }                                        \
    PB_INLINE T pb_carg##F(C a) { return pb_arctan2##F(__imag__ a, __real__ a); }                                      \
    PB_INLINE int pb_ceq##F(C a, C b) { return (__real__ a == __real__ b) & (__imag__ a == __imag__ b); }              \
    PB_INLINE C pb_cexp##F(C a) { return __builtin_cexp##F(a); }                                                       \
    PB_INLINE C pb_clog##F(C a) { return __builtin_clog##F(a); }                                                       \
    PB_INLINE C pb_csqrt##F(C a) { return __builtin_csqrt##F(a); }                                                     \
    PB_INLINE C pb_csin##F(C a) { return __builtin_csin##F(a); }                                                       \
    PB_INLINE C pb_ccos##F(C a) { return __builtin_ccos##F(a); }                                                       \
    PB_INLINE C pb_ctan##F(C a) { return __builtin_ctan##F(a); }                                                       \
    PB_INLINE C pb_csinh##F(C a) { return __builtin_csinh##F(a); }                                                     \
    PB_INLINE C pb_ccosh##F(C a) { return __builtin_ccosh##F(a); }                                                     \
    PB_INLINE C pb_ctanh##F(C a) { return __builtin_ctanh##F(a); }                                                     \
    /* Whole exponents below 100 by products, which are more exact than the logarithm; a zero base has no logarithm. */\
    PB_INLINE C pb_cpow##F(C a, C b) {                                                                                 \
        T real = __real__ b, imag = __imag__ b;                                                                        \
        if ((real == 0) & (imag == 0)) return pb_complex##F(1, 0);                                                     \
        if ((__real__ a == 0) & (__imag__ a == 0))                                                                     \
            return real > 0 ? pb_complex##F(0, 0) : pb_complex##F((T)PB_NAN, (T)PB_NAN);                               \
        if ((imag == 0) & (real > -100) & (real < 100) && real == (T)(int)real) {                                      \
            C factor = a, power = pb_complex##F(1, 0);                                                                 \
            int plain = (real > 0) & (real < 4); /* the others start from 1, which makes NaN of an infinity */         \
            for (unsigned left = (unsigned)__builtin_fabs##F(real); left; left >>= 1) {                                \
                if (left & 1) power = plain ? factor : pb_cmul##F(power, factor), plain = 0;                           \
                factor = pb_cmul##F(factor, factor);                                                                   \
            }                                                                                                          \
            return real < 0 ? pb_cdiv##F(pb_complex##F(1, 0), power) : power;                                          \
        }                                                                                                              \
        return __builtin_cpow##F(a, b);                                                                                \
    }

PB_COMPLEX_ARITHMETIC(double _Complex, double, )
PB_COMPLEX_ARITHMETIC(float _Complex, float, f)

#endif

/* Elementwise mathematics for generated loops: `pb_exp` for double, `pb_expf` for float, and so on.
 *
 * All functions are inlined, and all but those named below are straight-line code, which gcc and clang vectorise at
 *   -O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=off
 * for any width of vectors. Results are within 4 ulp of the true ones over the whole range (most within 1.5), and are
 * NumPy's for NaN, infinities, zeros of both signs and denormal numbers. -ffast-math and -ffinite-math-only break them.
 * How the coefficients were made, and errors and times as measured: docs/decisions/0011-vector-maths.md.
 *
 * What an emitter has to know:
 *   - pb_sin, pb_cos, pb_tan (and ...f) hold for every x, but call the library for |x| > PB_TRIG_MAX, and so are not
 *     vectorised. pb_sin_near etc. are; they are right for |x| <= PB_TRIG_MAX, infinities and NaN.
 *   - NumPy's operator ** with a Python number as exponent takes x * x for 2 and the square root for 0.5 (which differ
 *     from pb_pow in -0.0 and -inf); pb_pow is np.power. */
#ifndef PB_MATHS_H
#define PB_MATHS_H

#include "maths_bits.h"
#include "maths_exp.h"
#include "maths_float.h"
#include "maths_trig.h"

#endif

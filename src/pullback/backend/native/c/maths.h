/* Elementwise mathematics for generated loops: `pb_exp` for double, `pb_expf` for float, and so on.
 *
 * All functions are inlined, and all but those named below are straight-line code, which gcc and clang vectorise at
 *   -O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=off
 * for any width of vectors. Results are within 4 ulp of the true ones over the whole range (most within 1.5), and are
 * NumPy's for NaN, infinities, zeros of both signs and denormal numbers. -ffast-math and -ffinite-math-only break them.
 * How the coefficients were made, and errors and times as measured: docs/decisions/0011-vector-maths.md.
 *
 * What an emitter has to know:
 *   - pb_sin, pb_cos, pb_tan hold for every x. With -DPB_LIBMVEC and -lmvec gcc vectorises them by glibc's library;
 *     without, far angles are a call and a loop is not vectorised. pb_sin_near etc. always are vectorised; they are
 *     right for |x| <= PB_TRIG_MAX, infinities and NaN.
 *   - pb_fmod, pb_remainder and pb_floor_divide call the library for extreme arguments, and are not vectorised; their
 *     pb_fmod_near etc. are (see maths_arith.h for where they are right).
 *   - pb_pow is np.power; a literal exponent that is a whole number from -3 to 7 makes products of it, and half a one
 *     (-2.5 to 3.5) a root too. NumPy's operator ** with 0.5 is the root alone, which differs in -0.0 and -inf.
 *   - Integers (maths_integer.h) wrap; names end in the dtype. A negative exponent is the caller's to refuse.
 *   - Complex numbers (maths_complex.h): pb_cmul, pb_cdiv, pb_cexp; C's own * and / are not NumPy's.
 *   - Floats become integers by pb_to_int32 etc.: C leaves open what a cast of NaN or of a large number gives. */
#ifndef PB_MATHS_H
#define PB_MATHS_H

#include "maths_bits.h"
#include "maths_complex.h"
#include "maths_exp.h"
#include "maths_float.h"
#include "maths_arith.h"
#include "maths_integer.h"
#include "maths_inverse.h"
#include "maths_trig.h"

#endif

/* Integer arithmetic as NumPy defines it, for int8 to int64 and uint8 to uint64: it wraps, a division by zero gives 0,
 * a shift by the width or more gives 0 (or -1 from a negative number, to the right). C leaves all of that undefined.
 * Names end in the dtype: `pb_floor_divide_int32`. NumPy raises ValueError for a negative exponent: that is for the
 * caller to check, `pb_power_...` takes it as the unsigned number of the same bits. See maths.h. */
#ifndef PB_MATHS_INTEGER_H
#define PB_MATHS_INTEGER_H

#include "maths_bits.h"

/* Both kinds. D: the dtype; T: its type; U: the unsigned one of that width; W: where sums and products are made (at
 * least as wide as int, so that nothing is promoted to a signed type). */
#define PB_INTEGER(D, T, U, W)                                                                                         \
    PB_INLINE T pb_add_##D(T a, T b) { return (T)((W)a + (W)b); }                                                      \
    PB_INLINE T pb_subtract_##D(T a, T b) { return (T)((W)a - (W)b); }                                                 \
    PB_INLINE T pb_multiply_##D(T a, T b) { return (T)((W)a * (W)b); }                                                 \
    PB_INLINE T pb_negative_##D(T a) { return (T)(0 - (W)a); }                                                         \
    PB_INLINE T pb_square_##D(T a) { return (T)((W)a * (W)a); }                                                        \
    PB_INLINE T pb_maximum_##D(T a, T b) { return a > b ? a : b; }                                                     \
    PB_INLINE T pb_minimum_##D(T a, T b) { return a < b ? a : b; }                                                     \
    PB_INLINE T pb_left_shift_##D(T a, T b) {                                                                          \
        W count = (U)b;                                                                                                \
        return count < sizeof(T) * 8 ? (T)((W)a << count) : (T)0;                                                      \
    }                                                                                                                  \
    PB_INLINE T pb_power_##D(T a, T b) {                                                                               \
        W factor = (W)a, power = 1;                                                                                    \
        for (U left = (U)b; left; left >>= 1) {                                                                        \
            if (left & 1) power *= factor;                                                                             \
            factor *= factor;                                                                                          \
        }                                                                                                              \
        return (T)power;                                                                                               \
    }                                                                                                                  \
    PB_INLINE U pb_common_##D(U a, U b) {                                                                              \
        while (a) {                                                                                                    \
            U rest = (U)(b % a);                                                                                       \
            b = a;                                                                                                     \
            a = rest;                                                                                                  \
        }                                                                                                              \
        return b;                                                                                                      \
    }                                                                                                                  \
    PB_INLINE T pb_gcd_##D(T a, T b) { return (T)pb_common_##D((U)pb_absolute_##D(a), (U)pb_absolute_##D(b)); }        \
    PB_INLINE T pb_lcm_##D(T a, T b) {                                                                                 \
        U x = (U)pb_absolute_##D(a), y = (U)pb_absolute_##D(b), common = pb_common_##D(x, y);                          \
        return common ? (T)((W)(x / common) * (W)y) : (T)0;                                                            \
    }

#define PB_SIGNED(D, T, U, W)                                                                                          \
    PB_INLINE T pb_absolute_##D(T a) { return a < 0 ? (T)(0 - (W)a) : a; }                                             \
    PB_INLINE T pb_sign_##D(T a) { return (T)((a > 0) - (a < 0)); }                                                    \
    PB_INLINE T pb_right_shift_##D(T a, T b) {                                                                         \
        U count = (U)b;                                                                                                \
        return (T)(count < sizeof(T) * 8 ? a >> count : a < 0 ? -1 : 0);                                               \
    }                                                                                                                  \
    /* The smallest number divided by -1 is itself: it wraps. */                                                       \
    PB_INLINE T pb_floor_divide_##D(T a, T b) {                                                                        \
        T divisor = (b == 0) | (b == -1) ? (T)1 : b;                                                                   \
        T quotient = (T)(a / divisor - ((a % divisor != 0) & ((a < 0) != (divisor < 0))));                             \
        return b == 0 ? (T)0 : b == -1 ? (T)(0 - (W)a) : quotient;                                                     \
    }                                                                                                                  \
    PB_INLINE T pb_fmod_##D(T a, T b) { return (T)(a % ((b == 0) | (b == -1) ? (T)1 : b)); }                           \
    PB_INLINE T pb_remainder_##D(T a, T b) {                                                                           \
        T rest = pb_fmod_##D(a, b);                                                                                    \
        return (rest != 0) & ((rest < 0) != (b < 0)) ? (T)(rest + b) : rest;                                           \
    }                                                                                                                  \
    PB_INTEGER(D, T, U, W)

#define PB_UNSIGNED(D, T, W)                                                                                           \
    PB_INLINE T pb_absolute_##D(T a) { return a; }                                                                     \
    PB_INLINE T pb_sign_##D(T a) { return (T)(a != 0); }                                                               \
    PB_INLINE T pb_right_shift_##D(T a, T b) { return b < sizeof(T) * 8 ? (T)(a >> b) : (T)0; }                        \
    PB_INLINE T pb_floor_divide_##D(T a, T b) { return b ? (T)(a / b) : (T)0; }                                        \
    PB_INLINE T pb_fmod_##D(T a, T b) { return b ? (T)(a % b) : (T)0; }                                                \
    PB_INLINE T pb_remainder_##D(T a, T b) { return b ? (T)(a % b) : (T)0; }                                           \
    PB_INTEGER(D, T, T, W)

PB_SIGNED(int8, int8_t, uint8_t, uint32_t)
PB_SIGNED(int16, int16_t, uint16_t, uint32_t)
PB_SIGNED(int32, int32_t, uint32_t, uint32_t)
PB_SIGNED(int64, int64_t, uint64_t, uint64_t)
PB_UNSIGNED(uint8, uint8_t, uint32_t)
PB_UNSIGNED(uint16, uint16_t, uint32_t)
PB_UNSIGNED(uint32, uint32_t, uint32_t)
PB_UNSIGNED(uint64, uint64_t, uint64_t)

/* Floats become integers towards zero. What has no place gives the smallest number, and negative numbers wrap into
 * unsigned ones: what x86 does, and NumPy there. The narrow dtypes take the low bits of int32. */
PB_INLINE int32_t pb_to_int32(double x) {
    int fits = (x > -0x1p31 - 1) & (x < 0x1p31);
    int32_t whole = (int32_t)(fits ? x : 0.0);
    return fits ? whole : INT32_MIN;
}

PB_INLINE int64_t pb_to_int64(double x) {
    int fits = (x >= -0x1p63) & (x < 0x1p63);
    int64_t whole = (int64_t)(fits ? x : 0.0);
    return fits ? whole : INT64_MIN;
}

PB_INLINE uint32_t pb_to_uint32(double x) {
    int high = x >= 0x1p31;
    return (uint32_t)pb_to_int32(high ? x - 0x1p31 : x) + (high ? 0x80000000u : 0);
}

PB_INLINE uint64_t pb_to_uint64(double x) {
    int high = x >= 0x1p63;
    return (uint64_t)pb_to_int64(high ? x - 0x1p63 : x) + (high ? 0x8000000000000000u : 0);
}

PB_INLINE int8_t pb_to_int8(double x) { return (int8_t)pb_to_int32(x); }
PB_INLINE uint8_t pb_to_uint8(double x) { return (uint8_t)pb_to_int32(x); }
PB_INLINE int16_t pb_to_int16(double x) { return (int16_t)pb_to_int32(x); }
PB_INLINE uint16_t pb_to_uint16(double x) { return (uint16_t)pb_to_int32(x); }

#endif

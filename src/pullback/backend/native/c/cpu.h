/* Whether this CPU has the instructions that a text was compiled for (x86; elsewhere nothing is asked). */
#ifndef PB_CPU_H
#define PB_CPU_H

#include <stdint.h>

#if defined(__x86_64__) && defined(__AVX__)
#include <cpuid.h>

/* What the operating system saves of a thread: bits 1 and 2 the registers of AVX, 5 to 7 those of AVX-512. */
static inline uint64_t pb_saved_state(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}

static int32_t pb_cpu_fits(void) {
    uint32_t a, b, c, d, one = 1u << 27, wide = 0, wide_c = 0;
    uint64_t state = 6;
    one |= 1u << 28;
#ifdef __FMA__
    one |= 1u << 12;
#endif
#ifdef __F16C__
    one |= 1u << 29;
#endif
#ifdef __POPCNT__
    one |= 1u << 23;
#endif
#ifdef __MOVBE__
    one |= 1u << 22;
#endif
#ifdef __BMI__
    wide |= 1u << 3;
#endif
#ifdef __AVX2__
    wide |= 1u << 5;
#endif
#ifdef __BMI2__
    wide |= 1u << 8;
#endif
#ifdef __AVX512F__
    wide |= 1u << 16;
    state |= 0xe0;
#endif
#ifdef __AVX512DQ__
    wide |= 1u << 17;
#endif
#ifdef __AVX512CD__
    wide |= 1u << 28;
#endif
#ifdef __AVX512BW__
    wide |= 1u << 30;
#endif
#ifdef __AVX512VL__
    wide |= 1u << 31;
#endif
#ifdef __AVX512VBMI__
    wide_c |= 1u << 1;
#endif
#ifdef __AVX512VBMI2__
    wide_c |= 1u << 6;
#endif
#ifdef __GFNI__
    wide_c |= 1u << 8;
#endif
#ifdef __AVX512VNNI__
    wide_c |= 1u << 11;
#endif
#ifdef __AVX512BITALG__
    wide_c |= 1u << 12;
#endif
#ifdef __AVX512VPOPCNTDQ__
    wide_c |= 1u << 14;
#endif
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & one) != one || (pb_saved_state() & state) != state) return 0;
    if (!wide && !wide_c) return 1;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & wide) == wide && (c & wide_c) == wide_c;
}
#else
static int32_t pb_cpu_fits(void) {
    return 1;
}
#endif

#endif

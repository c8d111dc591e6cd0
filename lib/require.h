/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * require - assertions that are never compiled out.
 *
 * A failed REQUIRE is a bug in this program, never a judgement on input:
 * hostile bytes must not be able to reach one. Each program defines
 * require_failed() itself (print and abort; the simulator also prints its
 * seed).
 */
#ifndef LIB_REQUIRE_H
#define LIB_REQUIRE_H

_Noreturn void require_failed(const char *condition, const char *file,
    int line);

#define REQUIRE(condition)                                                     \
	((condition) ? (void)0 : require_failed(#condition, __FILE__, __LINE__))

#define UNREACHABLE() require_failed("unreachable", __FILE__, __LINE__)

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <string.h>

#include "src/resolver/line.h"

START_TEST(shapes)
{
	char buf[256];
	struct line j;
	size_t len;

	line_start(&j, buf, sizeof(buf));
	line_text(&j, "a", "x");
	line_number(&j, "b", UINT64_MAX);
	line_array(&j, "c");
	line_text(&j, NULL, "1");
	line_object(&j, NULL);
	line_object_end(&j);
	line_array(&j, NULL);
	line_array_end(&j);
	line_array_end(&j);
	line_object(&j, "d");
	line_bool(&j, "e", true);
	line_bool(&j, "f", false);
	line_null(&j, "g");
	line_object_end(&j);
	len = line_finish(&j);
	ck_assert_uint_gt(len, 0);
	buf[len] = '\0';
	ck_assert_str_eq(buf,
	    "{\"a\":\"x\",\"b\":18446744073709551615,"
	    "\"c\":[\"1\",{},[]],"
	    "\"d\":{\"e\":true,\"f\":false,\"g\":null}}\n");
}
END_TEST

/* A line is whole or not there, and nothing is written behind the buffer. */
START_TEST(too_small)
{
	static const char whole[] = "{\"key\":\"v\\u0001\"}\n";
	char buf[32];

	for (size_t size = 0; size <= sizeof(buf); size++) {
		struct line j;
		size_t len;

		memset(buf, '#', sizeof(buf));
		line_start(&j, buf, size);
		line_text(&j, "key", "v\x01");
		len = line_finish(&j);
		ck_assert_uint_eq(len,
		    size < sizeof(whole) - 1 ? 0 : sizeof(whole) - 1);
		for (size_t i = size; i < sizeof(buf); i++)
			ck_assert_int_eq(buf[i], '#');
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("line", &all);

	tcase_add_test(all, shapes);
	tcase_add_test(all, too_small);
	return unit_run(suite);
}

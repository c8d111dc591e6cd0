/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory may run out at any point of reading a configuration: the linker puts
 * allocators of ours between (--wrap), which fail from one call on. Nothing
 * may be read then, and nothing kept; the sanitizers see what is lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/text_fixture.h"
#include "tests/unit/unit.h"

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);

static size_t calls_left = SIZE_MAX;

static bool
runs_out(void)
{
	if (calls_left == 0)
		return true;
	calls_left--;
	return false;
}

void *
__wrap_malloc(size_t size)
{
	return runs_out() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return runs_out() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *at, size_t size)
{
	return runs_out() ? NULL : __real_realloc(at, size);
}

START_TEST(memory_may_run_out_anywhere)
{
	char path[512];
	struct config *config = NULL;
	struct text_error error;
	size_t size, calls = 0;
	char *bytes;
	int r;

	fixture_path("docs/examples/private-services.yaml", path);
	bytes = fixture_slurp(path, &size);
	for (;; calls++) {
		calls_left = calls;
		r = fixture_read(&config, "t", bytes, size, &error);
		calls_left = SIZE_MAX;
		if (r == 0)
			break;
		ck_assert_int_eq(r, -ENOMEM);
		ck_assert_ptr_null(config);
	}
	ck_assert_uint_gt(calls, 100); /* the tree alone takes that */
	config_free(config);
	free(bytes);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("out_of_memory", &all);

	tcase_add_test(all, memory_may_run_out_anywhere);
	return unit_run(suite);
}

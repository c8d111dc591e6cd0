/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/resolver/uploads_file.h"

#define HEAD "namewall uploads 1\n"

static char folder[64];
static int dir;

static void
setup(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/nw-uploads-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(dir, 0);
}

static void
teardown(void)
{
	(void)unlinkat(dir, "uploads", 0);
	(void)unlinkat(dir, "uploads.new", 0);
	(void)close(dir);
	(void)rmdir(folder);
}

static void
write_file(const char *text)
{
	int fd = openat(dir, "uploads", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t len = (ssize_t)strlen(text);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, (size_t)len), len);
	(void)close(fd);
}

static void
put(struct uploads *u, const char *sandbox, uint64_t rule, uint32_t day,
    uint64_t used)
{
	struct upload *one = uploads_file_add(u, sandbox, rule);

	ck_assert_ptr_nonnull(one);
	one->day = day;
	one->used = used;
}

START_TEST(is_read_as_it_was_written)
{
	struct uploads u;

	ck_assert_int_eq(uploads_open(&u, dir), 0);
	ck_assert_uint_eq(u.count, 0);
	put(&u, "box1", 0, 20000, 17);
	put(&u, "a-name.of_63", UINT64_MAX, 20001, UINT64_MAX);
	ck_assert_int_eq(uploads_file_write(&u, 20000, true), 0);
	uploads_close(&u);

	ck_assert_int_eq(uploads_open(&u, dir), 0);
	ck_assert_uint_eq(u.count, 2);
	ck_assert_str_eq(u.list[0].sandbox, "box1");
	ck_assert_uint_eq(u.list[0].rule, 0);
	ck_assert_uint_eq(u.list[0].day, 20000);
	ck_assert_uint_eq(u.list[0].used, 17);
	ck_assert_str_eq(u.list[1].sandbox, "a-name.of_63");
	ck_assert_uint_eq(u.list[1].rule, UINT64_MAX);
	ck_assert_uint_eq(u.list[1].used, UINT64_MAX);
	uploads_close(&u);
}
END_TEST

START_TEST(earlier_days_are_forgotten)
{
	struct uploads u;

	ck_assert_int_eq(uploads_open(&u, dir), 0);
	put(&u, "box1", 1, 19999, 5);
	put(&u, "box1", 2, 20000, 6);
	put(&u, "box2", 1, 19998, 7);
	/* A clock that was set back loses nothing. */
	put(&u, "box2", 3, 20003, 8);
	ck_assert_int_eq(uploads_file_write(&u, 20000, false), 0);
	ck_assert_uint_eq(u.count, 2);
	uploads_close(&u);
	ck_assert_int_eq(uploads_open(&u, dir), 0);
	ck_assert_uint_eq(u.count, 2);
	ck_assert_uint_eq(u.list[0].used, 6);
	ck_assert_uint_eq(u.list[1].used, 8);
	uploads_close(&u);
}
END_TEST

START_TEST(what_is_not_whole_is_refused)
{
	static const char *const list[] = { "", "namewall uploads 2\n",
		HEAD "box1\n", HEAD "box1 0 20000\n", HEAD "box1 0 20000 17",
		HEAD "box1 0 20000 17 x\n", HEAD "box1 0 20000 many\n",
		HEAD "\n" };

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct uploads u;

		write_file(list[i]);
		ck_assert_msg(uploads_open(&u, dir) == -EBADMSG, "%zu", i);
		uploads_close(&u);
	}
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("uploads", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, is_read_as_it_was_written);
	tcase_add_test(all, earlier_days_are_forgotten);
	tcase_add_test(all, what_is_not_whole_is_refused);
	return unit_run(suite);
}

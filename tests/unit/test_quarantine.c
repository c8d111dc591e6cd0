/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/resolver/quarantine.h"

#define HEAD "namewall quarantine 1\n"

static char folder[64];
static int dir;

static void
setup(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/nw-quarantine-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(dir, 0);
}

static void
teardown(void)
{
	(void)unlinkat(dir, "quarantine", 0);
	(void)unlinkat(dir, "quarantine.new", 0);
	(void)close(dir);
	(void)rmdir(folder);
}

static void
write_file(const char *text)
{
	int fd = openat(dir, "quarantine", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t len = (ssize_t)strlen(text);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, (size_t)len), len);
	(void)close(fd);
}

static struct quarantine
one(const char *name, const char *reason)
{
	struct quarantine q = { .since_wall_s = 1700000000 };

	(void)snprintf(q.name, sizeof(q.name), "%s", name);
	(void)snprintf(q.reason, sizeof(q.reason), "%s", reason);
	return q;
}

START_TEST(is_read_as_it_was_written)
{
	struct quarantine box1 = one("box1", "command");
	struct quarantine box2 = one("box2", "tunnel-suspected");
	const struct quarantine *found;
	struct quarantines q;

	ck_assert_int_eq(quarantines_open(&q, dir), 0);
	ck_assert_ptr_null(quarantines_find(&q, "box1"));
	ck_assert_int_eq(quarantines_put(&q, &box1), 0);
	ck_assert_int_eq(quarantines_put(&q, &box2), 0);
	quarantines_close(&q);

	ck_assert_int_eq(quarantines_open(&q, dir), 0);
	found = quarantines_find(&q, "box2");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->reason, "tunnel-suspected");
	ck_assert_uint_eq(found->since_wall_s, 1700000000);
	/* The first reason stays. */
	box2 = one("box2", "command");
	ck_assert_int_eq(quarantines_put(&q, &box2), 0);
	ck_assert_uint_eq(q.count, 2);
	ck_assert_int_eq(quarantines_drop(&q, "box1"), 0);
	ck_assert_int_eq(quarantines_drop(&q, "box1"), 0);
	quarantines_close(&q);

	ck_assert_int_eq(quarantines_open(&q, dir), 0);
	ck_assert_uint_eq(q.count, 1);
	ck_assert_ptr_null(quarantines_find(&q, "box1"));
	ck_assert_str_eq(quarantines_find(&q, "box2")->reason,
	    "tunnel-suspected");
	quarantines_close(&q);
}
END_TEST

static const char *const broken[] = {
	"",
	"namewall quarantine 2\n",
	HEAD "box1\n",
	HEAD "box1 5\n",
	HEAD "box1 5 command",
	HEAD "box1 5 command more\n",
	HEAD "box1 x command\n",
	HEAD "box1 5 command\nbox1 6 command\n",
	HEAD "box1 5 command\n\n",
};

START_TEST(what_is_not_whole_is_refused)
{
	struct quarantines q;

	write_file(broken[_i]);
	ck_assert_int_eq(quarantines_open(&q, dir), -EBADMSG);
	quarantines_close(&q);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	struct quarantines q;

	ck_assert_int_eq(symlinkat("/dev/null", dir, "quarantine"), 0);
	ck_assert_int_lt(quarantines_open(&q, dir), 0);
	quarantines_close(&q);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("quarantine", &all);

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, is_read_as_it_was_written);
	tcase_add_loop_test(all, what_is_not_whole_is_refused, 0,
	    (int)(sizeof(broken) / sizeof(broken[0])));
	tcase_add_test(all, a_link_is_not_followed);
	return unit_run(suite);
}

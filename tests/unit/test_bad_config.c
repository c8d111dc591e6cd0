/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every file of bad-config/ is refused with exactly the line in the .expect
 * file beside it: the place, what is wrong and what would be right.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/text_fixture.h"
#include "tests/unit/unit.h"

#define FILES_MIN 60

static bool
ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), tail = strlen(end);

	return len > tail && strcmp(name + len - tail, end) == 0;
}

/* The one line that is expected of a file. */
static void
read_expected(const char *folder, const char *name, char *buf, size_t size)
{
	char path[1024];
	size_t len;
	char *bytes;

	snprintf(path, sizeof(path), "%s/%.*s.expect", folder,
	    (int)(strlen(name) - strlen(".yaml")), name);
	bytes = fixture_slurp(path, &len);
	ck_assert_msg(len > 0 && bytes[len - 1] == '\n' && len < size,
	    "%s is not one line", path);
	memcpy(buf, bytes, len - 1);
	buf[len - 1] = '\0';
	free(bytes);
}

static void
check_file(const char *folder, const char *name)
{
	char path[1024], expected[1024], got[1024];
	struct text_error error = { .line = 0 };
	struct config *config = NULL;
	size_t size;
	char *bytes;
	int r;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	read_expected(folder, name, expected, sizeof(expected));
	bytes = fixture_slurp(path, &size);
	r = fixture_read(&config, name, bytes, size, &error);
	free(bytes);
	ck_assert_msg(r == -EINVAL, "%s: read without an error", name);
	ck_assert_ptr_null(config);
	fixture_print(&error, got);
	ck_assert_str_eq(got, expected);
}

START_TEST(every_bad_file_is_refused_with_its_message)
{
	char folder[512];
	struct dirent *entry;
	size_t files = 0, expectations = 0;
	DIR *dir;

	fixture_path("tests/unit/bad-config", folder);
	dir = opendir(folder);
	ck_assert_msg(dir != NULL, "cannot open %s", folder);
	while ((entry = readdir(dir)) != NULL) {
		if (ends_in(entry->d_name, ".expect"))
			expectations++;
		if (!ends_in(entry->d_name, ".yaml"))
			continue;
		files++;
		check_file(folder, entry->d_name);
	}
	closedir(dir);
	ck_assert_uint_ge(files, FILES_MIN);
	ck_assert_uint_eq(files, expectations);
}
END_TEST

int
main(void)
{
	TCase *all;
	Suite *suite = unit_suite("bad_config", &all);

	tcase_add_test(all, every_bad_file_is_refused_with_its_message);
	unit_covers("C44 E69 E74 E79 F89 O167");
	return unit_run(suite);
}

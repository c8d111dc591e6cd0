/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/text_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"

static const char suffixes[] = "// VERSION: 2026-11-30_00-00-00_UTC\n"
			       "com\nnet\norg\nuk\nco.uk\n"
			       "*.ck\n!www.ck\n*.kobe.jp\n!city.kobe.jp\n"
			       "github.io\ngithubusercontent.com\n"
			       "s3.amazonaws.com\n";

static const char small[] = "$TTL 60\n"
			    "small.invalid. SOA . . 1 2 3 4 5\n"
			    "$ORIGIN small.invalid.\n"
			    "one.example.com CNAME rpz-passthru.\n"
			    "*.two.example.com CNAME rpz-passthru.\n"
			    "three.example.com CNAME .\n";

static const char blocks[] = "$TTL 60\n"
			     "@ SOA . . 1 2 3 4 5\n"
			     "ads.example.com CNAME .\n"
			     "*.ads.example.com CNAME .\n";

static const char broken[] = "one.example.com allow\n";

static struct text_file
text_file(const char *name, const char *path, const char *bytes)
{
	struct text_file file = { .bytes = bytes, .size = strlen(bytes) };

	snprintf(file.name, sizeof(file.name), "%s", name);
	snprintf(file.path, sizeof(file.path), "%s", path);
	return file;
}

struct text_file
fixture_suffixes(void)
{
	return text_file("suffixes", "suffixes.dat", suffixes);
}

int
fixture_read(struct config **ret, const char *name, const char *bytes,
    size_t size, struct text_error *ret_error)
{
	static const uint8_t secret[16] = { 1, 2, 3 };
	struct text_file files[] = {
		fixture_suffixes(),
		text_file("zone:small", "small.zone", small),
		text_file("zone:blocks", "blocks.zone", blocks),
		text_file("zone:broken", "broken.zone", broken),
	};

	return config_read(ret, name, bytes, size, files, ARRAY_LEN(files),
	    secret, ret_error);
}

char *
fixture_slurp(const char *path, size_t *ret_size)
{
	FILE *stream = fopen(path, "rb");
	char *bytes = NULL;
	size_t used = 0, got = 0;

	ck_assert_msg(stream != NULL, "cannot open %s", path);
	do {
		used += got;
		bytes = realloc(bytes, used + 4096);
		ck_assert_ptr_nonnull(bytes);
		got = fread(bytes + used, 1, 4096, stream);
	} while (got > 0);
	fclose(stream);
	*ret_size = used;
	return bytes;
}

void
fixture_path(const char *path, char *buf)
{
	const char *top = getenv("srcdir");

	snprintf(buf, 512, "%s/%s", top != NULL ? top : ".", path);
}

void
fixture_print(const struct text_error *error, char *buf)
{
	snprintf(buf, 1024, "%s:%u:%u: %s", error->file, (unsigned)error->line,
	    (unsigned)error->column, error->reason);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target on files, and on the files of directories, once each.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

#define PATH_SIZE 4096

static unsigned count;

static void
die(const char *what, const char *path)
{
	fprintf(stderr, "%s: ", what);
	perror(path);
	exit(1);
}

static void
run_file(const char *path, size_t size)
{
	/* A block of its own size, so that every overrun is seen. */
	uint8_t *data = malloc(size == 0 ? 1 : size);
	FILE *file = fopen(path, "rb");

	if (file == NULL || data == NULL || fread(data, 1, size, file) != size)
		die("cannot read", path);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	count++;
}

static void
run_directory(const char *path)
{
	char name[PATH_SIZE];
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	if (dir == NULL)
		die("cannot open", path);
	while ((entry = readdir(dir)) != NULL) {
		int len =
		    snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);

		if (len < 0 || (size_t)len >= sizeof(name) ||
		    stat(name, &st) != 0)
			die("cannot find", path);
		if (S_ISREG(st.st_mode))
			run_file(name, (size_t)st.st_size);
	}
	closedir(dir);
}

int
main(int argc, char **argv)
{
	struct stat st;

	for (int i = 1; i < argc; i++) {
		if (stat(argv[i], &st) != 0)
			die("cannot find", argv[i]);
		if (S_ISDIR(st.st_mode))
			run_directory(argv[i]);
		else
			run_file(argv[i], (size_t)st.st_size);
	}
	printf("%s: %u inputs\n", argv[0], count);
	return count > 0 ? 0 : 1;
}

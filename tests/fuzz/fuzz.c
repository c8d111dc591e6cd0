/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/require.h"

_Noreturn void
require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}

struct dname
fuzz_name(const ldns_rdf *rdf)
{
	struct dname name;

	AGREE(dname_from_wire(ldns_rdf_data(rdf), ldns_rdf_size(rdf), &name));
	return name;
}

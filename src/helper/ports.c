/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ports - see ports.h. An address is tied to its port and, as owned, taken
 * from all others; so is a hardware address that is given.
 */
#include "config.h"

#include "src/helper/ports.h"

static struct member
of_twin(const char *set, struct element element)
{
	return (struct member){ set, element, true };
}

static size_t
put_source(const char *name, uint32_t port, const struct addr *source,
    struct member *ret)
{
	const char *owned = element_set("owned4", "owned6", source);
	size_t count = 0;

	ret[count++] = (struct member){
		.set = owned,
		.element = element_source(source),
	};
	ret[count++] = of_twin(owned, element_source(source));
	ret[count++] = of_twin(element_set("home4", "home6", source),
	    element_home(port, source));
	if (source->family == 4)
		return count;
	ret[count++] = of_twin("target6", element_port_target(name, source));
	ret[count++] = of_twin("owned_target6", element_source(source));
	return count;
}

size_t
ports_members(const struct edge_sandbox *sandbox, uint32_t port,
    struct member ret[PORTS_MEMBERS_MAX])
{
	const char *name = sandbox->interface;
	size_t count = 0;

	for (size_t i = 0; i < sandbox->source_count; i++)
		count +=
		    put_source(name, port, &sandbox->sources[i], ret + count);
	if (sandbox->has_mac) {
		ret[count++] =
		    of_twin("mac", element_port_mac(name, sandbox->mac));
		ret[count++] = of_twin("owned_mac", element_mac(sandbox->mac));
	} else {
		ret[count++] = of_twin(PORTS_ANYMAC, element_port(name));
	}
	return count;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_alerts - see policy_alerts.h.
 */
#include "lib/text/policy_alerts.h"

#include <string.h>

#include "lib/event.h"
#include "lib/require.h"
#include "lib/text/fields.h"
#include "lib/text/values.h"

/* Alerts that are about nobody whom one could cut off. */
static const char *
not_ascribed(enum event_action action)
{
	if (action == EVENT_SOURCE_SPOOFED)
		return "the address in such a packet is a lie, so it cannot be "
		       "ascribed to a sandbox";
	if (action == EVENT_PINS_LOST || action == EVENT_PINS_RESTORED)
		return "it is about the kernel's table, not about a sandbox";
	return NULL;
}

static int
read_alert(const char *file, const struct yaml_node *node, uint64_t *bits,
    struct text_error *ret_error)
{
	const char *names[EVENT_ACTION_LAST + 1], *nearest;
	size_t count = 0;

	for (int i = 0; i <= EVENT_ACTION_LAST; i++) {
		enum event_action action = (enum event_action)i;

		if (event_kind_of(action) != EVENT_KIND_ALERT)
			continue;
		names[count++] = event_action_name(action);
		if (strcmp(node->text, names[count - 1]) != 0)
			continue;
		if (not_ascribed(action) != NULL)
			return text_error_at(ret_error, file, node,
			    "\"%s\" cannot stand here: %s; leave it out",
			    node->text, not_ascribed(action));
		*bits |= UINT64_C(1) << i;
		return 0;
	}
	nearest = text_nearest(node->text, names, count);
	if (nearest != NULL)
		return text_error_at(ret_error, file, node,
		    "there is no alert \"%s\"; did you mean \"%s\"?",
		    node->text, nearest);
	return text_error_at(ret_error, file, node,
	    "there is no alert \"%s\"; write one such as tunnel-suspected",
	    node->text);
}

int
policy_alerts_read(const char *file, const struct yaml_node *list,
    uint64_t *ret, struct text_error *ret_error)
{
	int status = list == NULL ? 0
				  : value_list(file, list, EVENT_ACTION_LAST,
					"[tunnel-suspected]", ret_error);

	for (const struct yaml_node *n = list != NULL ? list->first : NULL;
	     status == 0 && n != NULL; n = n->next) {
		status = value_kind(file, n, YAML_SCALAR, "tunnel-suspected",
		    ret_error);
		if (status == 0)
			status = read_alert(file, n, ret, ret_error);
	}
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge_text - what both programs need to know of sandboxes and policies:
 * addresses, interfaces, services and private prefixes.
 *
 * The helper links this and nothing of DNS: names in rules are kept as text
 * and not looked at. Sandboxes are numbered from 1 in the order of the file,
 * as in lib/policy; both programs read the same bytes and so agree.
 */
#ifndef LIB_TEXT_EDGE_TEXT_H
#define LIB_TEXT_EDGE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/text/edge_ports.h"
#include "lib/text/settings.h"
#include "lib/text/yaml_tree.h"

#define EDGE_NAME_MAX            64
#define EDGE_SOURCES_MAX         8
#define EDGE_INBOUND_MAX         16
#define EDGE_ATTACH_PREFIXES_MAX 64

/* A rule that has a quota, by number (edge_uploads). */
struct edge_upload {
	uint64_t rule, octets; /* a day */
};

/* A policy as the guard sees it: the union over its rules and those of the
 * policies that it uses. */
struct edge_policy {
	char name[EDGE_NAME_MAX];
	uint32_t line, column;
	struct service *services; /* sorted, without duplicates */
	size_t service_count;
	struct prefix *private_ok;
	size_t private_count;
	bool audit; /* what is not protected may be reached without a pin */
	struct edge_upload *uploads;
	size_t upload_count;
	/* Those of the services that a rule without a quota names; sorted. */
	struct service *unmetered;
	size_t unmetered_count;
	bool attachable; /* in attach.policies */
};

/* Who may open flows of a service to a sandbox. */
struct edge_inbound {
	struct prefix from;
	struct service service;
};

struct edge_sandbox {
	char name[EDGE_NAME_MAX];
	uint32_t line, column;
	uint32_t policy; /* index */
	struct addr sources[EDGE_SOURCES_MAX];
	uint8_t source_count;
	/* With `each`, in place of sources: where those of its members lie. */
	struct prefix prefixes[EDGE_SOURCES_MAX];
	uint8_t prefix_count;
	char interface[SETTINGS_IFNAME_MAX]; /* "": by route */
	bool has_mac;
	uint8_t mac[TEXT_MAC_SIZE]; /* of its frames at a port of a bridge */
	struct edge_inbound *inbound; /* of the configuration */
	uint8_t inbound_count;
	bool dhcp; /* it may speak DHCP with this host */
	uint64_t upload; /* octets that it may send a day; 0: no bound */
	struct setting_label *labels; /* of the configuration */
	uint8_t label_count;
	bool attached; /* at run time: not of the file (edge_attach) */
	uint32_t each; /* attached: number of whom it is a member of, or 0 */
};

struct edge_config {
	struct settings settings;
	struct edge_sandbox *sandboxes;
	size_t sandbox_count; /* the highest number; some may be holes */
	uint32_t each_count; /* how many of them have members */
	/* By place in settings.listen: whose every question there is, or 0. */
	uint32_t listen_of[SETTINGS_LISTEN_MAX];
	/* What may be attached; 0 prefixes: nothing. */
	struct prefix attach_prefixes[EDGE_ATTACH_PREFIXES_MAX];
	size_t attach_prefix_count;
	/* Once room was reserved: numbers behind the first are of attached
	 * ones, and there are none behind the second. */
	uint32_t file_numbers_max, numbers_max;
	uint32_t attached_count;
	struct edge_policy *policies;
	size_t policy_count;
	char (*lists)[EDGE_NAME_MAX]; /* names after `list:`, each once */
	size_t list_count;
};

/*
 * Reads a whole configuration but for names and zone files. Checks across
 * sections belong here: sources unique and of no listener, upstream or
 * protected loopback; hardware addresses unique; interface governed by edge;
 * policies and `use` known; an upstream that is a listener. 0, -EINVAL or
 * -ENOMEM.
 */
int edge_config_read(struct edge_config **ret, const char *file,
    const struct yaml_node *root, struct text_error *ret_error);
void edge_config_free(struct edge_config *);

#endif

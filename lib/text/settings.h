/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings - the top level of the configuration, driven by one table.
 *
 * Everything of contract section 2 is read and validated. A key that belongs
 * to a later version is an error that says "not in this version yet"; an
 * unknown one is an error that names the nearest known key. Plain values with
 * fixed limits; the struct owns nothing but itself.
 */
#ifndef LIB_TEXT_SETTINGS_H
#define LIB_TEXT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/text/values.h"
#include "lib/text/yaml_tree.h"

#define SETTINGS_LISTEN_LIST_MAX 16 /* of one list */
#define SETTINGS_LISTEN_MAX      64 /* of all sandboxes too */
#define SETTINGS_EDGE_MAX        256
#define SETTINGS_UPSTREAM_MAX    16
#define SETTINGS_FORWARD_MAX     64
#define SETTINGS_SINKS_MAX       8
#define SETTINGS_LABELS_MAX      16
#define SETTINGS_INCLUDE_MAX     16
#define SETTINGS_IFNAME_MAX      16 /* IFNAMSIZ */
#define SETTINGS_PATH_MAX        256
#define SETTINGS_RESOLVERS_MAX   4 /* of one forward zone */

struct forward_zone {
	char zone[256]; /* text as written; a dname by load */
	uint32_t line, column;
	struct endpoint resolvers[SETTINGS_RESOLVERS_MAX];
	uint8_t resolver_count;
};

enum sink_kind {
	SINK_STDOUT,
	SINK_FILE,
	SINK_SYSLOG
};

#define SINK_ALL 7 /* every kind */

struct sink_setting {
	enum sink_kind kind;
	char path[SETTINGS_PATH_MAX]; /* file, local socket, or the URL */
	uint8_t transport; /* syslog: PROTO_UDP, PROTO_TCP, 0: local socket */
	struct endpoint to; /* unless it is local */
	uint8_t only; /* bits 1 << enum event_kind (event 0, alert 1, metric
			 2); all bits when not given */
};

struct setting_label {
	char key[64], value[256];
};

struct settings {
	char file[SETTINGS_PATH_MAX];
	struct endpoint
	    listen[SETTINGS_LISTEN_MAX]; /* sandboxes' too, behind */
	uint16_t listen_count;
	char edge[SETTINGS_EDGE_MAX][SETTINGS_IFNAME_MAX]; /* "tap*" too */
	uint16_t edge_count;
	struct endpoint upstream[SETTINGS_UPSTREAM_MAX];
	uint16_t upstream_count;
	struct forward_zone forward[SETTINGS_FORWARD_MAX];
	uint16_t forward_count;
	struct sink_setting sinks[SETTINGS_SINKS_MAX];
	uint16_t sink_count; /* default: one stdout */
	struct setting_label labels[SETTINGS_LABELS_MAX];
	uint16_t label_count;

	char status_path[SETTINGS_PATH_MAX]; /* control.status_path */
	char status_group[64]; /* control.status_group */
	char control_path[SETTINGS_PATH_MAX];
	char control_group[64];

	bool nft_sets; /* mode: pins go into sets of the operator's */
	char nft_pins4[32], nft_pins6[32]; /* which */
	char nft_table[32];
	int32_t nft_priority; /* -150 */
	bool nft_masquerade;
	uint16_t nft_log_group; /* 5 */
	uint32_t
	    nft_log_rate; /* log_rate: packets a second, for each sandbox */

	uint32_t attach_count_max;
	uint32_t pin_floor_ms, pin_cap_ms, pin_grace_ms;
	uint32_t warm_ms; /* how long what was paid is kept warm */
	uint32_t tick_ms; /* on whose multiples asks leave */
	uint32_t budget_sandbox; /* bounds.sandbox, 1/256 bit */
	uint32_t ttl_floor_s, ttl_cap_s, ttl_negative_s;
	struct protected_ranges protected_ranges; /* except and nat64 only */

	struct {
		uint32_t queries, queries_per_sandbox; /* 4096, 512 */
		uint32_t lookups, lookups_per_sandbox; /* 4096, 512 */
		uint32_t scheduled_names; /* 2000 */
		uint32_t warm_names, warm_names_per_sandbox; /* 16384, 1024 */
		uint32_t cache, cache_per_sandbox; /* 8192, 2048 */
		uint32_t pins, pins_per_sandbox; /* 65536, 8192 */
		uint32_t pin_rate_per_sandbox; /* pins a second: 2000 */
		uint32_t flows_per_sandbox; /* 4096 */
		uint32_t tcp_connections; /* 1024 */
		uint32_t tcp_connections_per_sandbox; /* 64 */
		uint32_t tunnel_keys, tunnel_keys_per_sandbox; /* 16384, 1024 */
		uint32_t events_in_memory; /* 10000 */
		uint32_t budget_keys; /* 16384 */
		uint32_t rules; /* 200000 */
	} limits;

	char public_suffixes[SETTINGS_PATH_MAX];
	char state_dir[SETTINGS_PATH_MAX];
	char user[64];
};

/* Reads the top level; of sandboxes and policies only that they are maps.
 * *ret is good only when 0 is returned. 0 or -EINVAL. */
int settings_read(struct settings *ret, const char *file,
    const struct yaml_node *root, struct text_error *ret_error);
/* The labels of the top level or of a sandbox. 0 or -EINVAL. */
int settings_labels_read(const char *file, const struct yaml_node *map,
    struct setting_label *ret, uint16_t *ret_count,
    struct text_error *ret_error);
/* Whether an interface is one of the edge; where rules are the operator's, any
 * may be. */
bool settings_governs(const struct settings *, const char *interface);
/* What the kernel takes for the name of an interface; a star may end it. */
bool text_is_interface(const char *name);

/* One key for the manual and its test. */
struct setting_doc {
	const char *name; /* "pins.floor"; "rule.name" in a rule */
	const char *fallback; /* NULL: none */
	const char *help;
};
/* By index from 0; false behind the last one. */
bool settings_doc(size_t index, struct setting_doc *ret);

#endif

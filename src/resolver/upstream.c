/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upstream - see upstream.h.
 */
#include "config.h"

#include "src/resolver/upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define MESSAGE_MAX         65535
#define UPSTREAM_ROUTES_MAX (SETTINGS_FORWARD_MAX + 1)
#define UPSTREAM_SERVERS_MAX \
	(SETTINGS_UPSTREAM_MAX + SETTINGS_FORWARD_MAX * SETTINGS_RESOLVERS_MAX)

/* ---- servers and routes ---------------------------------------------- */

/* The server of an endpoint; each is there once, whoever names it. */
static uint32_t
server_of(struct upstream *u, const struct endpoint *endpoint)
{
	struct upstream_server *server;

	for (uint32_t i = 0; i < u->server_count; i++) {
		server = &u->servers[i];
		if (server->endpoint.port == endpoint->port &&
		    addr_equal(&server->endpoint.addr, &endpoint->addr))
			return i;
	}
	server = &u->servers[u->server_count];
	server->endpoint = *endpoint;
	return u->server_count++;
}

static void
add_route(struct upstream *u, const struct dname *zone,
    const struct endpoint *endpoints, size_t count)
{
	struct upstream_route *route = &u->routes[u->route_count++];

	route->zone = *zone;
	for (size_t i = 0; i < count && i < CHOICE_MAX; i++)
		route->servers[route->server_count++] =
		    server_of(u, &endpoints[i]);
}

/* The route of the longest zone that the name is at or below. */
static uint32_t
route_of(const struct upstream *u, const struct dname *name)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < u->route_count; i++) {
		const struct dname *zone = &u->routes[i].zone;

		if (zone->labels > u->routes[best].zone.labels &&
		    (dname_equal(name, zone) || dname_is_below(name, zone)))
			best = i;
	}
	return best;
}

static int
allocate(struct upstream *u)
{
	u->servers = calloc(UPSTREAM_SERVERS_MAX, sizeof(*u->servers));
	u->routes = calloc(UPSTREAM_ROUTES_MAX, sizeof(*u->routes));
	u->flights = calloc(u->flights_max, sizeof(*u->flights));
	u->receive_buf = malloc(MESSAGE_MAX);
	if (u->servers == NULL || u->routes == NULL || u->flights == NULL ||
	    u->receive_buf == NULL)
		return -ENOMEM;
	for (uint32_t i = u->flights_max; i-- > 0;) {
		u->flights[i].younger = u->free_head;
		u->free_head = i;
	}
	for (uint32_t i = 0; i < UPSTREAM_BUCKETS; i++)
		u->buckets[i] = FLIGHT_NONE;
	return 0;
}

static void
add_routes(struct upstream *u, const struct config *config)
{
	const struct settings *settings = &config->edge->settings;
	struct dname root;

	dname_root(&root);
	add_route(u, &root, settings->upstream, settings->upstream_count);
	for (uint16_t i = 0; i < settings->forward_count; i++)
		add_route(u, &config->forward_names[i],
		    settings->forward[i].resolvers,
		    settings->forward[i].resolver_count);
}

int
upstream_open(struct upstream *u, struct daemon *daemon,
    const struct config *config, uint32_t flights_max)
{
	int r;

	memset(u, 0, sizeof(*u));
	u->daemon = daemon;
	u->loop = &daemon->loop;
	u->rng = &daemon->rng;
	u->flights_max = flights_max;
	u->free_head = u->failed_head = FLIGHT_NONE;
	u->oldest = u->youngest = FLIGHT_NONE;
	r = allocate(u);
	if (r == 0)
		add_routes(u, config);
	return r;
}

uint64_t
upstream_now_ms(const struct upstream *u)
{
	return u->daemon->now_ms;
}

/* ---- flights --------------------------------------------------------- */

static uint32_t
index_of(const struct upstream *u, const struct flight *f)
{
	return (uint32_t)(f - u->flights);
}

static struct upstream_server *
server_at(const struct upstream *u, const struct flight *f)
{
	return &u->servers[u->routes[f->route].servers[f->choice]];
}

static const struct upstream_ops *
ops_of(const struct flight *f)
{
	return f->ask.stream ? &upstream_tcp_ops : &upstream_udp_ops;
}

/* The youngest has the latest deadline, since all tries take as long. */
static void
start_waiting(struct upstream *u, struct flight *f)
{
	uint32_t index = index_of(u, f);
	uint32_t *bucket = &u->buckets[f->ask.id % UPSTREAM_BUCKETS];

	f->sent_ms = upstream_now_ms(u);
	f->deadline_ms = f->sent_ms + UPSTREAM_TRY_MS;
	f->older = u->youngest;
	f->younger = FLIGHT_NONE;
	if (u->youngest != FLIGHT_NONE)
		u->flights[u->youngest].younger = index;
	else
		u->oldest = index;
	u->youngest = index;
	f->bucket_next = *bucket;
	*bucket = index;
}

static void
stop_waiting(struct upstream *u, struct flight *f)
{
	uint32_t index = index_of(u, f);
	uint32_t *link = &u->buckets[f->ask.id % UPSTREAM_BUCKETS];

	while (*link != index)
		link = &u->flights[*link].bucket_next;
	*link = f->bucket_next;
	if (f->older != FLIGHT_NONE)
		u->flights[f->older].younger = f->younger;
	else
		u->oldest = f->younger;
	if (f->younger != FLIGHT_NONE)
		u->flights[f->younger].older = f->older;
	else
		u->youngest = f->older;
	ops_of(f)->cancel(f);
	f->carrier = NULL;
}

static void
give_back(struct upstream *u, struct flight *f)
{
	f->younger = u->free_head;
	u->free_head = index_of(u, f);
	u->flights_used--;
}

/* Whom to ask next; CHOICE_NONE: nobody. */
static uint32_t
choose(struct upstream *u, struct flight *f)
{
	const struct upstream_route *route = &u->routes[f->route];
	const struct server_health *health[CHOICE_MAX];
	uint32_t choice;

	for (uint32_t i = 0; i < route->server_count; i++)
		health[i] = &u->servers[route->servers[i]].health;
	choice = upstream_choose(health, route->server_count, f->trail.tried,
	    rng_u32(u->rng), upstream_now_ms(u));
	/* Where silence met us everywhere, silence may have been a loss. */
	if (choice == CHOICE_NONE && f->trail.silent > 0 && !f->trail.broken) {
		f->trail.tried = 0;
		choice = upstream_choose(health, route->server_count, 0,
		    rng_u32(u->rng), upstream_now_ms(u));
	}
	return choice;
}

/* Whether there is somebody to ask after what was tried. */
static bool
is_hopeful(const struct upstream *u, const struct flight *f)
{
	uint32_t all = (1u << u->routes[f->route].server_count) - 1;

	if (f->trail.silent >= UPSTREAM_SILENT_MAX ||
	    f->trail.tries >= UPSTREAM_TRIES_MAX)
		return false;
	return (f->trail.tried & all) != all ||
	    (f->trail.silent > 0 && !f->trail.broken);
}

/* The try is over without an answer; the daemon fetches it when it may. */
static void
give_up(struct upstream *u, struct flight *f)
{
	f->again = is_hopeful(u, f);
	f->younger = u->failed_head;
	u->failed_head = index_of(u, f);
}

/* Sends to the first server that can be sent to: what could not be sent has
 * not left, so the next one is tried at once. */
static void
send_out(struct upstream *u, struct flight *f)
{
	struct upstream_server *server;

	while (f->trail.tries < UPSTREAM_TRIES_MAX &&
	    (f->choice = choose(u, f)) != CHOICE_NONE) {
		f->trail.tried |= 1u << f->choice;
		f->trail.tries++;
		server = server_at(u, f);
		if (ops_of(f)->ask(u, server, f) == 0) {
			server->asked++;
			start_waiting(u, f);
			return;
		}
		health_failed(&server->health, upstream_now_ms(u));
		u->not_sent++;
	}
	give_up(u, f);
}

void
upstream_ask(struct upstream *u, uint64_t lookup, uint8_t part,
    const struct ask *ask, const struct ask_trail *trail)
{
	struct flight *f;

	/* The core has fewer lookups than there are flights; the lookup's own
	 * deadline would end it. */
	if (u->free_head == FLIGHT_NONE) {
		log_error("upstream", "an ask was lost: no room");
		return;
	}
	f = &u->flights[u->free_head];
	u->free_head = f->younger;
	u->flights_used++;
	*f = (struct flight){ .lookup = lookup,
		.part = part,
		.ask = *ask,
		.trail = *trail,
		.route = route_of(u, &ask->name) };
	send_out(u, f);
}

static bool
same_route(const struct upstream *u, const struct upstream_route *route,
    const struct endpoint *endpoints, size_t count)
{
	if (route->server_count != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct endpoint *endpoint =
		    &u->servers[route->servers[i]].endpoint;

		if (endpoint->port != endpoints[i].port ||
		    !addr_equal(&endpoint->addr, &endpoints[i].addr))
			return false;
	}
	return true;
}

static bool
same_routes(const struct upstream *u, const struct config *config)
{
	const struct settings *settings = &config->edge->settings;

	if (u->route_count != settings->forward_count + 1u ||
	    !same_route(u, &u->routes[0], settings->upstream,
		settings->upstream_count))
		return false;
	for (uint16_t i = 0; i < settings->forward_count; i++)
		if (!dname_equal(&u->routes[i + 1].zone,
			&config->forward_names[i]) ||
		    !same_route(u, &u->routes[i + 1],
			settings->forward[i].resolvers,
			settings->forward[i].resolver_count))
			return false;
	return true;
}

static void
close_servers(struct upstream *u)
{
	for (uint32_t i = 0; i < u->server_count; i++) {
		upstream_udp_ops.close(&u->servers[i]);
		upstream_tcp_ops.close(&u->servers[i]);
	}
	u->server_count = 0;
}

/* What is under way begins anew with the new servers. */
static void
recall_flights(struct upstream *u)
{
	while (u->oldest != FLIGHT_NONE) {
		struct flight *f = &u->flights[u->oldest];

		stop_waiting(u, f);
		give_up(u, f);
	}
	for (uint32_t i = u->failed_head; i != FLIGHT_NONE;
	     i = u->flights[i].younger) {
		memset(&u->flights[i].trail, 0, sizeof(u->flights[i].trail));
		u->flights[i].again = true;
	}
}

void
upstream_follow(struct upstream *u, const struct config *config)
{
	if (same_routes(u, config))
		return;
	recall_flights(u);
	close_servers(u);
	memset(u->servers, 0, UPSTREAM_SERVERS_MAX * sizeof(*u->servers));
	memset(u->routes, 0, UPSTREAM_ROUTES_MAX * sizeof(*u->routes));
	u->route_count = 0;
	add_routes(u, config);
}

bool
upstream_next_failure(struct upstream *u, struct upstream_failure *ret)
{
	struct flight *f;

	if (u->failed_head == FLIGHT_NONE)
		return false;
	f = &u->flights[u->failed_head];
	u->failed_head = f->younger;
	ret->lookup = f->lookup;
	ret->part = f->part;
	ret->again = f->again;
	ret->trail = f->trail;
	if (f->trail.broken)
		ret->why = ASK_BROKEN;
	else
		ret->why = f->trail.silent > 0 ? ASK_SILENT : ASK_NOT_SENT;
	give_back(u, f);
	return true;
}

/* ---- responses ------------------------------------------------------- */

static struct flight *
find(const struct upstream *u, const void *carrier, const uint8_t *wire,
    size_t len)
{
	uint32_t i;

	if (len < DNS_HEADER_SIZE)
		return NULL;
	i = u->buckets[(unsigned)(wire[0] << 8 | wire[1]) % UPSTREAM_BUCKETS];
	for (; i != FLIGHT_NONE; i = u->flights[i].bucket_next) {
		struct flight *f = &u->flights[i];

		if (f->carrier == carrier && ask_matches(&f->ask, wire, len))
			return f;
	}
	return NULL;
}

/* Whether another server may know better. */
static bool
is_refusal(const uint8_t *wire)
{
	switch (wire[DNS_OFFSET_FLAGS + 1] & DNS_FLAG_RCODE) {
	case DNS_RCODE_NOERROR:
	case DNS_RCODE_NXDOMAIN:
		return false;
	default:
		return true;
	}
}

bool
upstream_received(struct upstream *u, const void *carrier, const uint8_t *wire,
    size_t len)
{
	struct flight *f = find(u, carrier, wire, len);
	struct upstream_server *server;
	uint64_t lookup;
	uint8_t part;

	if (f == NULL) {
		u->foreign++;
		return false;
	}
	server = server_at(u, f);
	health_answered(&server->health,
	    (uint32_t)(upstream_now_ms(u) - f->sent_ms));
	stop_waiting(u, f);
	if (is_refusal(wire)) {
		server->broken++;
		f->trail.broken = true;
		give_up(u, f);
		daemon_pump(u->daemon);
		return true;
	}
	server->answered++;
	lookup = f->lookup;
	part = f->part;
	give_back(u, f);
	daemon_answer(u->daemon, lookup, part, wire, len);
	return true;
}

void
upstream_carrier_lost(struct upstream *u, const void *carrier, bool again)
{
	uint32_t i = u->oldest;

	while (i != FLIGHT_NONE) {
		struct flight *f = &u->flights[i];
		uint32_t next = f->younger;

		if (f->carrier == carrier) {
			struct upstream_server *server = server_at(u, f);

			stop_waiting(u, f);
			server->broken++;
			if (again)
				f->trail.tried &= ~(1u << f->choice);
			else
				health_failed(&server->health,
				    upstream_now_ms(u));
			f->trail.broken = true;
			give_up(u, f);
		}
		i = next;
	}
}

uint64_t
upstream_deadline(const struct upstream *u)
{
	uint64_t links = upstream_tcp_deadline(u);
	uint64_t first = u->oldest == FLIGHT_NONE
	    ? DEADLINE_NEVER
	    : u->flights[u->oldest].deadline_ms;

	return first < links ? first : links;
}

void
upstream_expire(struct upstream *u, uint64_t now_ms)
{
	while (u->oldest != FLIGHT_NONE &&
	    u->flights[u->oldest].deadline_ms <= now_ms) {
		struct flight *f = &u->flights[u->oldest];
		struct upstream_server *server = server_at(u, f);

		server->silent++;
		health_failed(&server->health, now_ms);
		stop_waiting(u, f);
		f->trail.silent++;
		if (f->ask.stream)
			upstream_tcp_silent(server);
		give_up(u, f);
	}
	upstream_tcp_expire(u, now_ms);
}

void
upstream_close(struct upstream *u)
{
	close_servers(u);
	free(u->servers);
	free(u->routes);
	free(u->flights);
	free(u->receive_buf);
	u->servers = NULL;
	u->routes = NULL;
	u->flights = NULL;
	u->receive_buf = NULL;
}

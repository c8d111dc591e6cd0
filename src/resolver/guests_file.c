/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guests_file - see guests_file.h. Of a body:
 *
 *   0   1 sources           1   3 zero              4   4 interface index
 *   8  64 name             72  64 policy          136  64 each
 * 200  16 interface       216     sources: family (1), address (16)
 */
#include "config.h"

#include "src/resolver/guests_file.h"

#include <net/if.h>
#include <string.h>

#include "lib/cursor.h"
#include "src/resolver/daemon.h"
#include "src/resolver/log.h"

#define SOURCE_SIZE 17

_Static_assert(216 + EDGE_SOURCES_MAX * SOURCE_SIZE <= RECORDS_BODY,
    "all sources fit");

void
guest_record_print(uint8_t ret[RECORDS_BODY], const struct guest_record *r)
{
	struct cursor c = cursor_write_of(ret, RECORDS_BODY);

	memset(ret, 0, RECORDS_BODY);
	cursor_put_u32(&c, (uint32_t)r->source_count << 24);
	cursor_put_u32(&c, r->ifindex);
	cursor_put_bytes(&c, r->name, sizeof(r->name));
	cursor_put_bytes(&c, r->policy, sizeof(r->policy));
	cursor_put_bytes(&c, r->each, sizeof(r->each));
	cursor_put_bytes(&c, r->interface, sizeof(r->interface));
	for (uint8_t i = 0; i < r->source_count; i++) {
		cursor_put_u8(&c, r->sources[i].family);
		cursor_put_bytes(&c, r->sources[i].bytes, 16);
	}
}

static void
read_text(struct cursor *c, char *ret, size_t size)
{
	cursor_bytes(c, ret, size);
	ret[size - 1] = '\0';
}

bool
guest_record_read(struct guest_record *ret, const uint8_t body[RECORDS_BODY])
{
	struct cursor c = cursor_read_of(body, RECORDS_BODY);

	memset(ret, 0, sizeof(*ret));
	ret->source_count = (uint8_t)(cursor_u32(&c) >> 24);
	ret->ifindex = cursor_u32(&c);
	read_text(&c, ret->name, sizeof(ret->name));
	read_text(&c, ret->policy, sizeof(ret->policy));
	read_text(&c, ret->each, sizeof(ret->each));
	read_text(&c, ret->interface, sizeof(ret->interface));
	if (ret->source_count == 0 || ret->source_count > EDGE_SOURCES_MAX ||
	    ret->name[0] == '\0')
		return false;
	for (uint8_t i = 0; i < ret->source_count; i++) {
		ret->sources[i].family = cursor_u8(&c);
		cursor_bytes(&c, ret->sources[i].bytes, 16);
		if (ret->sources[i].family != 4 && ret->sources[i].family != 6)
			return false;
	}
	return true;
}

void
guests_file_write(struct daemon *d, uint32_t number)
{
	const struct edge_config *edge = d->config->edge;
	const struct edge_sandbox *sandbox = &edge->sandboxes[number - 1];
	const struct edge_sandbox *of = NULL;
	struct guest_record record = { .source_count = sandbox->source_count,
		.ifindex = d->bindings[number].ifindex };
	uint8_t body[RECORDS_BODY];

	memcpy(record.name, sandbox->name, sizeof(record.name));
	if (sandbox->each != 0)
		of = &edge->sandboxes[sandbox->each - 1];
	if (of != NULL)
		memcpy(record.each, of->name, sizeof(record.each));
	if (of == NULL || of->policy != sandbox->policy)
		memcpy(record.policy, edge->policies[sandbox->policy].name,
		    sizeof(record.policy));
	memcpy(record.interface, sandbox->interface, sizeof(record.interface));
	memcpy(record.sources, sandbox->sources, sizeof(record.sources));
	guest_record_print(body, &record);
	records_write(&d->guests.file, number - d->guests.first, body);
}

void
guests_file_clear(struct guests *g, uint32_t number)
{
	records_clear(&g->file, number - g->first);
}

/* By which interface it is to be bound: the one of its name, which may have
 * another index after a boot. One that was bound by route is again. */
static bool
find_interface(const struct guest_record *record, uint32_t *ret_ifindex)
{
	*ret_ifindex = 0;
	if (record->interface[0] == '\0')
		return true;
	*ret_ifindex = if_nametoindex(record->interface);
	return *ret_ifindex != 0;
}

static void
come_back(struct daemon *d, const struct guest_record *record)
{
	struct edge_attach request = { .source_count = record->source_count };
	uint32_t ifindex;

	memcpy(request.name, record->name, sizeof(request.name));
	memcpy(request.sources, record->sources, sizeof(request.sources));
	memcpy(request.interface, record->interface, sizeof(request.interface));
	if (record->each[0] != '\0') {
		request.each = guests_find(d, record->each);
		if (request.each == 0)
			return;
	}
	request.policy = record->policy[0] == '\0' && request.each != 0
	    ? d->config->edge->sandboxes[request.each - 1].policy
	    : guests_policy(d, record->policy);
	if (!find_interface(record, &ifindex)) {
		guests_stay_away(d, record->name,
		    "its interface does not exist");
		return;
	}
	guests_come_back(d, &request, ifindex);
}

void
guests_recall(struct daemon *d)
{
	struct records *file = &d->guests.file;
	struct guest_record record;
	const uint8_t *body;
	uint32_t index = 0, count = 0;

	while ((body = records_next(file, &index)) != NULL) {
		if (!guest_record_read(&record, body))
			continue;
		come_back(d, &record);
		count++;
	}
	if (file->torn > 0)
		log_warn("state", "%llu records of sandboxes were not whole",
		    (unsigned long long)file->torn);
	if (count > 0)
		log_info("attach", "%u sandboxes were attached",
		    (unsigned)count);
}

void
guests_settle(struct daemon *d)
{
	int r = records_settle(&d->guests.file);

	if (r != 0)
		log_error("state", "attached sandboxes are not kept: %s",
		    strerror(-r));
}

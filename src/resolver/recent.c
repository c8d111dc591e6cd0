/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent - see recent.h.
 */
#include "config.h"

#include "src/resolver/recent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"

int
recent_open(struct recent *r, uint32_t entries_max, uint32_t sandboxes_max)
{
	uint32_t blocks_max = entries_max * RECENT_BLOCKS_FOR_EVENT;

	/* The longest line must fit once everything else is gone. */
	if (blocks_max < EVENT_LINE_MAX / RECENT_BLOCK_SIZE)
		blocks_max = EVENT_LINE_MAX / RECENT_BLOCK_SIZE;
	*r = (struct recent){ .entries_max = entries_max,
		.blocks_max = blocks_max,
		.sandboxes_max = sandboxes_max,
		.oldest = RECENT_NONE,
		.newest = RECENT_NONE,
		.entry_free = RECENT_NONE,
		.block_free = RECENT_NONE };
	r->entries = calloc(entries_max, sizeof(*r->entries));
	r->blocks = calloc(blocks_max, sizeof(*r->blocks));
	r->block_next = calloc(blocks_max, sizeof(*r->block_next));
	r->sandboxes = calloc(sandboxes_max, sizeof(*r->sandboxes));
	if (r->entries == NULL || r->blocks == NULL || r->block_next == NULL ||
	    r->sandboxes == NULL) {
		recent_close(r);
		return -ENOMEM;
	}
	for (uint32_t i = entries_max; i-- > 0;) {
		r->entries[i].newer = r->entry_free;
		r->entry_free = i;
	}
	for (uint32_t i = blocks_max; i-- > 0;) {
		r->block_next[i] = r->block_free;
		r->block_free = i;
	}
	for (uint32_t i = 0; i < sandboxes_max; i++)
		r->sandboxes[i] = (struct recent_queue){ .oldest = RECENT_NONE,
			.newest = RECENT_NONE };
	return 0;
}

void
recent_close(struct recent *r)
{
	free(r->entries);
	free(r->blocks);
	free(r->block_next);
	free(r->sandboxes);
	memset(r, 0, sizeof(*r));
}

static void
give_blocks(struct recent *r, uint32_t block)
{
	while (block != RECENT_NONE) {
		uint32_t next = r->block_next[block];

		r->block_next[block] = r->block_free;
		r->block_free = block;
		block = next;
	}
}

/* Forgets an entry. It must be the oldest of its sandbox, which the oldest of
 * all is too. */
static void
drop(struct recent *r, uint32_t index)
{
	struct recent_entry *entry = &r->entries[index];
	struct recent_queue *queue = &r->sandboxes[entry->tag.sandbox];

	REQUIRE(entry->used && queue->oldest == index);
	queue->oldest = entry->sandbox_newer;
	if (queue->oldest == RECENT_NONE)
		queue->newest = RECENT_NONE;
	queue->count--;
	if (entry->older != RECENT_NONE)
		r->entries[entry->older].newer = entry->newer;
	else
		r->oldest = entry->newer;
	if (entry->newer != RECENT_NONE)
		r->entries[entry->newer].older = entry->older;
	else
		r->newest = entry->older;
	r->count--;
	give_blocks(r, entry->block);
	entry->used = false;
	entry->newer = r->entry_free;
	r->entry_free = index;
}

/* A chain of blocks that holds the line; makes room as it needs it. */
static uint32_t
store_line(struct recent *r, const char *line, size_t len)
{
	uint32_t first = RECENT_NONE, last = RECENT_NONE;

	for (size_t at = 0; at < len; at += RECENT_BLOCK_SIZE) {
		size_t part = len - at;
		uint32_t block;

		if (part > RECENT_BLOCK_SIZE)
			part = RECENT_BLOCK_SIZE;
		while (r->block_free == RECENT_NONE)
			drop(r, r->oldest);
		block = r->block_free;
		r->block_free = r->block_next[block];
		r->block_next[block] = RECENT_NONE;
		memcpy(r->blocks[block], line + at, part);
		if (last == RECENT_NONE)
			first = block;
		else
			r->block_next[last] = block;
		last = block;
	}
	return first;
}

/* Puts a filled entry at the young end of both queues. */
static void
link_newest(struct recent *r, uint32_t index)
{
	struct recent_entry *entry = &r->entries[index];
	struct recent_queue *queue = &r->sandboxes[entry->tag.sandbox];

	entry->older = r->newest;
	if (r->newest != RECENT_NONE)
		r->entries[r->newest].newer = index;
	else
		r->oldest = index;
	r->newest = index;
	if (queue->newest != RECENT_NONE)
		r->entries[queue->newest].sandbox_newer = index;
	else
		queue->oldest = index;
	queue->newest = index;
	queue->count++;
	r->count++;
}

void
recent_put(struct recent *r, const struct recent_tag *tag, const char *line,
    size_t len)
{
	struct recent_queue *queue;
	uint32_t index, block;

	REQUIRE(len > 0 && len <= EVENT_LINE_MAX);
	REQUIRE(tag->sandbox < r->sandboxes_max);
	queue = &r->sandboxes[tag->sandbox];
	if (queue->count >= RECENT_PER_SANDBOX_MAX)
		drop(r, queue->oldest);
	if (r->entry_free == RECENT_NONE)
		drop(r, r->oldest);
	block = store_line(r, line, len);
	index = r->entry_free;
	r->entry_free = r->entries[index].newer;
	r->entries[index] = (struct recent_entry){ .tag = *tag,
		.used = true,
		.len = (uint16_t)len,
		.block = block,
		.newer = RECENT_NONE,
		.sandbox_newer = RECENT_NONE };
	link_newest(r, index);
}

void
recent_part(struct recent *r, uint32_t sandbox)
{
	uint32_t index;

	REQUIRE(sandbox < r->sandboxes_max);
	index = r->sandboxes[sandbox].oldest;
	for (; index != RECENT_NONE; index = r->entries[index].sandbox_newer)
		r->entries[index].tag.parted = true;
}

uint32_t
recent_after(const struct recent *r, uint64_t sequence, uint32_t hint)
{
	uint32_t index = r->newest, found = RECENT_NONE;

	if (hint < r->entries_max && r->entries[hint].used &&
	    r->entries[hint].tag.sequence == sequence)
		return r->entries[hint].newer;
	while (
	    index != RECENT_NONE && r->entries[index].tag.sequence > sequence) {
		found = index;
		index = r->entries[index].older;
	}
	return found;
}

size_t
recent_line(const struct recent *r, uint32_t index, char *buf, size_t size)
{
	const struct recent_entry *entry = &r->entries[index];
	uint32_t block = entry->block;

	REQUIRE(entry->used);
	if (entry->len > size)
		return 0;
	for (size_t at = 0; at < entry->len; at += RECENT_BLOCK_SIZE) {
		size_t part = entry->len - at;

		if (part > RECENT_BLOCK_SIZE)
			part = RECENT_BLOCK_SIZE;
		memcpy(buf + at, r->blocks[block], part);
		block = r->block_next[block];
	}
	return entry->len;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reload - see reload.h. This file has the conversation with the resolver;
 * switching.c what changes in the kernel.
 */
#include "config.h"

#include "src/helper/reload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/helper/handover.h"
#include "src/helper/log.h"
#include "src/helper/source.h"
#include "src/helper/switching.h"

/* What is passed on: the list of names, the configuration, the files. */
struct bundle {
	int fds[HELPER_RELOAD_MAX + 1];
	size_t count;
	FILE *names; /* NAME=PATH and a NUL for each but the first */
	char *names_text;
	size_t names_len;
};

void
reload_want(struct helper *helper)
{
	helper->reload.wanted = true;
}

static void
forget(struct reload *reload)
{
	edge_config_free(reload->next);
	reload->next = NULL;
	reload->phase = RELOAD_IDLE;
}

/* The resolver tells it: to whoever asked, in the log, and as an event. */
static void
refuse(struct helper *helper, const char *reason)
{
	int fd = handover_seal("reason", reason, strlen(reason));

	forget(&helper->reload);
	if (fd < 0) {
		log_error("reload: %s", strerror(-fd));
		return;
	}
	helper_send_fds(helper,
	    &(struct helper_msg){ .op = HELPER_REFUSED, .count = 1 }, &fd, 1);
	close(fd);
}

static bool
begin_bundle(struct bundle *bundle)
{
	bundle->fds[0] = -1; /* the list of names, once it is complete */
	bundle->count = 1;
	bundle->names = open_memstream(&bundle->names_text, &bundle->names_len);
	return bundle->names != NULL;
}

static void
end_bundle(struct bundle *bundle)
{
	for (size_t i = 0; i < bundle->count; i++)
		if (bundle->fds[i] >= 0)
			close(bundle->fds[i]);
	if (bundle->names != NULL)
		fclose(bundle->names);
	free(bundle->names_text);
}

static void
add_name(struct bundle *bundle, const char *what, const char *path)
{
	fprintf(bundle->names, "%s=%s", what, path);
	fputc('\0', bundle->names);
}

/* False, with the reason. */
static bool
collect(const struct helper *helper, const struct source *source,
    struct bundle *bundle, char reason[REASON_MAX])
{
	const struct reload *reload = &helper->reload;
	struct handover_file file;
	int error = handover_seal("config", source->bytes, source->size);

	add_name(bundle, "config", reload->path);
	for (size_t i = 0; error >= 0; i++) {
		bundle->fds[bundle->count++] = error;
		if (bundle->count > HELPER_RELOAD_MAX) {
			snprintf(reason, REASON_MAX,
			    "too many files are named");
			return false;
		}
		error =
		    handover_file_open(&file, source, i, reload->zones, reason);
		if (error == HANDOVER_NO_MORE)
			break;
		if (error < 0)
			return false;
		add_name(bundle, file.what, file.path);
		error = file.fd;
	}
	if (error >= 0 && fflush(bundle->names) != 0)
		error = -ENOMEM;
	if (error >= 0)
		error = handover_seal("names", bundle->names_text,
		    bundle->names_len);
	if (error < 0) {
		snprintf(reason, REASON_MAX, "%s", strerror(-error));
		return false;
	}
	bundle->fds[0] = error;
	return true;
}

static void
pass_on(struct helper *helper, const struct bundle *bundle)
{
	for (size_t at = 0; at < bundle->count; at += HELPER_FDS_MAX) {
		size_t left = bundle->count - at;

		helper_send_fds(helper,
		    &(struct helper_msg){ .op = HELPER_RELOAD,
			.ifindex = (uint32_t)at,
			.count = bundle->count },
		    bundle->fds + at,
		    left < HELPER_FDS_MAX ? left : HELPER_FDS_MAX);
	}
}

static void
begin(struct helper *helper)
{
	const struct edge_before before = { helper->guard.config,
		helper->guard.config->file_numbers_max };
	struct bundle bundle = { .count = 0 };
	struct source source;
	char reason[REASON_MAX];

	if (source_read(&source, helper->reload.path, &before, reason) != 0) {
		refuse(helper, reason);
		return;
	}
	snprintf(reason, sizeof(reason), "%s", strerror(ENOMEM));
	if (begin_bundle(&bundle) &&
	    collect(helper, &source, &bundle, reason)) {
		helper->reload.next = source.config;
		helper->reload.phase = RELOAD_READING;
		source.config = NULL;
		pass_on(helper, &bundle);
	} else {
		refuse(helper, reason);
	}
	end_bundle(&bundle);
	source_free(&source);
}

void
reload_tick(struct helper *helper)
{
	struct reload *reload = &helper->reload;

	if (!reload->wanted || reload->phase != RELOAD_IDLE ||
	    helper->state != STATE_READY || helper->broken)
		return;
	reload->wanted = false;
	begin(helper);
}

static void
violate(struct helper *helper, const char *what)
{
	log_error("resolver: %s where no reload is so far: it is broken or "
		  "hostile",
	    what);
	helper->broken = true;
}

void
reload_parsed(struct helper *helper, struct request *request)
{
	struct reload *reload = &helper->reload;

	if (reload->phase != RELOAD_READING || request->msg.count > 1) {
		violate(helper, "parsed");
		return;
	}
	if (request->msg.count == 0) {
		forget(reload); /* the resolver has said why */
		return;
	}
	request->status = switching_widen(helper);
	if (request->status == 0)
		reload->phase = RELOAD_SWITCHING;
	else
		forget(reload);
}

void
reload_switched(struct helper *helper, struct request *request, uint64_t now_ms)
{
	struct reload *reload = &helper->reload;

	if (reload->phase != RELOAD_SWITCHING) {
		violate(helper, "switched");
		return;
	}
	(void)refusals_take(helper);
	switching_narrow(helper, now_ms);
	if (refusals_follow(helper) != 0)
		log_warn("counts of refused packets: could not be read");
	edge_config_free(reload->held);
	reload->held = reload->next;
	reload->next = NULL;
	reload->phase = RELOAD_IDLE;
	request->count = helper->guard.sandbox_count;
	log_info("reloaded: %s", reload->path);
}

void
reload_close(struct helper *helper)
{
	switching_end(helper);
	forget(&helper->reload);
	edge_config_free(helper->reload.held);
	helper->reload.held = NULL;
}

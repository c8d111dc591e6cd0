/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sets - see sets.h. A set that is gone is no error of ours and may come back
 * at any time: pins fail until it does.
 */
#include "config.h"

#include "src/helper/sets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "lib/require.h"
#include "src/helper/advice.h"
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/sweep.h"
#include "src/helper/watch.h"

#define EXIT_ENVIRONMENT 3
#define WALK_TRIES       20
/* What is about to expire may be gone from the kernel already. */
#define EXPIRY_SLACK_MS 2000
#define WHY_MAX         160

static const struct set_form *
form_of(const char *name, struct table_form tables[GATEWAY_TABLES])
{
	gateway_tables(false, tables);
	for (size_t i = 0; i < tables[0].set_count; i++)
		if (strcmp(tables[0].sets[i].name, name) == 0)
			return &tables[0].sets[i];
	UNREACHABLE();
}

/* Whether a set takes pins; else why not. */
static bool
is_fit(struct helper *helper, const char *ours, const char *name,
    char why[WHY_MAX])
{
	const uint32_t kind =
	    NFT_SET_INTERVAL | NFT_SET_MAP | NFT_SET_OBJECT | NFT_SET_CONSTANT;
	struct table_form tables[GATEWAY_TABLES];
	const struct set_form *form = form_of(ours, tables);
	struct survey_set set;
	uint32_t type, len;
	int error = survey_set_named(&helper->nft, NFPROTO_INET, name, &set);

	ruleset_key(form, &type, &len);
	if (error == -ENOENT)
		snprintf(why, WHY_MAX, "there is none");
	else if (error != 0)
		snprintf(why, WHY_MAX, "%s", batch_error_text(error));
	else if (set.key_type != type || set.key_len != len ||
	    (set.flags & kind) != 0)
		snprintf(why, WHY_MAX, "its type is not %s", form->type);
	else if ((set.flags & NFT_SET_TIMEOUT) == 0)
		snprintf(why, WHY_MAX, "it lacks \"flags timeout\"");
	else if (set.timeout_ms == 0)
		snprintf(why, WHY_MAX,
		    "it lacks a default timeout, such as \"timeout 1h\"");
	else
		return true;
	return false;
}

/* Both; the first that is not fit is said. */
static bool
are_fit(struct helper *helper, bool tell)
{
	static const char *const ours[] = { "pins4", "pins6" };

	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		const char *name =
		    elements_set_name(&helper->nft, NFPROTO_INET, ours[i]);
		char why[WHY_MAX];

		if (is_fit(helper, ours[i], name, why))
			continue;
		if (tell)
			log_error("set %s of table inet %s: %s; \"namewall "
				  "ruleset\" prints what is needed",
			    name, helper->nft.table, why);
		return false;
	}
	return true;
}

int
sets_begin(struct helper *helper)
{
	if (!are_fit(helper, true))
		return EXIT_ENVIRONMENT;
	homes_find(helper);
	log_info("pins go into the sets %s and %s of table inet %s; its rules "
		 "are yours",
	    helper->nft.lent_pins4, helper->nft.lent_pins6, helper->nft.table);
	return 0;
}

/* Elements, of pins that are held and not about to expire. */
struct tally {
	const struct helper *helper;
	uint64_t after_ms;
	size_t count;
};

static int
see_element(const struct element *element, void *data)
{
	struct tally *tally = data;
	const struct guard *guard = &tally->helper->guard;
	struct addr source, addr;
	struct service service;
	const struct held_pin *pin;
	uint32_t sandbox;

	if (!element_read_pin(element, &source, &addr, &service))
		return 0;
	sandbox = guard_whose(guard, &source);
	if (sandbox == 0)
		return 0;
	pin = held_find(&guard->held, sandbox, &addr, service);
	if (pin != NULL && pin->expires_ms > tally->after_ms)
		tally->count++;
	return 0;
}

static size_t
count_held(const struct helper *helper, uint64_t after_ms)
{
	struct element elements[EDGE_SOURCES_MAX];
	const struct held_pin *pin;
	size_t at = 0, count = 0;

	while ((pin = held_next(&helper->guard.held, &at)) != NULL)
		if (pin->expires_ms > after_ms)
			count += helper_fan_out(helper, pin->sandbox,
			    &pin->addr, pin->service, 0, elements);
	return count;
}

/* Whether the kernel has all that is held; what cannot be read counts as
 * there, and is looked at again. */
static bool
are_whole(struct helper *helper)
{
	struct tally tally = { helper, helper_now_ms() + EXPIRY_SLACK_MS, 0 };
	int error = -EINTR;

	for (int i = 0; i < WALK_TRIES && error == -EINTR; i++) {
		tally.count = 0;
		error = elements_walk(&helper->nft, NFPROTO_INET, "pins4",
		    see_element, &tally);
		if (error == 0)
			error = elements_walk(&helper->nft, NFPROTO_INET,
			    "pins6", see_element, &tally);
	}
	return error != 0 || tally.count >= count_held(helper, tally.after_ms);
}

/* Whoever took them may have opened more: what is established began under
 * rules that nobody knows. */
static void
lose(struct helper *helper, const struct monitor_report *report)
{
	struct flows_cut cut = { 0, 0 };
	int error;

	held_clear(&helper->guard.held, 0);
	error = sweep_unheld(helper, &cut);
	if (error != 0)
		log_error("connection tracking: %s", batch_error_text(error));
	log_error("table %s: pins were lost, by %s (pid %u); %u flows cut",
	    helper->nft.table,
	    report->process[0] != '\0' ? report->process : "somebody",
	    (unsigned int)report->pid, cut.count);
	watch_tell_reset(helper, 0, cut.packets);
}

void
sets_watch(struct helper *helper)
{
	struct monitor_report report;
	uint64_t now_ms = helper_now_ms();
	bool fit;

	monitor_read(&helper->monitor, &report);
	if (!report.touched && !report.lost && !helper->suspect &&
	    now_ms < helper->verify_ms)
		return;
	helper->suspect = false;
	helper->verify_ms = now_ms + WATCH_INTERVAL_MS;
	advice_tell(helper);
	fit = are_fit(helper, !helper->sets_gone);
	if (fit && helper->sets_gone)
		log_info("the sets are there again, and take pins");
	if (fit ? !are_whole(helper) : !helper->sets_gone)
		lose(helper, &report);
	helper->sets_gone = !fit;
}

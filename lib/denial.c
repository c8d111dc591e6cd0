/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * denial - the one table from a reason to what goes on the wire.
 *
 * The forms are those that real clients take best: NXDOMAIN with an SOA for a
 * name, NODATA for a type or a family (anything else for AAAA loses the whole
 * name on musl), SERVFAIL only for what may be better in a moment. The texts
 * are read by people in dig.
 */
#include "lib/denial.h"

#include "lib/require.h"

struct reason {
	const char *name;
	bool failure;
	struct denial_form form;
};

/* Columns of the table. */
#define WORLD  true
#define POLICY false
#define SOA    .soa = true
#define BARE   .soa = false

/* clang-format off */
static const struct reason reasons[] = {
	[DENIAL_NONE] = { .name = "none" },
	[DENIAL_DROP] = { .name = "dropped" },
	[DENIAL_MALFORMED] = { "malformed", POLICY, {
	    .rcode = DNS_RCODE_FORMERR, BARE, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_BAD_VERSION] = { "edns-version", POLICY, {
	    .rcode = DNS_RCODE_NOERROR, BARE, .badvers = true,
	    .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_OPCODE] = { "opcode", POLICY, {
	    .rcode = DNS_RCODE_NOTIMP, BARE, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_CLASS] = { "class", POLICY, {
	    .rcode = DNS_RCODE_REFUSED, BARE, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_TRANSFER] = { "transfer", POLICY, {
	    .rcode = DNS_RCODE_REFUSED, BARE, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_UNKNOWN_SOURCE] = { "unknown-source", POLICY, {
	    .rcode = DNS_RCODE_REFUSED, BARE, .ede = DNS_EDE_PROHIBITED,
	    .text = "the address that asks belongs to no sandbox" } },
	[DENIAL_OVERLOAD] = { "overload", WORLD, {
	    .rcode = DNS_RCODE_REFUSED, BARE, .ede = DNS_EDE_PROHIBITED,
	    .text = "too many questions at once; ask again later" } },
	[DENIAL_UNLISTED] = { "unlisted", POLICY, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "this name is not listed" } },
	[DENIAL_DENY_RULE] = { "deny-rule", POLICY, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "a deny rule covers this name" } },
	[DENIAL_WITHDRAWN] = { "withdrawn", POLICY, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "the rule for this name is withdrawn" } },
	[DENIAL_PARENT] = { "parent", POLICY, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "names below this one are listed, itself it is not" } },
	[DENIAL_TYPE] = { "type", POLICY, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "this name is listed, but not for this record type" } },
	[DENIAL_FAMILY] = { "family", POLICY, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_PROTECTED] = { "protected", POLICY, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "every address of this name is in a protected range" } },
	[DENIAL_UNPINNED] = { "unpinned", WORLD, {
	    .rcode = DNS_RCODE_SERVFAIL, BARE, .ede = DNS_EDE_OTHER,
	    .text = "no address of this name could be let through" } },
	[DENIAL_UNPINNED_OTHER] = { "unpinned-family", WORLD, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_OTHER,
	    .text = "no address of this family could be let through" } },
	[DENIAL_UPSTREAM_SILENT] = { "upstream-silent", WORLD, {
	    .rcode = DNS_RCODE_SERVFAIL, BARE,
	    .ede = DNS_EDE_NO_REACHABLE_AUTHORITY,
	    .text = "no upstream resolver answered in time" } },
	[DENIAL_UPSTREAM_BROKEN] = { "upstream-broken", WORLD, {
	    .rcode = DNS_RCODE_SERVFAIL, BARE, .ede = DNS_EDE_NETWORK_ERROR,
	    .text = "the upstream resolver gave no usable answer" } },
	[DENIAL_UPSTREAM_OTHER] = { "upstream-family", WORLD, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_NETWORK_ERROR,
	    .text = "no usable answer from upstream for this family" } },
	[DENIAL_NO_NAME] = { "no-name", WORLD, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_NO_NAME_PARENT] = { "no-name-parent", WORLD, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_NO_DATA] = { "no-data", WORLD, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_SPECIAL] = { "special", POLICY, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "a special or single-label name that no rule lists" } },
	[DENIAL_SPECIAL_NODATA] = { "special-no-data", POLICY, {
	    .rcode = DNS_RCODE_NOERROR, SOA, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_PTR] = { "reverse", POLICY, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_NONE,
	    .text = "" } },
	[DENIAL_QUARANTINED] = { "quarantined", POLICY, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "this sandbox is in quarantine" } },
	[DENIAL_BUDGET] = { "budget", POLICY, {
	    .rcode = DNS_RCODE_NXDOMAIN, SOA, .ede = DNS_EDE_BLOCKED,
	    .text = "what questions may tell in a day is spent" } },
};
/* clang-format on */

_Static_assert(ARRAY_LEN(reasons) == DENIAL_LAST + 1, "a reason is missing");

static const struct reason *
reason_of(enum denial denial)
{
	REQUIRE(denial <= DENIAL_LAST);
	return &reasons[denial];
}

/* What `denial:` of a policy makes of a name that it does not grant. */
static void
restyle(struct denial_form *form, enum denial_style style)
{
	switch (style) {
	case DENIAL_NXDOMAIN:
		return;
	case DENIAL_NODATA:
		form->rcode = DNS_RCODE_NOERROR;
		return;
	case DENIAL_REFUSED:
		form->rcode = DNS_RCODE_REFUSED;
		form->soa = false;
		return;
	}
	UNREACHABLE();
}

struct denial_form
denial_form_of(enum denial denial, enum denial_style style)
{
	REQUIRE(denial != DENIAL_NONE && denial != DENIAL_DROP);
	struct denial_form form = reason_of(denial)->form;

	if (denial == DENIAL_UNLISTED || denial == DENIAL_DENY_RULE ||
	    denial == DENIAL_WITHDRAWN || denial == DENIAL_QUARANTINED ||
	    denial == DENIAL_BUDGET)
		restyle(&form, style);
	return form;
}

const char *
denial_name(enum denial denial)
{
	return reason_of(denial)->name;
}

bool
denial_is_failure(enum denial denial)
{
	return reason_of(denial)->failure;
}

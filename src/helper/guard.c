/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard - the argument for safety.
 *
 * The sender is not trusted. It parses what sandboxes and the internet send,
 * so it must be taken for somebody else's program that happens to know our
 * protocol. What it can reach through this process is the following, and
 * nothing of it goes beyond what the operator's file grants:
 *
 * PIN opens one address for one sandbox. The address is public, or inside a
 * prefix that a rule of this sandbox's policy names as private; the protocol
 * and port are those that a rule of this policy names; the lifetime is at most
 * the file's cap, so that a dead resolver leaves nothing open for longer (it
 * may be under the file's floor, where a rule ends by its date); number and
 * rate are bounded for each sandbox, so that one cannot starve the others or
 * keep the kernel busy. The sandbox is bound to its interface now: a pin for
 * an address that is nobody's would lie in wait for whoever takes it. What is
 * left to a hostile sender is to open a public address that no name led to, on
 * a port that the policy opens anyway; only the resolver knows names, so this
 * cannot be checked here.
 *
 * RECALL opens no more than PIN: the same tests, but for the least lifetime,
 * as some of it is spent, and the rate, as it comes once, at the start. A
 * sandbox that was bound anew gets nothing back: what is remembered was
 * granted to the machine that stood there before.
 *
 * UNPIN, FLUSH close. The worst is a denial of service, which a resolver can
 * have by not answering.
 *
 * FLOWS tells whether a flow of a sandbox to an address exists. The sender
 * made that address known to the sandbox.
 *
 * QUARANTINE closes. RELEASE opens no more than PIN: without pins, which are
 * gone, the sandbox is where it was at its first start.
 *
 * SETTLE closes what was not recalled.
 *
 * SOURCE and ATTACH bind addresses to an interface of the edge. The file says
 * which addresses (attach.prefixes), under which policies (attach.policies)
 * and how many; no address is taken that is this host's, a server's, or
 * another sandbox's, and no number that a sandbox of the file could have. What
 * is left to a hostile sender is to give a sandbox that it attached one of
 * those policies, and to take an address of these prefixes that is nobody's:
 * which of the two machines behind an interface of the edge is meant is known
 * to the caller alone. DETACH closes. ASSIGN gives an attached sandbox another
 * policy of attach.policies, and closes what that does not grant. A member of
 * a sandbox with `each` is attached by the same rules, but its address is of
 * that sandbox's prefixes, its interface that sandbox's, and its policy that
 * sandbox's too. A hostile sender can make members of addresses that nobody
 * has asked from; where they are bound is where packets of theirs come from.
 *
 * UPLOAD puts an address under the quota that the file gives a rule of this
 * sandbox's policy. Where every rule that names a service has a quota, nothing
 * is opened on it to an address that is under none. What is left to a hostile
 * sender is to say another rule than the one that led there, or none where the
 * file has one for that service without a quota. SPENT only adds to what has
 * been used.
 *
 * ASK_RELOAD makes this program read the operator's file again, which says
 * what it says; no more often than it can be read. PARSED and SWITCHED only
 * end what this program began. Between the two, what the file grants now and
 * what it granted before are both granted: the sender had the one until now
 * and will have the other, and a pin that it asked for under the one must not
 * be refused for coming a moment later. What only the old one grants is
 * revoked by the sender before SWITCHED; what it kept is closed then.
 */
#include "config.h"

#include "src/helper/guard.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/require.h"
#include "lib/text/edge_uploads.h"

#define LIFETIME_MIN_MS 1000 /* less is no use to anybody */
#define THOUSAND        1000u

static int
compare_sources(const void *a, const void *b)
{
	const struct guard_source *left = a, *right = b;

	return addr_compare(&left->addr, &right->addr);
}

/* Where an address is, or belongs. */
static size_t
place_of(const struct guard *guard, const struct addr *addr)
{
	size_t low = 0, high = guard->source_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addr_compare(&guard->sources[middle].addr, addr) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
collect_sources(struct guard *guard)
{
	const struct edge_config *config = guard->config;

	guard->source_count = 0;
	for (size_t i = 0; i < config->sandbox_count; i++) {
		const struct edge_sandbox *sandbox = &config->sandboxes[i];

		for (size_t k = 0; k < sandbox->source_count; k++)
			guard->sources[guard->source_count++] =
			    (struct guard_source){ sandbox->sources[k],
				    (uint32_t)i + 1 };
	}
	qsort(guard->sources, guard->source_count, sizeof(*guard->sources),
	    compare_sources);
}

int
guard_init(struct guard *ret, struct edge_config *config, uint64_t seed)
{
	uint32_t numbers_max = config->numbers_max != 0
	    ? config->numbers_max
	    : edge_numbers_max(config);
	size_t count = (size_t)numbers_max + 1;

	memset(ret, 0, sizeof(*ret));
	ret->config = config;
	ret->ranges = config->settings.protected_ranges;
	ret->sandbox_count = (uint32_t)config->sandbox_count;
	ret->numbers_max = numbers_max;
	ret->sandboxes = calloc(count, sizeof(*ret->sandboxes));
	ret->sources = calloc(count * EDGE_SOURCES_MAX, sizeof(*ret->sources));
	if (ret->sandboxes == NULL || ret->sources == NULL ||
	    held_init(&ret->held, config->settings.limits.pins, numbers_max,
		seed) != 0) {
		guard_free(ret);
		return -ENOMEM;
	}
	collect_sources(ret);
	guard_set_own(ret, NULL, 0, false);
	return 0;
}

void
guard_free(struct guard *guard)
{
	free(guard->sandboxes);
	free(guard->sources);
	held_free(&guard->held);
	memset(guard, 0, sizeof(*guard));
}

/* A listener counts as the host's own, its address may come later. */
static void
set_own(struct protected_ranges *ranges, const struct settings *settings,
    const struct addr *own, size_t count, bool overflow)
{
	static_assert(SETTINGS_LISTEN_MAX < PROTECTED_OWN_MAX,
	    "listeners must fit among the own addresses");
	ranges->own_count = 0;
	for (size_t i = 0; i < settings->listen_count; i++)
		ranges->own[ranges->own_count++] = settings->listen[i].addr;
	for (size_t i = 0; i < count; i++) {
		if (ranges->own_count == PROTECTED_OWN_MAX) {
			overflow = true;
			break;
		}
		ranges->own[ranges->own_count++] = own[i];
	}
	ranges->own_overflow = overflow;
}

void
guard_set_own(struct guard *guard, const struct addr *own, size_t count,
    bool overflow)
{
	set_own(&guard->ranges, &guard->config->settings, own, count, overflow);
	if (guard->next != NULL)
		set_own(&guard->next_ranges, &guard->next->settings, own, count,
		    overflow);
}

static void
copy_own(struct protected_ranges *to, const struct protected_ranges *from)
{
	memcpy(to->own, from->own, sizeof(to->own));
	to->own_count = from->own_count;
	to->own_overflow = from->own_overflow;
}

void
guard_widen(struct guard *guard, struct edge_config *next)
{
	REQUIRE(guard->next == NULL);
	REQUIRE(next->sandbox_count <= guard->numbers_max);
	guard->next = next;
	guard->next_ranges = next->settings.protected_ranges;
	/* Listeners are the same, since they need a restart to change. */
	copy_own(&guard->next_ranges, &guard->ranges);
}

void
guard_narrow(struct guard *guard)
{
	REQUIRE(guard->next != NULL);
	guard->config = guard->next;
	guard->ranges = guard->next_ranges;
	guard->next = NULL;
	guard->sandbox_count = (uint32_t)guard->config->sandbox_count;
	collect_sources(guard);
}

static void
insert_source(struct guard *guard, const struct addr *addr, uint32_t sandbox)
{
	size_t at = place_of(guard, addr);

	REQUIRE(guard->source_count <
	    ((size_t)guard->numbers_max + 1) * EDGE_SOURCES_MAX);
	memmove(&guard->sources[at + 1], &guard->sources[at],
	    (guard->source_count - at) * sizeof(*guard->sources));
	guard->sources[at] = (struct guard_source){ *addr, sandbox };
	guard->source_count++;
}

static void
remove_source(struct guard *guard, const struct addr *addr)
{
	size_t at = place_of(guard, addr);

	REQUIRE(at < guard->source_count);
	REQUIRE(addr_equal(&guard->sources[at].addr, addr));
	guard->source_count--;
	memmove(&guard->sources[at], &guard->sources[at + 1],
	    (guard->source_count - at) * sizeof(*guard->sources));
}

void
guard_attach(struct guard *guard, uint32_t number,
    const struct edge_attach *request)
{
	edge_attach_put(guard->config, number, request);
	guard->sandbox_count = (uint32_t)guard->config->sandbox_count;
	guard->sandboxes[number] = (struct guard_sandbox){ .fresh = true };
	for (size_t i = 0; i < request->source_count; i++)
		insert_source(guard, &request->sources[i], number);
}

void
guard_detach(struct guard *guard, uint32_t number)
{
	const struct edge_sandbox *sandbox = guard_sandbox(guard, number);
	struct edge_config *next = guard->next;

	for (size_t i = 0; i < sandbox->source_count; i++)
		remove_source(guard, &sandbox->sources[i]);
	held_clear(&guard->held, number);
	/* What the kernel audits is for modes_follow() to end. */
	guard->sandboxes[number] = (struct guard_sandbox){ .fresh = true,
		.audit = guard->sandboxes[number].audit };
	edge_attach_drop(guard->config, number);
	if (next != NULL && number <= next->sandbox_count &&
	    next->sandboxes[number - 1].attached)
		edge_attach_drop(next, number);
}

const struct edge_sandbox *
guard_sandbox(const struct guard *guard, uint32_t sandbox)
{
	REQUIRE(sandbox > 0 && sandbox <= guard->sandbox_count);
	return &guard->config->sandboxes[sandbox - 1];
}

bool
guard_exists(const struct guard *guard, uint32_t sandbox)
{
	return sandbox > 0 && sandbox <= guard->sandbox_count &&
	    edge_sandbox_exists(guard_sandbox(guard, sandbox));
}

uint32_t
guard_whose(const struct guard *guard, const struct addr *addr)
{
	size_t at = place_of(guard, addr);

	return at < guard->source_count &&
		addr_equal(&guard->sources[at].addr, addr)
	    ? guard->sources[at].sandbox
	    : 0;
}

bool
guard_is_own(const struct guard *guard, const struct addr *addr)
{
	for (size_t i = 0; i < guard->ranges.own_count; i++)
		if (addr_equal(&guard->ranges.own[i], addr))
			return true;
	return false;
}

bool
guard_is_listener(const struct guard *guard, const struct addr *addr,
    uint16_t port)
{
	const struct settings *settings = &guard->config->settings;

	for (size_t i = 0; i < settings->listen_count; i++)
		if (settings->listen[i].port == port &&
		    addr_equal(&settings->listen[i].addr, addr))
			return true;
	return false;
}

static bool
has_family(const struct edge_sandbox *sandbox, uint8_t family)
{
	for (size_t i = 0; i < sandbox->source_count; i++)
		if (sandbox->sources[i].family == family)
			return true;
	return false;
}

static bool
names_service(const struct edge_policy *policy, struct service service)
{
	for (size_t i = 0; i < policy->service_count; i++)
		if (policy->services[i].protocol == service.protocol &&
		    policy->services[i].port == service.port)
			return true;
	return false;
}

int
guard_flush(const struct guard *guard, const struct helper_msg *msg)
{
	return guard_exists(guard, msg->sandbox) ? 0 : -ENOENT;
}

static int
attach_errno(enum edge_attach_error error)
{
	switch (error) {
	case EDGE_ATTACH_OK:
		return 0;
	case EDGE_ATTACH_NUMBER:
		return -EEXIST;
	case EDGE_ATTACH_POLICY:
		return -EPERM;
	case EDGE_ATTACH_PREFIX:
		return -EACCES;
	case EDGE_ATTACH_OWN:
		return -EADDRNOTAVAIL;
	case EDGE_ATTACH_TAKEN:
		return -EADDRINUSE;
	case EDGE_ATTACH_INTERFACE:
		return -ENODEV;
	case EDGE_ATTACH_COUNT:
		return -ENOSPC;
	case EDGE_ATTACH_OFF:
	case EDGE_ATTACH_EACH:
	case EDGE_ATTACH_SOURCES:
		return -EINVAL;
	}
	UNREACHABLE();
}

/* Between two configurations nobody comes or changes: which of the two would
 * judge it. */
int
guard_may_attach(const struct guard *guard, uint32_t number,
    const struct edge_attach *request)
{
	if (guard->next != NULL)
		return -EBUSY;
	return attach_errno(
	    edge_attach_check(guard->config, &guard->ranges, number, request));
}

int
guard_may_detach(const struct guard *guard, const struct helper_msg *msg)
{
	int error = guard_flush(guard, msg);

	if (error == 0 && !guard_sandbox(guard, msg->sandbox)->attached)
		error = -EINVAL;
	return error;
}

int
guard_may_assign(const struct guard *guard, const struct helper_msg *msg)
{
	int error = guard_may_detach(guard, msg);

	if (error == 0 && guard->next != NULL)
		error = -EBUSY;
	if (error == 0 && msg->count > UINT32_MAX)
		error = -EPERM;
	if (error == 0)
		error = attach_errno(edge_attach_check_policy(guard->config,
		    guard_sandbox(guard, msg->sandbox)->each,
		    (uint32_t)msg->count));
	return error;
}

/* Closing needs no more than that the element could be there at all. */
int
guard_element(const struct guard *guard, const struct helper_msg *msg)
{
	int error = guard_flush(guard, msg);

	if (error == 0 &&
	    !has_family(guard_sandbox(guard, msg->sandbox), msg->addr.family))
		error = -EAFNOSUPPORT;
	return error;
}

/* Whether a configuration opens an element to the sandbox that has the number
 * in it. */
static int
opens(const struct edge_config *config, const struct protected_ranges *ranges,
    uint32_t number, const struct addr *addr, struct service service)
{
	const struct edge_sandbox *sandbox;
	const struct edge_policy *policy;

	if (number == 0 || number > config->sandbox_count)
		return -ENOENT;
	sandbox = &config->sandboxes[number - 1];
	if (!edge_sandbox_exists(sandbox))
		return -ENOENT;
	policy = &config->policies[sandbox->policy];
	if (!names_service(policy, service))
		return -EACCES;
	if (addr_protected(addr, ranges, policy->private_ok,
		policy->private_count) != ADDR_GLOBAL)
		return -EADDRNOTAVAIL;
	return 0;
}

/* The same, and for as long as is asked. */
static int
grants(const struct edge_config *config, const struct protected_ranges *ranges,
    const struct helper_msg *msg)
{
	const struct settings *settings = &config->settings;
	int error =
	    opens(config, ranges, msg->sandbox, &msg->addr, msg->service);

	if (error != 0)
		return error;
	if (msg->lifetime_ms >
	    (uint64_t)settings->pin_cap_ms + settings->pin_grace_ms)
		return -ERANGE;
	/* What is recalled has spent some of its lifetime. */
	if (msg->op == HELPER_PIN && msg->lifetime_ms < LIFETIME_MIN_MS)
		return -ERANGE;
	return 0;
}

bool
guard_opens(const struct guard *guard, const struct held_pin *pin)
{
	return opens(guard->config, &guard->ranges, pin->sandbox, &pin->addr,
		   pin->service) == 0;
}

bool
guard_is_audit(const struct guard *guard, uint32_t number)
{
	const struct edge_config *config =
	    guard->next != NULL ? guard->next : guard->config;

	if (number == 0 || number > config->sandbox_count ||
	    !edge_sandbox_exists(&config->sandboxes[number - 1]))
		return false;
	return config->policies[config->sandboxes[number - 1].policy].audit;
}

bool
guard_audits(const struct guard *guard, uint32_t number,
    const struct addr *addr)
{
	return guard_is_audit(guard, number) &&
	    addr_protected(addr, &guard->ranges, NULL, 0) == ADDR_GLOBAL;
}

/*
 * What PIN and RECALL have in common. While a reload is under way each of the
 * two configurations may grant it, by itself: a pin is never explained by a
 * port of the one and a prefix of the other.
 */
static int
judge(const struct guard *guard, const struct helper_msg *msg)
{
	int error = guard_element(guard, msg);

	if (error != 0)
		return error;
	error = grants(guard->config, &guard->ranges, msg);
	if (error != 0 && guard->next != NULL &&
	    grants(guard->next, &guard->next_ranges, msg) == 0)
		error = 0;
	if (error == 0 && guard->sandboxes[msg->sandbox].ifindex == 0)
		error = -ENODEV;
	if (error == 0 && guard->sandboxes[msg->sandbox].quarantined)
		error = -EPERM;
	return error;
}

static const struct edge_policy *
policy_in(const struct edge_config *config, uint32_t number)
{
	if (number == 0 || number > config->sandbox_count ||
	    !edge_sandbox_exists(&config->sandboxes[number - 1]))
		return NULL;
	return &config->policies[config->sandboxes[number - 1].policy];
}

static bool
has_quota(const struct edge_config *config, const struct helper_msg *msg)
{
	return edge_upload_limit(config, msg->sandbox, msg->rule) != 0;
}

int
guard_spent(const struct guard *guard, const struct helper_msg *msg)
{
	int error = guard_flush(guard, msg);

	if (error == 0 && !has_quota(guard->config, msg) &&
	    (guard->next == NULL || !has_quota(guard->next, msg)))
		error = -ENOENT;
	return error;
}

int
guard_upload(const struct guard *guard, const struct helper_msg *msg)
{
	const struct settings *settings = &guard->config->settings;
	int error = guard_element(guard, msg);

	if (error == 0 && msg->rule == EDGE_UPLOAD_SUM)
		error = -ENOENT;
	if (error == 0)
		error = guard_spent(guard, msg);
	if (error == 0 &&
	    msg->lifetime_ms >
		(uint64_t)settings->pin_cap_ms + settings->pin_grace_ms)
		error = -ERANGE;
	return error;
}

/* Whether a configuration opens an element without a quota. */
static bool
opens_unmetered(const struct edge_config *config,
    const struct protected_ranges *ranges, const struct helper_msg *msg)
{
	const struct edge_policy *policy = policy_in(config, msg->sandbox);

	return policy != NULL &&
	    opens(config, ranges, msg->sandbox, &msg->addr, msg->service) ==
	    0 &&
	    (policy->audit || !edge_upload_covers(policy, msg->service));
}

bool
guard_is_metered(const struct guard *guard, const struct helper_msg *msg)
{
	return !opens_unmetered(guard->config, &guard->ranges, msg) &&
	    (guard->next == NULL ||
		!opens_unmetered(guard->next, &guard->next_ranges, msg));
}

/* Room for one more, unless it is there already. */
static int
count(struct guard *guard, const struct helper_msg *msg, uint64_t now_ms)
{
	uint32_t most = guard->config->settings.limits.pins_per_sandbox;
	struct held *held = &guard->held;

	if (held_find(held, msg->sandbox, &msg->addr, msg->service) != NULL)
		return 0;
	if (held->counts[msg->sandbox] >= most || held->pins >= held->pins_max)
		held_expire(held, now_ms);
	return held->counts[msg->sandbox] < most && held->pins < held->pins_max
	    ? 0
	    : -ENOSPC;
}

/* A bucket that holds one second's worth. */
static int
take_token(struct guard *guard, uint32_t sandbox, uint64_t now_ms)
{
	struct guard_sandbox *s = &guard->sandboxes[sandbox];
	uint64_t rate = guard->config->settings.limits.pin_rate_per_sandbox;
	uint64_t passed = now_ms - s->tokens_ms;

	s->tokens += (passed < THOUSAND ? passed : THOUSAND) * rate;
	if (s->tokens > rate * THOUSAND)
		s->tokens = rate * THOUSAND;
	s->tokens_ms = now_ms;
	if (s->tokens < THOUSAND)
		return -EAGAIN;
	s->tokens -= THOUSAND;
	return 0;
}

int
guard_pin(struct guard *guard, const struct helper_msg *msg, uint64_t now_ms)
{
	int error = judge(guard, msg);

	if (error == 0)
		error = take_token(guard, msg->sandbox, now_ms);
	if (error == 0)
		error = count(guard, msg, now_ms);
	return error;
}

int
guard_recall(struct guard *guard, const struct helper_msg *msg, uint64_t now_ms)
{
	int error = judge(guard, msg);

	if (error == 0 && guard->sandboxes[msg->sandbox].fresh)
		error = -ESTALE;
	if (error == 0)
		error = count(guard, msg, now_ms);
	return error;
}

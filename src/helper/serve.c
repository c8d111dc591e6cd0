/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve - see serve.h. A request that is malformed, unknown or out of its
 * state ends this program: the resolver is compromised or broken, and the
 * table, which stays, is closed. A request that the guard refuses is
 * answered; that is normal life.
 */
#include "config.h"

#include "src/helper/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/helper/advice.h"
#include "src/helper/homes.h"
#include "src/helper/log.h"
#include "src/helper/modes.h"
#include "src/helper/notify.h"
#include "src/helper/pinning.h"
#include "src/helper/reload.h"
#include "src/helper/revoking.h"
#include "src/helper/sweep.h"
#include "src/helper/watch.h"

#define EXIT_STOPPED     0
#define EXIT_RESOLVER    1
#define EXIT_ENVIRONMENT 3
#define STOP_WAIT_MS     5000
#define GOING_ON         (-1)

#define IN(state) (1u << (state))

/* What may be asked, and when. */
static const struct permit {
	enum helper_op op;
	unsigned int states;
	bool later; /* of a later version: answered, not done */
} permits[] = {
	{ HELPER_HELLO, IN(STATE_NEW), false },
	{ HELPER_RECALL, IN(STATE_SETTLING), false },
	{ HELPER_SETTLE, IN(STATE_SETTLING), false },
	{ HELPER_PIN, IN(STATE_READY), false },
	{ HELPER_UNPIN, IN(STATE_READY), false },
	{ HELPER_FLOWS, IN(STATE_READY), false },
	{ HELPER_FLUSH, IN(STATE_READY), false },
	{ HELPER_QUARANTINE, IN(STATE_SETTLING) | IN(STATE_READY), false },
	{ HELPER_RELEASE, IN(STATE_READY), false },
	{ HELPER_STATS, IN(STATE_READY), false },
	{ HELPER_ASK_RELOAD, IN(STATE_READY), false },
	{ HELPER_PARSED, IN(STATE_READY), false },
	{ HELPER_SWITCHED, IN(STATE_READY), false },
	{ HELPER_SOURCE, IN(STATE_SETTLING) | IN(STATE_READY), false },
	{ HELPER_ATTACH, IN(STATE_SETTLING) | IN(STATE_READY), false },
	{ HELPER_DETACH, IN(STATE_SETTLING) | IN(STATE_READY), false },
	{ HELPER_ASSIGN, IN(STATE_READY), false },
	{ HELPER_UPLOAD, IN(STATE_SETTLING) | IN(STATE_READY), false },
	{ HELPER_SPENT, IN(STATE_SETTLING) | IN(STATE_READY), false },
};

static const struct permit *
permit_of(uint8_t op)
{
	for (size_t i = 0; i < ARRAY_LEN(permits); i++)
		if (permits[i].op == op)
			return &permits[i];
	return NULL;
}

static void
answer(struct helper *helper, struct request *request)
{
	if (request->answered)
		return;
	request->answered = true;
	helper_send(helper,
	    &(struct helper_msg){
		.op = (uint8_t)(request->msg.op + 1),
		.id = request->msg.id,
		.status = request->status,
		.ifindex = request->ifindex,
		.count = request->count,
	    });
}

static void
hello(struct helper *helper, struct request *request)
{
	uint64_t count = helper->guard.sandbox_count;

	if (request->msg.count != 0 && request->msg.count != count) {
		log_error("resolver: read %llu sandboxes where there are %llu",
		    (unsigned long long)request->msg.count,
		    (unsigned long long)count);
		helper->broken = true;
		return;
	}
	request->count = count;
	helper->state = STATE_SETTLING;
	answer(helper, request);
	homes_tell(helper);
}

/* The end of the start. Only now is it true that what is open is what the
 * present policy grants. */
static void
settle(struct helper *helper, struct request *request)
{
	request->status = inherit_end(helper, helper_now_ms());
	if (request->status == 0)
		request->status = sweep_unexplained(helper);
	revoking_tick(helper, UINT64_MAX);
	helper_tick(helper, UINT64_MAX - 1);
	if (request->status == 0)
		request->status = ruleset_verify(&helper->ruleset);
	if (request->status == 0) {
		helper->state = STATE_READY;
		request->status = modes_sync(helper, helper_now_ms());
	}
	if (request->status != 0) {
		log_error("start: could not be ended: %s",
		    batch_error_text(request->status));
		helper->broken = true;
		return;
	}
	held_forget_lapsed(&helper->guard.held);
	uploads_settle(helper);
	request->count = helper->ruleset.owned ? HELPER_TABLE_OWNED : 0;
	answer(helper, request);
	advice_tell(helper);
	notify_ready();
	log_info("ready");
}

static bool
is_asked_flow(const struct flow *flow, void *data)
{
	struct helper *helper = data;
	uint32_t from = guard_whose(&helper->guard, &flow->from);

	for (size_t i = 0; i < helper->request_count && from != 0; i++) {
		struct request *request = &helper->requests[i];

		if (request->msg.op == HELPER_FLOWS &&
		    request->msg.sandbox == from &&
		    request->msg.service.protocol == flow->protocol &&
		    request->msg.service.port == flow->to_port &&
		    addr_equal(&request->msg.addr, &flow->to))
			request->count = 1;
	}
	return false;
}

/* All questions of a wake-up are answered from one dump. */
static void
answer_flows(struct helper *helper)
{
	size_t count = 0;
	int error = 0;

	for (size_t i = 0; i < helper->request_count; i++)
		if (helper->requests[i].msg.op == HELPER_FLOWS)
			count++;
	if (count > 0)
		error = flows_walk(&helper->flows, is_asked_flow, helper);
	for (size_t i = 0; i < helper->request_count; i++) {
		struct request *request = &helper->requests[i];

		if (request->msg.op != HELPER_FLOWS)
			continue;
		request->status = guard_element(&helper->guard, &request->msg);
		if (request->status == 0)
			request->status = error;
		if (request->status != 0)
			request->count = 0;
		answer(helper, request);
	}
}

/* The same: all from one reading. */
static void
answer_stats(struct helper *helper)
{
	refusals_answer(helper);
	for (size_t i = 0; i < helper->request_count; i++)
		if (helper->requests[i].msg.op == HELPER_STATS)
			answer(helper, &helper->requests[i]);
}

static void
act_alone(struct helper *helper, struct request *request, uint64_t now_ms)
{
	const struct permit *permit = permit_of(request->msg.op);

	if (permit->later)
		request->status = -EOPNOTSUPP;
	else if (permit->op == HELPER_HELLO)
		hello(helper, request);
	else if (permit->op == HELPER_SETTLE)
		settle(helper, request);
	else if (permit->op == HELPER_FLUSH)
		revoking_flush(helper, request, now_ms);
	else if (permit->op == HELPER_QUARANTINE ||
	    permit->op == HELPER_RELEASE)
		modes_request(helper, request, now_ms);
	else if (permit->op == HELPER_ASK_RELOAD)
		reload_want(helper);
	else if (permit->op == HELPER_PARSED)
		reload_parsed(helper, request);
	else if (permit->op == HELPER_SWITCHED)
		reload_switched(helper, request, now_ms);
	else if (permit->op == HELPER_ASSIGN)
		attaching_assign(helper, request, now_ms);
	else if (permit->op == HELPER_UPLOAD)
		uploads_claim(helper, request, now_ms);
	else if (permit->op == HELPER_SPENT)
		uploads_spent(helper, request);
	else
		return;
	if (!helper->broken)
		answer(helper, request);
}

/* Requests from..to-1 are of one kind. False: the resolver broke a rule. */
static bool
act(struct helper *helper, size_t from, size_t to, uint64_t now_ms)
{
	uint8_t op = helper->requests[from].msg.op;
	const struct permit *permit = permit_of(op);

	if (permit == NULL || (permit->states & IN(helper->state)) == 0) {
		log_error("resolver: %s out of turn: it is broken or hostile",
		    helper_op_name(op));
		return false;
	}
	switch (permit->op) {
	case HELPER_PIN:
	case HELPER_RECALL:
		pinning_do(helper, from, to, now_ms);
		break;
	case HELPER_UNPIN:
		revoking_unpin(helper, from, to, now_ms);
		break;
	case HELPER_SOURCE:
	case HELPER_ATTACH:
		attaching_attach(helper, from, to, now_ms);
		break;
	case HELPER_DETACH:
		attaching_detach(helper, from, to, now_ms);
		break;
	case HELPER_FLOWS:
	case HELPER_STATS:
		return true; /* together, at the end */
	case HELPER_HELLO:
	case HELPER_SETTLE:
	case HELPER_FLUSH:
	case HELPER_QUARANTINE:
	case HELPER_RELEASE:
	case HELPER_ASK_RELOAD:
	case HELPER_PARSED:
	case HELPER_SWITCHED:
	case HELPER_ASSIGN:
	case HELPER_UPLOAD:
	case HELPER_SPENT:
		act_alone(helper, &helper->requests[from], now_ms);
		return !helper->broken;
	}
	for (size_t i = from; i < to; i++)
		answer(helper, &helper->requests[i]);
	return true;
}

static bool
is_grouped(uint8_t op)
{
	return op == HELPER_PIN || op == HELPER_RECALL || op == HELPER_UNPIN ||
	    op == HELPER_FLOWS || op == HELPER_STATS || op == HELPER_ATTACH ||
	    op == HELPER_DETACH;
}

/* What is done together; sources belong to what follows. */
static uint8_t
group_of(uint8_t op)
{
	return op == HELPER_SOURCE ? HELPER_ATTACH : op;
}

static bool
act_on_all(struct helper *helper, uint64_t now_ms)
{
	size_t from = 0;

	while (from < helper->request_count) {
		uint8_t op = group_of(helper->requests[from].msg.op);
		size_t to = from + 1;

		while (is_grouped(op) && to < helper->request_count &&
		    group_of(helper->requests[to].msg.op) == op)
			to++;
		if (!act(helper, from, to, now_ms))
			return false;
		from = to;
	}
	answer_flows(helper);
	answer_stats(helper);
	return !helper->broken;
}

static bool
is_stopping(const struct helper *helper)
{
	return helper->stop_ms != UINT64_MAX;
}

/* Reads what is there, up to a batch. False: hang-up or a violation. */
static bool
receive(struct helper *helper)
{
	/* One octet more, to see a message that is too long. */
	uint8_t wire[HELPER_MSG_SIZE + 1];

	helper->request_count = 0;
	while (helper->request_count < REQUESTS_MAX) {
		struct request *request =
		    &helper->requests[helper->request_count];
		ssize_t len =
		    recv(helper->channel, wire, sizeof(wire), MSG_DONTWAIT);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == EAGAIN)
			return true;
		if (len <= 0) {
			if (!is_stopping(helper))
				log_error("resolver: hung up");
			return false;
		}
		memset(request, 0, sizeof(*request));
		if (!helper_msg_decode(&request->msg, wire, (size_t)len,
			true)) {
			log_error("resolver: malformed message: it is broken "
				  "or hostile");
			return false;
		}
		helper->request_count++;
	}
	return true;
}

/* What came before a hang-up is still done: an UNPIN must not be lost. */
static int
serve_channel(struct helper *helper)
{
	bool going_on = receive(helper);

	if (!act_on_all(helper, helper_now_ms()))
		going_on = false;
	if (!going_on && is_stopping(helper))
		return EXIT_STOPPED;
	return going_on ? GOING_ON : EXIT_RESOLVER;
}

static void
report_end(int status)
{
	if (WIFSIGNALED(status))
		log_error("resolver: killed by signal %d", WTERMSIG(status));
	else
		log_error("resolver: exited with status %d",
		    WEXITSTATUS(status));
}

/* The resolver may not be signalled any more, so it is told. It answers what
 * it was asked, for which it still needs us, and hangs up. Told twice, or
 * before anybody could ask: at once. */
static int
begin_stop(struct helper *helper)
{
	if (helper->state != STATE_READY || is_stopping(helper))
		return EXIT_STOPPED;
	helper->stop_ms = helper_now_ms() + STOP_WAIT_MS;
	uploads_read(helper);
	helper_send(helper, &(struct helper_msg){ .op = HELPER_STOP });
	return helper->broken ? EXIT_STOPPED : GOING_ON;
}

static int
serve_signal(struct helper *helper, int signals, pid_t resolver)
{
	struct signalfd_siginfo info;
	int status;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return GOING_ON;
	switch (info.ssi_signo) {
	case SIGTERM:
	case SIGINT:
		log_info("stopping; the table stays, closed");
		return begin_stop(helper);
	case SIGHUP:
		reload_want(helper);
		return GOING_ON;
	case SIGUSR1:
		/* The resolver is another user's, and may not be signalled. */
		if (helper->state != STATE_NEW)
			helper_send(helper,
			    &(struct helper_msg){ .op = HELPER_REOPEN });
		return helper->broken ? EXIT_RESOLVER : GOING_ON;
	case SIGCHLD:
		if (waitpid(resolver, &status, WNOHANG) != resolver)
			return GOING_ON;
		if (is_stopping(helper))
			return EXIT_STOPPED;
		report_end(status);
		return EXIT_RESOLVER;
	default:
		return GOING_ON;
	}
}

static int
milliseconds_left(const struct helper *helper, uint64_t now_ms)
{
	uint64_t due = revoking_due(helper);

	if (helper->verify_ms < due)
		due = helper->verify_ms;
	if (helper->stop_ms < due)
		due = helper->stop_ms;
	if (uploads_due(helper) < due)
		due = uploads_due(helper);
	if (helper->settle_ms < due && helper->revocation_count == 0)
		due = helper->settle_ms;
	if (helper->suspect || due <= now_ms)
		return 0;
	return due - now_ms < 60000 ? (int)(due - now_ms) : 60000;
}

/* Whatever it still does, we hang up, and the kernel ends it with us if it
 * does not listen. */
static void
stop_resolver(struct helper *helper, int signals, pid_t resolver)
{
	uint64_t until_ms = helper_now_ms() + STOP_WAIT_MS;
	struct pollfd poll_fd = { signals, POLLIN, 0 };

	(void)shutdown(helper->channel, SHUT_RDWR);
	while (waitpid(resolver, NULL, WNOHANG) == 0) {
		struct signalfd_siginfo info;
		uint64_t now_ms = helper_now_ms();

		if (now_ms >= until_ms) {
			log_warn("resolver: does not stop");
			return;
		}
		if (poll(&poll_fd, 1, (int)(until_ms - now_ms)) > 0)
			(void)!read(signals, &info, sizeof(info));
	}
}

static int
serve_once(struct helper *helper, int signals, pid_t resolver)
{
	struct pollfd fds[] = {
		{ monitor_fd(&helper->monitor), POLLIN, 0 },
		{ links_fd(&helper->links), POLLIN, 0 },
		{ helper->channel, POLLIN, 0 },
		{ signals, POLLIN, 0 },
	};
	int status = GOING_ON;

	if (poll(fds, ARRAY_LEN(fds),
		milliseconds_left(helper, helper_now_ms())) < 0)
		return errno == EINTR ? GOING_ON : EXIT_ENVIRONMENT;
	/* The table first: nothing is worth doing in one that is not ours. */
	if (fds[0].revents != 0 || helper->suspect ||
	    helper_now_ms() >= helper->verify_ms)
		if (!watch_table(helper))
			return EXIT_ENVIRONMENT;
	if (fds[1].revents != 0 && links_drain(&helper->links))
		homes_follow(helper);
	if (fds[2].revents != 0)
		status = serve_channel(helper);
	if (fds[3].revents != 0 &&
	    (status == GOING_ON || status == EXIT_RESOLVER)) {
		int signalled = serve_signal(helper, signals, resolver);

		if (signalled != GOING_ON)
			status = signalled;
	}
	revoking_tick(helper, helper_now_ms());
	helper_tick(helper, helper_now_ms());
	uploads_tick(helper, helper_now_ms());
	reload_tick(helper);
	if (status == GOING_ON && helper_now_ms() >= helper->stop_ms)
		status = EXIT_STOPPED;
	return status;
}

int
serve(struct helper *helper, int signals, pid_t resolver)
{
	int status;

	helper->verify_ms = helper_now_ms() + WATCH_INTERVAL_MS;
	helper->stop_ms = UINT64_MAX;
	do {
		status = serve_once(helper, signals, resolver);
	} while (status == GOING_ON);
	stop_resolver(helper, signals, resolver);
	/* Nothing that was to be cut is left half cut. */
	revoking_tick(helper, UINT64_MAX);
	return status;
}

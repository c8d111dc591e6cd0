#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads event lines for the test of audit mode.

  audit.py questions FILE SANDBOX   one line for each (name, type): outcome,
                                    reason, and what enforcement would do
  audit.py same AUDIT ENFORCED      two such lists: whether each thing that
                                    enforcement did is what the audit had said
  audit.py every FILE SANDBOX       each event of a question, packet or flow
                                    of the sandbox says what would have been
  audit.py packets FILE SANDBOX     destinations of packets that passed
"""
import json
import sys

SAYING = {"dns-answered", "dns-denied", "dns-failed", "tunnel-suspected",
          "rebinding-blocked", "direct-ip-rejected", "flow-ended"}


def events(path, sandbox):
    for line in open(path):
        event = json.loads(line)
        if event["namewall"].get("sandbox") == sandbox:
            yield event


def questions(path, sandbox):
    found = {}
    for event in events(path, sandbox):
        action = event["event"]["action"]
        if not action.startswith("dns-") or "question" not in event["dns"]:
            continue
        ours = event["namewall"]
        question = event["dns"]["question"]
        found[question["name"], question["type"]] = (
            action, ours.get("reason", "-"), ours.get("would", "-"),
            ours.get("would_reason", "-"))
    for key in sorted(found):
        print(*key, *found[key])


def read(path):
    return {tuple(line.split()[:2]): line.split()[2:] for line in open(path)}


def same(audit, enforced):
    said, done = read(audit), read(enforced)
    wrong = 0
    for key, (action, reason, _, _) in done.items():
        if key not in said:
            print("not asked in the audit:", *key)
            wrong += 1
            continue
        was, why, would, would_reason = said[key]
        expected = {"allow": "dns-answered", "deny": "dns-denied",
                    "fail": "dns-failed"}[would]
        given = would_reason if would_reason != "-" else why
        if action != expected or (action == "dns-denied" and reason != given):
            print(*key, "was to be", expected, given, "is", action, reason)
            wrong += 1
    print("compared", len(done), "wrong", wrong)
    return wrong == 0 and len(done) > 0


def every(path, sandbox):
    count = silent = 0
    for event in events(path, sandbox):
        if event["event"]["action"] not in SAYING:
            continue
        count += 1
        ours = event["namewall"]
        if ours.get("mode") != "audit" or "would" not in ours:
            print(json.dumps(event))
            silent += 1
    print("events", count, "silent", silent)
    return count > 0 and silent == 0


def packets(path, sandbox):
    for event in events(path, sandbox):
        if event["event"]["action"] == "direct-ip-rejected" and \
                event["event"]["type"] == ["allowed"]:
            print(event["destination"]["ip"], event["destination"].get("port", "-"),
                  event["namewall"]["reason"], event["namewall"]["would"])


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    result = {"questions": questions, "same": same, "every": every,
              "packets": packets}[what](*rest)
    sys.exit(0 if result in (None, True) else 1)

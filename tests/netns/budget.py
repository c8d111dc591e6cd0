#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What 231-budget counts.

  pcap FILE DOMAIN    questions below a domain that were seen outside: how
                      many, their octets below it, and what these can say:
                      5 bits an octet, each name once
  before DOMAIN ACTION  of event lines: how many questions below a domain
                      came before the first event of a kind about one
  between FIRST SECOND  of event lines: milliseconds from one to the other
"""
import datetime
import json
import struct
import sys


def names_of(path):
    """The names of questions in UDP over IPv4 over Ethernet, as labels."""
    data = open(path, "rb").read()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from(order + "I", data, at + 8)[0]
        packet = data[at + 16:at + 16 + size]
        at += 16 + size
        if packet[12:14] != b"\x08\x00" or packet[23] != 17:
            continue
        question = packet[14 + (packet[14] & 15) * 4 + 8 + 12:]
        labels = []
        while question and question[0]:
            labels.append(question[1:1 + question[0]])
            question = question[1 + question[0]:]
        yield tuple(labels)


def pcap(path, domain):
    top = tuple(label.encode() for label in domain.split("."))
    below = [n[:-len(top)] for n in names_of(path)
             if n[-len(top):] == top and n != top]
    octets = sum(len(label) for name in set(below) for label in name)
    return "%d %d %d" % (len(below), octets, octets * 5)


def events():
    return map(json.loads, sys.stdin)


def before(domain, action):
    count = 0
    for event in events():
        name = event.get("dns", {}).get("question", {}).get("name", "")
        if event["event"]["action"] == action and name.endswith(domain):
            return count
        if name.endswith(domain) and event["event"]["kind"] == "event":
            count += event["namewall"].get("count", 1)
    return "never"


def between(first, second):
    started = None
    for event in events():
        at = datetime.datetime.strptime(event["@timestamp"],
                                        "%Y-%m-%dT%H:%M:%S.%fZ")
        if event["event"]["action"] == first and started is None:
            started = at
        if event["event"]["action"] == second:
            return int((at - started).total_seconds() * 1000)
    return "never"


if __name__ == "__main__":
    words = {"pcap": pcap, "before": before, "between": between}
    print(words[sys.argv[1]](*sys.argv[2:]))

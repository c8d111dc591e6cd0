# SPDX-License-Identifier: BSD-2-Clause
"""The resolver as a program: real sockets, a scripted helper and upstreams.

Runs inside a network namespace of its own (resolver.test sees to that). Each
function test_* is one run of the program; a failed check ends the whole.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import dns.edns
import dns.message
import dns.rcode
import dns.rdatatype

from fakes import (ENFILE, Helper, RECALL, RESET, SETTLE, UNPIN, Upstream,
                   answer_to, pack)

NOBODY = 65534
LISTEN = "192.0.2.1"
LISTEN6, BOX1_6, UP6 = "2001:db8:1::1", "2001:db8:1::11", "2001:db8:f::53"
BOX1, BOX2, STRANGER = "192.0.2.11", "192.0.2.12", "192.0.2.99"
UP1, UP2, CORP = "203.0.113.53", "203.0.113.54", "203.0.113.55"
CONFIG = """version: 1
listen: [192.0.2.1, "2001:db8:1::1"]
edge: [box0]
upstream: [203.0.113.53, 203.0.113.54]
forward:
  corp.example: [203.0.113.55]
protected: {except: [198.51.100.0/24, "2001:db8:100::/48"]}
sandboxes:
  box1:
    policy: agent
    source: [192.0.2.11, "2001:db8:1::11"]
  box2:
    policy: agent
    source: [192.0.2.12]
policies:
  agent:
    refresh: on-demand
    allow:
      - ok.example.com
      - two.example.com:443,22
      - big.example.com
      - spoof.example.com
      - failover.example.com
      - dead.example.com
      - broken.example.com
      - private.example.com
      - db.corp.example
    deny: [never.example.com]
events:
  - file: %(dir)s/events.jsonl
  - {file: %(dir)s/alerts.jsonl, only: [alert]}
user: nobody
state_dir: %(dir)s/state
control: {status_path: %(dir)s/status.sock}
"""


def check(what, ok, *details):
    if ok:
        print("ok:", what, flush=True)
        return
    print("FAIL:", what, *details, flush=True)
    sys.exit(1)


def until(seconds, ready):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if ready():
            return True
        time.sleep(0.01)
    return False


def script(query, tcp):
    """What both upstreams say, but for failover.example.com."""
    name = query.question[0].name.to_text()
    is_a = query.question[0].rdtype == dns.rdatatype.A
    if name == "dead.example.com.":
        return []
    if name == "broken.example.com.":
        response = answer_to(query)
        response.set_rcode(dns.rcode.SERVFAIL)
        return [response]
    if name == "big.example.com." and not tcp:
        response = answer_to(query)
        response.flags |= dns.flags.TC
        return [response]
    if not is_a:
        return [answer_to(query)]
    good = answer_to(query, name + " 60 IN A 198.51.100.10")
    if name == "private.example.com.":
        return [answer_to(query, name + " 60 IN A 10.0.0.1")]
    if name != "spoof.example.com.":
        return [good]
    bad = answer_to(query, name + " 60 IN A 198.51.100.66")
    wrong_id = bytearray(bad.to_wire())
    wrong_id[1] ^= 1
    other = dns.message.make_query("other.example.com.", "A")
    other.id = query.id
    wrong_name = answer_to(other, "other.example.com. 60 IN A 198.51.100.66")
    not_response = bytearray(bad.to_wire())
    not_response[2] &= 0x7F
    return [bytes(wrong_id), wrong_name, bytes(not_response), b"\0" * 5, good]


def script_six(query, tcp):
    name = query.question[0].name.to_text()
    if query.question[0].rdtype == dns.rdatatype.AAAA:
        return [answer_to(query, name + " 60 IN AAAA 2001:db8:100::10")]
    return [answer_to(query, name + " 60 IN A 198.51.100.10")]


def script_first(query, tcp):
    if query.question[0].name.to_text() == "failover.example.com.":
        response = answer_to(query)
        response.set_rcode(dns.rcode.SERVFAIL)
        return [response]
    return script(query, tcp)


class Resolver:
    def __init__(self, dir, config=CONFIG, sandboxes=2, bound=None):
        """bound: pairs of sandbox and interface index."""
        self.dir = dir
        for name in "status.sock",:
            (dir / name).unlink(missing_ok=True)
        (dir / "state").mkdir(exist_ok=True)
        os.chown(dir / "state", NOBODY, NOBODY)
        self.helper = Helper(
            sandboxes, [(1, 1), (2, 1)] if bound is None else bound)
        self.listeners = [socket.socket(family, socket.SOCK_DGRAM)
                          for family in (socket.AF_INET, socket.AF_INET6)]
        self.listeners[0].setsockopt(socket.IPPROTO_IP, 8, 1)  # IP_PKTINFO
        self.listeners[0].bind((LISTEN, 53))
        self.listeners[1].setsockopt(socket.IPPROTO_IPV6,
                                     socket.IPV6_RECVPKTINFO, 1)
        self.listeners[1].bind((LISTEN6, 53))
        self.listen_tcp(socket.AF_INET, socket.IPPROTO_IP, 8, LISTEN)
        self.listen_tcp(socket.AF_INET6, socket.IPPROTO_IPV6,
                        socket.IPV6_RECVPKTINFO, LISTEN6)
        self.status_socket = socket.socket(socket.AF_UNIX)
        self.status_socket.bind(str(dir / "status.sock"))
        self.status_socket.listen(16)
        self.process = None
        try:
            self.start(config)
        finally:
            for end in (*self.listeners, self.status_socket,
                        self.helper.theirs):
                end.close()

    def listen_tcp(self, family, level, packet_info, address):
        end = socket.socket(family, socket.SOCK_STREAM)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.setsockopt(level, packet_info, 1)
        end.bind((address, 53))
        end.listen(64)
        self.listeners.append(end)

    def start(self, config):
        (self.dir / "config").write_text(config % {"dir": self.dir})
        (self.dir / "suffixes").write_text("// VERSION: test\ncom\nexample\n")
        fds = {
            "config": os.open(self.dir / "config", os.O_RDONLY),
            "suffixes": os.open(self.dir / "suffixes", os.O_RDONLY),
            "state": os.open(self.dir / "state", os.O_DIRECTORY),
            "helper": self.helper.theirs.fileno(),
            "listen": self.listeners[0].fileno(),
            "listen6": self.listeners[1].fileno(),
            "tcp": self.listeners[2].fileno(),
            "tcp6": self.listeners[3].fileno(),
            "status": self.status_socket.fileno(),
        }
        program = os.path.join(os.environ["BUILD_DIR"], "namewall-resolver")
        self.log = open(self.dir / "log", "a+")
        self.process = subprocess.Popen(
            [program, "--helper-fd", str(fds["helper"]),
             "--config-fd", str(fds["config"]),
             "--config-name", "test.yaml",
             "--file", "suffixes=%d=psl" % fds["suffixes"],
             "--listen-fd", str(fds["listen"]),
             "--listen-fd", str(fds["listen6"]),
             "--listen-tcp-fd", str(fds["tcp"]),
             "--listen-tcp-fd", str(fds["tcp6"]),
             "--status-fd", str(fds["status"]),
             "--state-fd", str(fds["state"])],
            pass_fds=fds.values(), user=NOBODY, group=NOBODY,
            extra_groups=[], stderr=self.log)
        for name in "config", "suffixes", "state":
            os.close(fds[name])

    def ready(self):
        check("the resolver answers", until(
            5, lambda: '"answering"' in self.command_text("status")),
              self.log_text())
        return self

    def log_text(self):
        return (self.dir / "log").read_text()

    def command_text(self, line):
        end = socket.socket(socket.AF_UNIX)
        end.settimeout(5)
        end.connect(str(self.dir / "status.sock"))
        end.sendall(line.encode() + b"\n")
        text = b""
        while True:
            part = end.recv(65536)
            if not part:
                return text.decode()
            text += part

    def command(self, line):
        lines = [json.loads(l) for l in self.command_text(line).splitlines()]
        assert lines[0].get("protocol") == 1, (line, lines)
        return lines[1:]

    def stop(self, code=0):
        if code == 0:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(5)
        check("exit code is %d" % code, status == code, status,
              self.log_text())
        self.helper.close()


def ask(name, type="A", source=BOX1, timeout=5, edns=True):
    """(response or None, seconds)."""
    query = dns.message.make_query(name, type, use_edns=0 if edns else -1)
    six = ":" in source
    end = socket.socket(socket.AF_INET6 if six else socket.AF_INET,
                        socket.SOCK_DGRAM)
    end.bind((source, 0))
    end.settimeout(timeout)
    started = time.monotonic()
    end.sendto(query.to_wire(), (LISTEN6 if six else LISTEN, 53))
    try:
        wire, sender = end.recvfrom(4096)
    except socket.timeout:
        return None, time.monotonic() - started
    assert sender[:2] == (LISTEN6 if six else LISTEN, 53)
    response = dns.message.from_wire(wire)
    assert response.id == query.id
    return response, time.monotonic() - started


def rcode(response):
    return dns.rcode.to_text(response.rcode()) if response else None


def addresses(response):
    return sorted(item.address for rrset in response.answer
                  for item in rrset)


def extended(response):
    return [option.code for option in response.options
            if isinstance(option, dns.edns.EDEOption)]


def test_answers(dir, up1, up2, corp):
    r = Resolver(dir).ready()
    r.helper.delay = 0.15
    response, took = ask("OK.example.com")
    check("a listed name is answered", addresses(response) ==
          ["198.51.100.10"], response)
    check("only after the ack", took >= 0.15 and
          r.helper.acked[-1][1] <= time.monotonic(), took)
    pin = r.helper.pins()[-1]
    check("one pin, for the asked sandbox, address and port",
          (pin.sandbox, pin.address, pin.protocol, pin.port) ==
          (1, "198.51.100.10", 6, 443) and len(r.helper.pins()) == 1)
    check("which outlives the TTL", pin.lifetime >=
          response.answer[0].ttl * 1000, pin.lifetime)
    asked = len(up1.seen) + len(up2.seen)
    response, took = ask("ok.example.com")
    check("the second time from memory, without a pin", addresses(response)
          and len(r.helper.pins()) == 1 and
          asked == len(up1.seen) + len(up2.seen), response, took,
          [(p.lifetime, p.seen) for p in r.helper.pins()], asked,
          up1.names(), up2.names())
    check("A and AAAA were asked, lower case, RD, with ids of our own",
          all(n == "ok.example.com." for n in up1.names() + up2.names()) and
          asked == 2)
    response, _ = ask("two.example.com", source=BOX2)
    check("each port is pinned", sorted(
        p.port for p in r.helper.pins() if p.sandbox == 2) == [22, 443])
    asked = len(up1.seen) + len(up2.seen)
    response, _ = ask("unlisted.example.org")
    check("an unlisted name does not exist", rcode(response) == "NXDOMAIN"
          and extended(response) == [15], response)
    response, _ = ask("never.example.com")
    check("nor does a denied one", rcode(response) == "NXDOMAIN")
    response, _ = ask("ok.example.com", source=STRANGER)
    check("a stranger is refused", rcode(response) == "REFUSED" and
          extended(response) == [18], response)
    check("and nobody upstream heard of it",
          asked == len(up1.seen) + len(up2.seen))
    response, _ = ask("db.corp.example")
    check("a forward zone is asked at its own server", addresses(response)
          and set(corp.names()) == {"db.corp.example."} and
          "db.corp.example." not in up1.names() + up2.names())
    response, _ = ask("private.example.com")
    check("an answer into a protected range is NODATA",
          rcode(response) == "NOERROR" and not response.answer)
    check("an alert says so", until(1, lambda: "rebinding-blocked" in
                                    (dir / "alerts.jsonl").read_text()))
    r.stop()


def test_helper_refuses(dir, up1, up2, corp):
    r = Resolver(dir).ready()
    r.helper.mode = "nack"
    response, took = ask("ok.example.com")
    check("refused pin: SERVFAIL", rcode(response) == "SERVFAIL" and
          not response.answer, response)
    r.helper.mode = "silent"
    response, took = ask("two.example.com")
    check("silent helper: SERVFAIL in time", rcode(response) == "SERVFAIL"
          and took <= 2.1, took, response)
    r.helper.mode = "ack"
    response, took = ask("ok.example.com")
    check("then it works again", rcode(response) == "NOERROR" and
          response.answer, response)
    counts = r.command("status")[0]["counts"]
    check("what was refused is counted", counts["pins_refused"] == 1 and
          counts["failed"] == 2, counts)
    print("covers: A2 A4 A5")
    r.helper.close()
    r.stop(code=1)
    check("an end by hanging up is an event too",
          (dir / "events.jsonl").read_text().count('"stopped"') == 1)


def test_upstream(dir, up1, up2, corp):
    r = Resolver(dir).ready()
    response, _ = ask("big.example.com")
    check("a truncated answer is fetched over TCP", addresses(response) ==
          ["198.51.100.10"], response)
    check("really over TCP", any(tcp for _, _, tcp in up1.seen + up2.seen))
    response, _ = ask("spoof.example.com")
    check("answers to other questions are ignored", addresses(response) ==
          ["198.51.100.10"], response)
    counts = r.command("status")[0]["counts"]
    check("and counted", counts["foreign_answers"] == 4, counts)
    for _ in range(8):
        response, _ = ask("failover.example.com")
        check("a server that fails is passed over",
              addresses(response) == ["198.51.100.10"], response)
        if "failover.example.com." in up1.names():
            break
    response, took = ask("broken.example.com")
    check("all servers fail: SERVFAIL at once, 23", rcode(response) ==
          "SERVFAIL" and took < 0.8 and extended(response) == [23], response)
    response, took = ask("dead.example.com")
    check("silence everywhere: SERVFAIL in time, 22", rcode(response) ==
          "SERVFAIL" and 1.5 < took <= 2.1 and extended(response) == [22],
          took, response)
    ports = {client[1] for _, client, tcp in up1.seen + up2.seen if not tcp}
    check("asks come from several ports", len(ports) > 2, ports)
    r.stop()
    print("covers: N157")


def test_ipv6(dir, up1, up2, corp):
    r = Resolver(dir, config=CONFIG.replace(
        "[203.0.113.53, 203.0.113.54]", '["%s"]' % UP6)).ready()
    response, _ = ask("ok.example.com", "AAAA", source=BOX1_6)
    check("over IPv6, from an upstream over IPv6", addresses(response) ==
          ["2001:db8:100::10"], response)
    pin = r.helper.pins()[-1]
    check("an IPv6 pin", (pin.family, pin.address, pin.sandbox) ==
          (6, "2001:db8:100::10", 1))
    response, _ = ask("ok.example.com", "A", source=BOX1_6)
    check("the other half of the pair is in memory", addresses(response) ==
          ["198.51.100.10"] and len(r.helper.pins()) == 2, response)
    response, _ = ask("ok.example.com", "AAAA", source=BOX2)
    check("no IPv6 for a sandbox without: NODATA", rcode(response) ==
          "NOERROR" and not response.answer, response)
    r.stop()


def test_garbage(dir, up1, up2, corp):
    r = Resolver(dir).ready()
    seed = int(time.time())
    print("seed", seed)
    draw = random.Random(seed)
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.bind((BOX1, 0))
    whole = dns.message.make_query("ok.example.com", "A").to_wire()
    for i in range(3000):
        wire = bytearray(whole if i % 2 else
                         draw.randbytes(draw.choice((0, 1, 12, 40, 3000))))
        for _ in range(draw.randrange(4)):
            if wire:
                wire[draw.randrange(len(wire))] = draw.randrange(256)
        end.sendto(wire, (LISTEN, 53))
        if i % 50 == 0:
            time.sleep(0.002)
    response, _ = ask("two.example.com")
    check("garbage harms nobody", addresses(response) == ["198.51.100.10"],
          response)
    r.helper.send(b"x" * 63)
    r.stop(code=1)
    check("garbage from the helper is the end",
          "protocol violation" in r.log_text(), r.log_text())


def test_binding(dir, up1, up2, corp):
    r = Resolver(dir, bound=[(1, 1), (2, 4242)]).ready()
    response, _ = ask("ok.example.com", source=BOX2, timeout=0.5)
    check("a known source by another interface gets nothing",
          response is None, response)
    response, _ = ask("ok.example.com")
    check("the bound one is answered", bool(response and response.answer))
    lines = {l["name"]: l for l in r.command("status")
             if l.get("kind") == "sandbox"}
    check("status tells them apart", lines["box1"]["interface"] == "box0" and
          lines["box2"]["spoofed"] == 1 and lines["box1"]["spoofed"] == 0)
    check("an alert says so", until(1, lambda: "source-spoofed" in
                                    (dir / "alerts.jsonl").read_text()))
    r.helper.send(pack(132, 0, 1, ifindex=0))
    check("unbound: its pins are forgotten",
          until(1, lambda: len(r.command("pins")) == 1))
    response, _ = ask("ok.example.com", timeout=0.5)
    check("and its questions dropped", response is None)
    r.helper.send(pack(132, 0, 1, ifindex=1))
    response, _ = ask("ok.example.com")
    check("bound again: pinned anew", bool(response and response.answer) and
          len(r.helper.pins()) == 2)
    r.helper.send(pack(RESET, ifindex=7, count=3))
    check("a lost table: an alert", until(1, lambda: "pins-lost" in
                                          (dir / "alerts.jsonl").read_text()))
    ask("ok.example.com")
    check("and pinned anew", len(r.helper.pins()) == 3)
    r.stop()


def test_commands(dir, up1, up2, corp):
    r = Resolver(dir).ready()
    ask("ok.example.com")
    ask("unlisted.example.org")
    pins = r.command("pins")
    check("pins", pins[-1] == {"ok": True} and len(pins) == 2 and
          pins[0]["sandbox"] == "box1" and pins[0]["port"] == 443 and
          pins[0]["address"] == "198.51.100.10" and
          pins[0]["names"][0]["rule"] == "ok.example.com", pins)
    check("pins of another sandbox",
          r.command("pins box2") == [{"ok": True}])
    for line, code in (("pins box3", "unknown-sandbox"),
                       ("budget box3", "unknown-sandbox"),
                       ("budget box1 x", "usage"),
                       ("budget --live", "usage"), ("attach x", "not-here"), ("frobnicate", "unknown-command"),
                       ("explain", "usage"), ("explain a..b", "bad-name"),
                       ("explain ok.example.com XYZ", "bad-type"),
                       ("status -x", "usage"), ("status  x", "usage"),
                       ("", "usage"), ("x" * 4090, "unknown-command")):
        answer = r.command(line)
        check("%.20r is refused as %s" % (line, code),
              answer[-1].get("error", {}).get("code") == code, answer)
    budget = r.command("budget")
    check("budgets: exact names, two sandboxes, one policy",
          [(b["level"], b["sandbox"], b["rule"]) for b in budget[:-1]] ==
          [("rule", "box1", None), ("sandbox", "box1", None),
           ("policy", None, None), ("rule", "box2", None),
           ("sandbox", "box2", None)], budget)
    used = [b["used_bits"] for b in budget[:-1]]
    check("one has spent, all three know of it", 4 < used[0] < 200 and
          used == [used[0]] * 3 + [0, 0], budget)
    check("of the defaults", [b["limit_bits"] for b in budget[:3]] ==
          [8192, 32768, 131072] and budget[3]["left_bits"] == 8192 - 20,
          budget)
    check("of one sandbox", r.command("budget box2")[:2] == budget[3:5] and
          len(r.command("budget box2")) == 4)
    verdict = r.command("explain ok.example.com --sandbox box1")[0]
    check("what is known costs nothing", verdict["cost"] is None and
          verdict["free"] == "cached", verdict)
    verdict = r.command("explain ok.example.com --sandbox box2")[0]
    check("what is not has its price", verdict["cost"]["bits"] > 4 and
          verdict["cost"]["left_bits"] == 8192 - 20, verdict)
    verdict = r.command("explain ok.example.com --sandbox box1")[0]
    check("explain a listed name", verdict["verdict"] == "allow" and
          verdict["by"]["rule"] == "ok.example.com" and
          verdict["by"]["line"] == 19 and verdict["ports"] == ["tcp/443"],
          verdict)
    verdict = r.command("explain www.example.com")[0]
    check("explain an unlisted one", verdict["verdict"] == "deny" and
          verdict["reason"] == "unlisted" and verdict["nearest"] and
          verdict["would_allow"] == "- www.example.com", verdict)
    verdict = r.command("explain never.example.com")[0]
    check("explain a denied one", verdict["by"]["deny"] is True and
          verdict["would_allow"] is None, verdict)
    verdict = r.command("explain ok.example.com TXT")[0]
    check("explain a type", verdict["reason"] == "type" and "TXT" in
          verdict["would_allow"], verdict)
    actions = [l["event"]["action"] for l in r.command("events")[:-1]]
    check("events", actions == ["config-loaded", "started", "dns-answered",
                                "dns-denied"], actions)
    denied = r.command("events --denied")
    check("events, denied ones", len(denied) == 2 and
          denied[0]["dns"]["question"]["name"] == "unlisted.example.org")
    check("events of another sandbox", len(r.command("events --sandbox box2"))
          == 1)
    follow(r)
    filed = until(1, lambda: (dir / "events.jsonl").read_text().count("\n")
                  >= 5)
    check("event lines are in the file", filed)
    for line in (dir / "events.jsonl").read_text().splitlines():
        json.loads(line)
    check("which only owner and group may read",
          (dir / "events.jsonl").stat().st_mode & 0o777 == 0o640)
    rotate(r, dir)
    r.stop()


def follow(r):
    end = socket.socket(socket.AF_UNIX)
    end.connect(str(r.dir / "status.sock"))
    end.settimeout(2)
    end.sendall(b"events -f --sandbox box2\n")
    reader = end.makefile()
    reader.readline()
    ask("followed.example.org", source=BOX2)
    line = json.loads(reader.readline())
    check("events -f brings what happens next",
          line["dns"]["question"]["name"] == "followed.example.org", line)
    end.close()


def rotate(r, dir):
    (dir / "events.jsonl").rename(dir / "events.1")
    r.process.send_signal(signal.SIGUSR1)
    check("SIGUSR1 makes a new file",
          until(1, lambda: (dir / "events.jsonl").exists()))
    ask("rotated.example.org")
    check("and events go there", until(1, lambda: "rotated" in
                                       (dir / "events.jsonl").read_text()))


def test_many_clients(dir, up1, up2, corp):
    """Readers that do not read, and too many of them, harm nobody."""
    r = Resolver(dir).ready()
    ends = []
    for _ in range(40):
        end = socket.socket(socket.AF_UNIX)
        end.connect(str(dir / "status.sock"))
        ends.append(end)
    ends[0].sendall(b"status")
    check("connections over the limit are closed",
          until(2, lambda: any(is_closed(end) for end in ends)))
    response, took = ask("ok.example.com")
    check("questions are answered all the same", took < 1)
    for i in range(1000):
        ask("n%d.example.org" % i)
    stuck = ends[1]
    stuck.sendall(b"events\n")
    patience_ends = time.monotonic() + 11
    check("who sends no command is closed",
          until(12, lambda: all(is_closed(end) for end in ends
                                if end != stuck)))
    time.sleep(max(0, patience_ends - time.monotonic()))
    stuck.setblocking(True)
    text = b""
    while part := stuck.recv(65536):
        text += part
    check("and who does not read: his lines end in the middle",
          len(text) > 65536 and not text.endswith(b'{"ok":true}\n'),
          len(text))
    for end in ends:
        end.close()
    check("and status is, once they are gone",
          until(2, lambda: "answering" in r.command_text("status")))
    r.stop()


def is_closed(end):
    end.setblocking(False)
    try:
        return end.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_restart(dir, up1, up2, corp):
    r = Resolver(dir).ready()
    ask("ok.example.com")
    ask("two.example.com", source=BOX2)
    r.process.kill()
    r.process.wait()
    r.helper.close()
    r = Resolver(dir).ready()
    recalls = sorted((p.sandbox, p.address, p.port)
                     for p in r.helper.pins(RECALL))
    check("kill -9 loses no pin", recalls == [
        (1, "198.51.100.10", 443), (2, "198.51.100.10", 22),
        (2, "198.51.100.10", 443)], recalls)
    check("their lifetimes are what is left", all(
        0 < p.lifetime < 3600000 for p in r.helper.pins(RECALL)))
    order = [p.op for p in r.helper.requests]
    check("SETTLE comes last", order.index(SETTLE) == len(order) - 1, order)
    r.stop()
    r = Resolver(dir, config=CONFIG.replace("      - two.example.com:443,22\n",
                                            "")).ready()
    recalls = [p.sandbox for p in r.helper.pins(RECALL)]
    check("what no rule grants any more is not recalled", recalls == [1],
          recalls)
    r.stop()


def test_refusals(dir, up1, up2, corp):
    program = os.path.join(os.environ["BUILD_DIR"], "namewall-resolver")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    code = subprocess.run([program], **quiet).returncode
    check("no arguments: 2", code == 2, code)
    r = Resolver(dir, config=CONFIG.replace("version: 1", "version: 7"))
    r.stop(code=1)
    check("a wrong configuration is named by line",
          "test.yaml:1:" in r.log_text(), r.log_text())
    with open("/dev/null") as null:
        fd = str(null.fileno())
        arguments = [program, "--config-name", "x"]
        for name in ("helper", "config", "listen", "listen-tcp", "status",
                     "state"):
            arguments += ["--%s-fd" % name, fd]
        code = subprocess.run(arguments, pass_fds=[null.fileno()],
                              **quiet).returncode
    check("as root: 3", code == 3, code)
    r = Resolver(dir, sandboxes=3)
    r.stop(code=1)


def prepare_network():
    # The loopback is no edge by its own name.
    subprocess.run(["ip", "link", "set", "lo", "name", "box0"], check=True)
    subprocess.run(["ip", "link", "set", "box0", "up"], check=True)
    for address in (LISTEN, BOX1, BOX2, STRANGER, UP1, UP2, CORP, LISTEN6,
                    BOX1_6, UP6):
        how = ["/128", "nodad"] if ":" in address else ["/32"]
        subprocess.run(["ip", "address", "add", address + how[0], "dev",
                        "box0", *how[1:]], check=True)


def main(tests, answers=None):
    """Runs what is named test_*; answers: what all upstreams say."""
    prepare_network()
    ups = [Upstream(UP1, answers or script_first),
           Upstream(UP2, answers or script), Upstream(CORP, answers or script)]
    Upstream(UP6, answers or script_six)
    wanted = sys.argv[1:]
    for name, test in list(tests.items()):
        if not name.startswith("test_") or (wanted and name not in wanted):
            continue
        print("---", name, flush=True)
        for up in ups:
            up.seen.clear()
        dir = pathlib.Path(tempfile.mkdtemp(prefix="namewall-"))
        os.chown(dir, NOBODY, NOBODY)
        os.chmod(dir, 0o755)
        try:
            test(dir, *ups)
        except BaseException:
            log = dir / "log"
            print(log.read_text() if log.exists() else "no log", flush=True)
            raise
        finally:
            shutil.rmtree(dir)
    os._exit(0)


if __name__ == "__main__":
    main(globals())

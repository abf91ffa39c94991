import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import { type ArpTable, arpTable } from './arpTable.ts';

/** What is known of hosts that we gave no address to. */
export interface HostView {
  /** The Ethernet address of the host that answers at an address; undefined when none does, or nobody looked lately. */
  hostAt(address: string): string | undefined;
  /** Addresses at which nobody answered lately. */
  unanswered(): Iterable<string>;
}

interface Finding {
  host?: string;
  at: number;
}

/** A host answers within milliseconds, one under load later. */
const answerMs = 1000;
/** A neighbour that the kernel knows is asked again only 5 s after a datagram, three times (arp(7)); then it is forgotten. */
const confirmMs = 9000;
/** A finding counts for so long, and is looked for again after half of it. */
const freshMs = 120_000;
/** So many addresses are looked at in a time: the kernel's own table has room for about a thousand neighbours. */
const mostRunning = 64;
/** Probes that end at about the same time are settled together. */
const settleEveryMs = 50;
/** One reading of the table serves the decisions of one moment. */
const tableMs = 10;

export interface ProbeParts {
  /** Makes the kernel ask who has the address. */
  ask(address: string): void;
  table(): ArpTable;
  /** Called when a probe found a host, once as long as it is the same. */
  onHost(address: string, mac: string): void;
  clock: Clock;
}

/**
 * Is some host on an address already (RFC 2131 §3.1 step 2)? An empty datagram makes the kernel send an ARP request, whose
 * answer shows in its table: that takes no privileges. Nobody waits for a probe; decisions use what is known.
 */
export class Probes implements HostView {
  readonly #parts: ProbeParts;
  /** Whether the kernel knew a neighbour there already: then only what is left after it asked anew counts. */
  readonly #running = new Map<string, { knownBefore: boolean; until: number }>();
  readonly #findings = new Map<string, Finding>();
  readonly #stop = new AbortController();
  #settling = false;
  #read: { at: number; table: ArpTable } | undefined;

  constructor(parts: ProbeParts) {
    this.#parts = parts;
  }

  /** Begins to look at addresses that nobody looked at lately, as far as there is room. */
  begin(addresses: Iterable<string>): void {
    const due = [...addresses].filter((address) => this.#isDue(address));
    const room = Math.max(0, mostRunning - this.#running.size);
    if (due.length === 0 || room === 0) return;
    const before = this.#parts.table();
    const now = this.#parts.clock.now();
    for (const address of due.slice(0, room)) {
      const knownBefore = before.has(address);
      this.#running.set(address, { knownBefore, until: now + (knownBefore ? confirmMs : answerMs) });
      this.#parts.ask(address);
    }
    if (this.#settling) return;
    this.#settling = true;
    void this.#settleAll().catch(ignore);
  }

  /** Whether so many addresses are looked at that others have to wait. */
  isBusy(): boolean {
    return this.#running.size >= mostRunning;
  }

  hostAt(address: string): string | undefined {
    const probe = this.#running.get(address);
    if (probe?.knownBefore === false) {
      const host = this.#lately().get(address);
      if (host !== undefined) return host;
    }
    return this.#fresh(address)?.host;
  }

  unanswered(): string[] {
    const now = this.#parts.clock.now();
    const found: string[] = [];
    for (const [address, { host, at }] of this.#findings)
      if (host === undefined && now - at < freshMs) found.push(address);
    return found;
  }

  close(): void {
    this.#stop.abort();
  }

  #lately(): ArpTable {
    const now = this.#parts.clock.now();
    if (this.#read === undefined || now - this.#read.at >= tableMs)
      this.#read = { at: now, table: this.#parts.table() };
    return this.#read.table;
  }

  /** One reading of the table settles all probes that have had their time. */
  async #settleAll(): Promise<void> {
    const { clock } = this.#parts;
    while (this.#running.size > 0) {
      const next = Math.min(...[...this.#running.values()].map(({ until }) => until));
      await clock.sleep(Math.max(next - clock.now(), settleEveryMs), this.#stop.signal);
      this.#settleDue(clock.now(), this.#parts.table());
    }
    this.#settling = false;
  }

  #settleDue(now: number, table: ArpTable): void {
    for (const [address, { until }] of this.#running) {
      if (until > now) continue;
      this.#running.delete(address);
      this.#settle(address, table.get(address), now);
    }
    for (const address of this.#findings.keys())
      if (this.#fresh(address) === undefined) this.#findings.delete(address);
  }

  #settle(address: string, host: string | undefined, at: number): void {
    const before = this.#findings.get(address)?.host;
    this.#findings.set(address, { ...(host !== undefined && { host }), at });
    if (host !== undefined && host !== before) this.#parts.onHost(address, host);
  }

  #isDue(address: string): boolean {
    const finding = this.#fresh(address);
    if (this.#running.has(address)) return false;
    return finding === undefined || this.#parts.clock.now() - finding.at >= freshMs / 2;
  }

  #fresh(address: string): Finding | undefined {
    const finding = this.#findings.get(address);
    return finding !== undefined && this.#parts.clock.now() - finding.at < freshMs ? finding : undefined;
  }
}

/** Port 9, discard (RFC 863): who gets the datagram has nothing to do with it. */
const discardPort = 9;

/** The kernel's side of probes on one interface, whose network the addresses are in. */
export function kernelNeighbours(
  interfaceName: string,
): Pick<ProbeParts, 'ask' | 'table'> & { close(): void } {
  const socket: Socket = createSocket('udp4');
  // Nobody at home is an answer, and shows in the table.
  socket.on('error', ignore);
  return {
    ask: (address) => socket.send(Buffer.alloc(0), discardPort, address, ignore),
    table: () => neighbourTable(interfaceName),
    close: () => void socket.close(),
  };
}

/** The hosts on one interface that the kernel knows. */
export function neighbourTable(interfaceName: string): ArpTable {
  // This thread's network namespace is that of its sockets.
  return arpTable(readFileSync('/proc/thread-self/net/arp', 'latin1'), interfaceName);
}

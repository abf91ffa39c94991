import { withoutZone } from '#base/ipv6Address.ts';

/** One UDP datagram as the boot server saw it. */
export interface SeenDatagram {
  /** Milliseconds since the epoch. */
  at: number;
  from: { address: string; port: number };
  to: { address: string; port: number };
  payload: Buffer;
}

/** A tap for what comes from an address, whose machine the tap finds out. */
export interface DatagramTap {
  readonly isOn: boolean;
  saw(client: string, datagram: Omit<SeenDatagram, 'at'>): void;
}

interface Ring {
  datagrams: SeenDatagram[];
  /** The number of the first in `datagrams`; they count from 1. */
  first: number;
  bytes: number;
  askedAt: number;
}

const most = { machines: 8, datagrams: 20_000, bytes: 16 * 2 ** 20, addresses: 1024 };
/** Beside another DHCP server each look is one at the kernel's neighbour table. */
const lookUpMs = 200;
/** Who has stopped asking wants no more. */
const forgottenMs = 60_000;

/**
 * Keeps the datagrams of machines that somebody looks at, bounded in number and size: the oldest go. While nobody looks at any machine
 * it costs the servers one look at a field.
 */
export class PacketTap {
  readonly #rings = new Map<string, Ring>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get isOn(): boolean {
    return this.#rings.size > 0;
  }

  /** Keeps a datagram of this machine, if it is looked at. */
  saw(mac: string | undefined, datagram: Omit<SeenDatagram, 'at'>): void {
    const ring = mac === undefined ? undefined : this.#rings.get(mac);
    if (ring === undefined) return;
    if (this.#now() - ring.askedAt > forgottenMs) {
      this.#rings.delete(mac as string);
      return;
    }
    const { from, to, payload } = datagram;
    const ends = { from: endOf(from), to: endOf(to) };
    ring.datagrams.push({ ...ends, payload: Buffer.from(payload), at: this.#now() });
    ring.bytes += datagram.payload.length;
    while (ring.datagrams.length > most.datagrams || ring.bytes > most.bytes) drop(ring);
  }

  /** The same tap for what is known by the client's address. Whose it is, is looked up a few times a second, not for each datagram. */
  byAddress(macAt: (address: string) => string | undefined): DatagramTap {
    const tap = this;
    const known = new Map<string, { mac: string | undefined; at: number }>();
    const lookedUp = (address: string) => {
      const now = this.#now();
      const last = known.get(address);
      if (last !== undefined && now - last.at < lookUpMs) return last.mac;
      if (known.size >= most.addresses) known.clear();
      const mac = macAt(address);
      known.set(address, { mac, at: now });
      return mac;
    };
    return {
      get isOn() {
        return tap.isOn;
      },
      saw: (client, datagram) => tap.saw(lookedUp(client), datagram),
    };
  }

  /** The datagrams of a machine after the one numbered `after`, which it keeps from now on. */
  since(mac: string, after: number): { datagrams: SeenDatagram[]; last: number } {
    const ring = this.#rings.get(mac) ?? this.#begin(mac);
    ring.askedAt = this.#now();
    const datagrams = ring.datagrams.slice(Math.max(0, after + 1 - ring.first));
    return { datagrams, last: ring.first + ring.datagrams.length - 1 };
  }

  #begin(mac: string): Ring {
    const ring: Ring = { datagrams: [], first: 1, bytes: 0, askedAt: this.#now() };
    this.#rings.set(mac, ring);
    const [oldest] = this.#rings.keys();
    if (this.#rings.size > most.machines && oldest !== undefined) this.#rings.delete(oldest);
    return ring;
  }
}

function endOf({ address, port }: SeenDatagram['from']): SeenDatagram['from'] {
  return { address: withoutZone(address), port };
}

function drop(ring: Ring): void {
  const gone = ring.datagrams.shift();
  ring.bytes -= gone?.payload.length ?? 0;
  ring.first++;
}

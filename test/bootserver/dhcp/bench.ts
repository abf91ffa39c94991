import type { AddressView } from '#bootserver/dhcp/allocation.ts';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { type Decision, decide } from '#bootserver/dhcp/decide.ts';
import { Leases, type LeaseTable } from '#bootserver/dhcp/leases.ts';
import type { DhcpNetwork, Reservation } from '#bootserver/dhcp/network.ts';
import { networkOf } from '#bootserver/dhcp/networkOf.ts';
import type { OptionName, OptionValue } from '#bootserver/dhcp/options.ts';
import { readOption } from '#bootserver/dhcp/options.ts';
import { type DhcpPacket, decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import type { HostView } from '#bootserver/dhcp/probes.ts';
import type { LoaderChoice } from '#bootserver/machine.ts';
import { MemoryLeases } from './memoryLeases.ts';

export const network: DhcpNetwork = {
  mode: 'full',
  subnet: { address: '10.77.0.0', prefixLength: 24 },
  address: '10.77.0.1',
  pool: { first: '10.77.0.100', last: '10.77.0.103' },
  router: '10.77.0.1',
  dns: ['10.77.0.1', '9.9.9.9'],
  leaseSeconds: 600,
  httpUrl: 'http://10.77.0.1:8080',
  machineUrl: 'https://10.77.0.1:8443',
};

/** A server's mind without sockets: what it is told goes over the wire format, what it decides is carried out. */
export class Bench {
  readonly reserved = new Map<string, Reservation>();
  loaderGiven = false;
  isLooping = false;
  loader: LoaderChoice = { kind: 'ipxe' };
  now = 1_000_000;
  /** Leases may have been lost a moment ago. */
  isForgetful = false;
  /** Who answers at addresses, and where nobody does, as probes found. */
  readonly neighbours = new Map<string, string>();
  readonly silentAddresses = new Set<string>();
  readonly hosts: HostView = {
    hostAt: (address) => this.neighbours.get(address),
    unanswered: () => this.silentAddresses,
  };
  readonly #store = new MemoryLeases();
  #networks: DhcpNetwork[] = [network];
  #leases = new Leases(this.#store, this.#networks);

  /** That of the wire. */
  get network(): DhcpNetwork {
    return this.#networks[0] as DhcpNetwork;
  }

  set network(network: DhcpNetwork) {
    this.restart([network]);
  }

  /** The server starts anew: with networks that are not the same, or as after an update. */
  restart(networks = this.#networks): void {
    this.#networks = networks;
    this.#leases = new Leases(this.#store, networks);
  }

  /** The leases of the network of the wire. */
  get leases(): LeaseTable {
    return this.#leases.of(this.network);
  }

  /** All that decides about an address. */
  view(network = this.network): AddressView {
    const { hosts, isForgetful, now } = this;
    const reservations = {
      loader: () => this.loader,
      reservation: (key: string) => this.reserved.get(key.replace(/^1\//, '')),
      isReserved: (address: string) => [...this.reserved.values()].some((one) => one.address === address),
    };
    return { network, leases: this.#leases.of(network), reservations, hosts, isForgetful, now };
  }

  ask(packet: DhcpPacket): Decision {
    const request = overTheWire(packet);
    const network = networkOf(request, this.#networks);
    if (network === undefined) return { kind: 'silent', reason: 'another network', changes: [] };
    const { loaderGiven, isLooping } = this;
    const view = { ...this.view(network), loaderGiven, isLooping };
    const decision = decide(request, clientFacts(request), view);
    for (const change of decision.changes) this.#leases.of(network).apply(change);
    return decision;
  }

  /** The reply as the client decodes it. @throws Error when there is none */
  reply(packet: DhcpPacket): DhcpPacket {
    const decision = this.ask(packet);
    if (decision.kind === 'silent') throw new Error(`silent: ${decision.reason}`);
    return overTheWire(decision.reply);
  }
}

export function optionOf<Name extends OptionName>(
  packet: DhcpPacket,
  name: Name,
): OptionValue<Name> | undefined {
  return readOption(packet.options, name);
}

function overTheWire(packet: DhcpPacket): DhcpPacket {
  const decoded = decodePacket(encodePacket(packet));
  if ('malformed' in decoded) throw new Error(decoded.malformed);
  return decoded;
}

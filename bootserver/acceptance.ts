import type { Clock } from '#base/clock.ts';
import type { DhcpMode } from './dhcp/network.ts';
import { RecentMachines } from './recentMachines.ts';
import type { Advice } from './troubles.ts';

/** Firmware asks two or three times before it takes an offer: it waits for others. */
const mostOffers = 4;
/** One round may fail for any reason. */
const mostIgnored = 2;
/** The same machine is spoken of again only after so long. */
const tellAgainMs = 10 * 60_000;

interface Standing {
  /** Offers since the machine last took one of anybody. */
  offers: number;
  /** The server whose address it took last, without having come to us since. */
  tookFrom?: string;
  /** How often it took another server's address and then never came to us. */
  ignored: number;
  toldAt?: number;
}

const unknown: Standing = { offers: 0, ignored: 0 };

/**
 * Notices that offers are not accepted: only silence shows it, DISCOVERs that come again. Each method returns what to tell the
 * operator, once in ten minutes for a machine.
 */
export class Acceptance {
  readonly #machines: RecentMachines<Standing>;
  readonly #clock: Clock;

  constructor(clock: Clock, isNamed?: (mac: string) => boolean) {
    this.#clock = clock;
    this.#machines = new RecentMachines(isNamed);
  }

  /** A network-boot client was sent an OFFER. */
  offered(mac: string, mode: DhcpMode): Advice | undefined {
    const { tookFrom, ...before } = this.#machines.get(mac) ?? unknown;
    const ignored = before.ignored + (tookFrom === undefined ? 0 : 1);
    const now = { ...before, ignored, offers: before.offers + 1 };
    this.#machines.set(mac, now);
    if (mode !== 'full' && tookFrom !== undefined && ignored >= mostIgnored)
      return this.#tell(mac, now, ignoredBesides(tookFrom, ignored));
    if (now.offers < mostOffers) return undefined;
    return this.#tell(mac, now, mode === 'full' ? notAccepted(now.offers) : noServer(now.offers));
  }

  /** Its REQUEST names a server, which it takes the address of. */
  requested(mac: string, server: string | undefined, own: string, mode: DhcpMode): Advice | undefined {
    const before = this.#machines.get(mac) ?? unknown;
    if (server === own && mode === 'full') {
      this.#machines.delete(mac);
      return undefined;
    }
    const now: Standing = { ...before, offers: 0, tookFrom: server ?? 'another server' };
    this.#machines.set(mac, now);
    if (server === own) return this.#tell(mac, now, noServer(1));
    return mode === 'full' ? this.#tell(mac, now, otherServer(now.tookFrom)) : undefined;
  }

  /** It came to us for what the offer named: by TFTP, by HTTP or on port 4011. */
  came(mac: string): void {
    this.#machines.delete(mac);
  }

  #tell(mac: string, standing: Standing, text: string): Advice | undefined {
    const now = this.#clock.now();
    if (standing.toldAt !== undefined && now - standing.toldAt < tellAgainMs) return undefined;
    this.#machines.set(mac, { ...standing, toldAt: now });
    return { trouble: 'not-accepted', text };
  }
}

function notAccepted(offers: number): string {
  return (
    `${offers} offers in a row were not accepted: do they reach the machine (spanning tree delay, DHCP snooping, a VLAN that is tagged ` +
    'on one side only, a relay that drops them)? Is another DHCP server on this network? Old firmware may want the quirk option-60'
  );
}

function otherServer(server: string | undefined): string {
  return `took the address of ${server} and not ours: two DHCP servers on one network. Stop one of them, or set mode = "proxy" here`;
}

function noServer(offers: number): string {
  return (
    `asked ${offers === 1 ? 'us for an address' : `${offers} times and took no address of any server`}: the mode here is proxy, which gives none. ` +
    'Does the DHCP server of this network answer this machine?'
  );
}

function ignoredBesides(server: string, times: number): string {
  return (
    `took an address of ${server} ${times} times and never came for the boot file that we offered beside it: this firmware does not take ` +
    `a second offer. Try the quirk discovery-control; else have ${server} name this server and file (options 66, 67), or set mode = "full"`
  );
}

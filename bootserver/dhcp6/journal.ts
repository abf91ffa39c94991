import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { BootFact } from '#contract/bootFact.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import type { Boots } from '../boots.ts';
import { clientSighting, type Sighting } from '../sighting.ts';
import type { Client6Facts } from './client.ts';
import { messageType } from './message.ts';
import { readOption } from './options.ts';
import { type Relayed, relayedLink } from './relay.ts';
import type { Decision6 } from './reply.ts';

export interface Journal6Parts {
  boots: Boots;
  /** Told of each machine that asks for an address. */
  sighted?(sighting: Sighting): void;
  log: Log;
  clock: Clock;
}

/** That somebody got no address is told at most so often: its clients ask again and again. */
const warnEveryMs = 60_000;
/** What clients make us write, in messages, as over IPv4: a thousand machines that power on together are told in full, a flood is not. */
const written = { perSecond: 100, burst: 8000 };

const stepsOfBoot: readonly number[] = [
  messageType.solicit,
  messageType.request,
  messageType.informationRequest,
];

/** What is written of messages: a line of the log for each, and a line of the timeline for each step of a boot. */
export class Journal6 {
  readonly #parts: Journal6Parts;
  readonly #rate = new RateLimiter(written);
  #warnedAt: number | undefined;

  constructor(parts: Journal6Parts) {
    this.#parts = parts;
  }

  /** A message before it is answered: which boot it belongs to. */
  observe(relayed: Relayed, client: Client6Facts): void {
    const { boots, sighted } = this.#parts;
    if (client.mac === undefined || relayed.message.type !== messageType.solicit) return;
    const isNewBoot = boots.discovered(client.mac, client.kind);
    sighted?.(sightingOf(client.mac, relayed, client, isNewBoot));
  }

  write({ message }: Relayed, client: Client6Facts, decision: Decision6): void {
    if (decision.kind === 'reply' && decision.noAddress) this.#warnOfNoAddress(client);
    if (this.#rate.take('all') > 0) return;
    const { mac, kind, duid } = client;
    const who = { mac, duid: duid?.toString('hex'), xid: message.transactionId, client: kind };
    if (decision.kind === 'silent')
      this.#parts.log.debug({ ...who, reason: decision.reason }, 'DHCPv6: no reply');
    else this.#writeReply(who, message.type, client, decision);
  }

  /** Renewals are no steps of a boot. */
  #writeReply(
    who: object,
    asked: number,
    { mac, kind }: Client6Facts,
    { what, addresses, bootFileUrl }: Extract<Decision6, { kind: 'reply' }>,
  ): void {
    const { log, boots } = this.#parts;
    log.info({ ...who, addresses, ...(bootFileUrl && { bootFileUrl }) }, `DHCPv6 ${what}`);
    const told = [...addresses, ...(bootFileUrl === undefined ? [] : [bootFileUrl])];
    if (mac === undefined || !stepsOfBoot.includes(asked) || told.length === 0) return;
    const fact: BootFact = {
      step: what === 'ADVERTISE' ? 'offer' : 'ack',
      client: kind,
      ...(bootFileUrl !== undefined && { file: bootFileUrl }),
    };
    boots.note(mac, 'boot.dhcp', `DHCPv6 ${what} ${told.join(', ')} (${kind})`, fact);
  }

  #warnOfNoAddress({ mac, duid, kind }: Client6Facts): void {
    const now = this.#parts.clock.now();
    if (this.#warnedAt !== undefined && now - this.#warnedAt < warnEveryMs) return;
    this.#warnedAt = now;
    this.#parts.log.warn(
      { mac, duid: duid?.toString('hex'), client: kind },
      'DHCPv6: the pool has no address left: enlarge it, or free addresses',
    );
  }
}

/** Where a machine is plugged in, as its relay says it (option 18, RFC 8415 §21.18). */
function sightingOf(mac: string, { relays }: Relayed, client: Client6Facts, isNewBoot: boolean): Sighting {
  const link = relayedLink(relays);
  const port = relays.map(({ options }) => readOption(options, 'interfaceId')).findLast(Boolean);
  const relay = link && { address: link, ...(port && { circuitId: readable(port) }) };
  return { mac, ...clientSighting(client), ...(relay && { relay }), isNewBoot };
}

function readable(value: Buffer): string {
  const text = value.toString('latin1');
  return (/^[\x20-\x7e]+$/.test(text) ? text : value.toString('hex')).slice(0, 128);
}

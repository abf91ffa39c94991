import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Boots } from '../boots.ts';
import { RecentMachines } from '../recentMachines.ts';
import { noAddress } from './address.ts';
import { type AddressView, poolUse, reservedAddress } from './allocation.ts';
import type { ClientFacts } from './client.ts';
import type { Decision } from './decide.ts';
import { readOption } from './options.ts';
import { type DhcpPacket, hardwareAddress } from './packet.ts';
import { replyFact } from './replyFact.ts';
import { WrittenMessages } from './writtenMessages.ts';

export interface JournalParts {
  boots: Boots;
  log: Log;
  clock: Clock;
}

type Answered = Extract<Decision, { kind: 'reply' }>;
type Who = { mac: string; xid: number; client: string };

/** That somebody got no address is told at most so often: its clients ask again and again. */
const warnEveryMs = 60_000;

/** What is written of messages: a line of the log for each, and a line of the timeline for each step of a boot. */
export class Journal {
  readonly #parts: JournalParts;
  readonly #written: WrittenMessages;
  /** What was last left out of a client's replies. */
  readonly #leftOut = new RecentMachines<string>();
  #warnedAt: number | undefined;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#written = new WrittenMessages(parts.log);
  }

  write(packet: DhcpPacket, client: ClientFacts, decision: Decision, view: AddressView): void {
    const isNamed = view.reservations.reservation(client.key) !== undefined;
    if (this.#written.take(client.key, isNamed)) this.#writeOne(packet, client, decision);
    const reserved = reservedAddress(client, view);
    const isElsewhere =
      decision.kind === 'reply' &&
      decision.what === 'OFFER' &&
      ![undefined, decision.reply.yiaddr].includes(reserved);
    if (isElsewhere || (decision.kind === 'silent' && decision.noAddress))
      this.#warnOfNoAddress(packet, client, view);
  }

  #writeOne(packet: DhcpPacket, client: ClientFacts, decision: Decision): void {
    const who = { mac: hardwareAddress(packet), xid: packet.xid, client: client.kind };
    if (decision.kind === 'silent')
      this.#parts.log.debug({ ...who, reason: decision.reason }, 'DHCP: no reply');
    else {
      this.#writeReply(who, packet, client, decision);
      this.#warnOfLeftOut(who, packet, client, decision);
    }
  }

  /** Renewals are no steps of a boot. */
  #writeReply(who: Who, packet: DhcpPacket, client: ClientFacts, { what, reply }: Answered): void {
    const { log, boots } = this.#parts;
    const { yiaddr: address, file } = reply;
    log[what === 'NAK' ? 'warn' : 'info']({ ...who, address, ...(file && { file }) }, `DHCP ${what}`);
    if (client.mac === undefined || packet.ciaddr !== noAddress) return;
    const boot = file === '' ? '' : `, ${file}`;
    const given = address === noAddress ? 'without an address' : address;
    const text = what === 'NAK' ? 'address refused' : `${what} ${given}${boot}`;
    const fact = replyFact(what, client.kind, file);
    boots.note(client.mac, 'boot.dhcp', `${text} (${client.kind})`, fact);
  }

  /** Once a client, and again when it is something else. */
  #warnOfLeftOut(who: Who, packet: DhcpPacket, { key }: ClientFacts, { leftOut = [] }: Answered): void {
    const options = leftOut.join(', ');
    if (options === '' || this.#leftOut.get(key) === options) return;
    this.#leftOut.set(key, options);
    const takes = readOption(packet.options, 'maximumSize');
    this.#parts.log.warn(
      { ...who, options: leftOut, ...(takes !== undefined && { maximumSize: takes }) },
      'DHCP: options that this client has no room for were left out of its reply',
    );
  }

  #warnOfNoAddress(packet: DhcpPacket, client: ClientFacts, view: AddressView): void {
    const now = this.#parts.clock.now();
    if (this.#warnedAt !== undefined && now - this.#warnedAt < warnEveryMs) return;
    this.#warnedAt = now;
    const who = { mac: hardwareAddress(packet), xid: packet.xid, client: client.kind };
    const address = reservedAddress(client, view);
    if (address === undefined)
      this.#parts.log.warn(
        { ...who, pool: poolUse(view) },
        'DHCP: the pool has no address left: enlarge it, or free addresses',
      );
    else
      this.#parts.log.warn(
        { ...who, address, host: view.hosts.hostAt(address) },
        'DHCP: another host has the address that is reserved for this machine',
      );
  }
}

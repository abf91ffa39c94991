import { isBootClass } from './bootFields.ts';
import type { ClientFacts } from './client.ts';
import { readOption } from './options.ts';
import type { DhcpPacket } from './packet.ts';
import { messageType } from './reply.ts';

/** Clients remembered; a flood of made-up ones drops the oldest. */
const capacity = 4096;

/**
 * What clients said of themselves when they began to ask. A REQUEST may leave it out: that of a Raspberry Pi's ROM has no option 60
 * (raspberrypi/firmware issue 1928), and an ACK that then has no boot file contradicts its OFFER (RFC 2131 §3.1 step 4).
 */
export class Conversations {
  readonly #asked = new Map<string, { xid: number; client: ClientFacts }>();

  /** What is known of the sender of a message, which is remembered if it is a DISCOVER. */
  clientOf(packet: DhcpPacket, said: ClientFacts): ClientFacts {
    const type = readOption(packet.options, 'messageType');
    if (type === messageType.discover) this.#remember(packet.xid, said);
    if (type !== messageType.request || said.kind !== 'os') return said;
    const asked = this.#asked.get(said.key);
    return asked?.xid === packet.xid ? asked.client : said;
  }

  #remember(xid: number, client: ClientFacts): void {
    this.#asked.delete(client.key);
    if (!isBootClass(client.kind)) return;
    this.#asked.set(client.key, { xid, client });
    const oldest = this.#asked.keys().next().value;
    if (this.#asked.size > capacity && oldest !== undefined) this.#asked.delete(oldest);
  }
}

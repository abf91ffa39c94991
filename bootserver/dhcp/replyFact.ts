import type { BootFact } from '#contract/bootFact.ts';
import type { ClientKind } from './client.ts';

/** A reply as a fact of the machine's timeline. `file`: its boot file, empty for none. */
export function replyFact(what: 'OFFER' | 'ACK' | 'NAK', client: ClientKind, file: string): BootFact {
  if (what === 'NAK') return { step: 'nak', client };
  return { step: what === 'OFFER' ? 'offer' : 'ack', client, ...(file !== '' && { file }) };
}

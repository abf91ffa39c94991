import Type, { type Static } from 'typebox';
import { Mac } from './bootEntry.ts';

const Word = Type.String({ maxLength: 128 });
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });

/** The most hardware addresses that one machine is believed to have: more are boards of a maker who gave them all one UUID. */
export const mostMacs = 16;

/** A machine that was seen on a site's boot network, as its site tells of it. */
export const SeenMachine = Type.Object({
  /** The hardware address that it was first seen by. */
  machineId: Mac,
  /** Every interface that booted, in the order seen. */
  macs: Type.Array(Mac, { minItems: 1, maxItems: mostMacs }),
  /** As the firmware spelled it last; the two byte orders of one UUID are one machine. */
  uuid: Type.Optional(Word),
  serial: Type.Optional(Word),
  architecture: Type.Optional(Word),
  firmware: Type.Optional(Word),
  /** Who spoke last: `uefi-pxe`, `ipxe`, `ramdisk`, `os`, … */
  client: Type.Optional(Word),
  /** Where it is plugged in, when a relay agent says so: its address, and option 82's circuit and remote id. */
  relay: Type.Optional(
    Type.Object({ address: Word, circuitId: Type.Optional(Word), remoteId: Type.Optional(Word) }),
  ),
  firstSeen: Time,
  lastSeen: Time,
  /** How often it began to boot from the network. */
  boots: Type.Integer({ minimum: 0 }),
});
export type SeenMachine = Static<typeof SeenMachine>;

import { randomUUID } from 'node:crypto';
import { macText } from './address.ts';

/** DUID types (RFC 8415 §11, RFC 6355). */
const duidType = { linkLayerTime: 1, enterprise: 2, linkLayer: 3, uuid: 4 } as const;
const ethernet = 1;

/** Longest DUID, its type included (RFC 8415 §11.1). */
const mostBytes = 130;

export function isDuid(bytes: Buffer | undefined): bytes is Buffer {
  return bytes !== undefined && bytes.length > 2 && bytes.length <= mostBytes;
}

/** The MAC in a DUID-LLT or DUID-LL: one of the machine's, not always that of the interface that asks. */
export function duidMac(duid: Buffer): string | undefined {
  if (duid.length < 4 || duid.readUInt16BE(2) !== ethernet) return undefined;
  const type = duid.readUInt16BE(0);
  if (type === duidType.linkLayerTime && duid.length === 14) return macText(duid.subarray(8));
  if (type === duidType.linkLayer && duid.length === 10) return macText(duid.subarray(4));
  return undefined;
}

/** The 16 bytes of a DUID-UUID in hex digits: the SMBIOS UUID of UEFI firmware and iPXE, in the byte order of either. */
export function duidUuid(duid: Buffer): string | undefined {
  const isUuid = duid.length === 18 && duid.readUInt16BE(0) === duidType.uuid;
  return isUuid ? duid.toString('hex', 2) : undefined;
}

/** A DUID for a server: a random UUID, which names no interface, and so outlives every card (RFC 6355 §4). */
export function newServerDuid(): Buffer {
  const uuid = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  return Buffer.concat([Buffer.from([0, duidType.uuid]), uuid]);
}

import { isIsoEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { type RamdiskTokenAnswer, RamdiskTokenRequest } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import { noteMachine } from './note.ts';
import type { MachineParts } from './parts.ts';

/**
 * `POST /v1/token`: a boot token for a ramdisk that firmware started without a command line. It is given only to the
 * address that this site has leased to the MAC. Within one boot it undoes neither a claim nor a contest, as a script's does not.
 * @throws RailheadError NOT_FOUND without a boot entry of a ramdisk, FORBIDDEN from another address
 */
export function requestToken(body: unknown, peer: string, parts: MachineParts): RamdiskTokenAnswer {
  const { state, bootOf, leasedTo } = parts;
  const { mac } = validate(RamdiskTokenRequest, body);
  const entry = state.entries.byMac(mac, Date.now());
  if (entry === undefined || isIsoEntry(entry))
    throw new RailheadError(
      'NOT_FOUND',
      `no boot entry of a ramdisk for ${mac}: start a workflow for its node`,
      {
        path: 'mac',
        reason: 'no-entry',
      },
    );
  if (leasedTo(peer) !== mac)
    throw new RailheadError('FORBIDDEN', `${peer} is not the address that ${mac} has here`, {
      path: 'mac',
      reason: 'other-address',
    });
  const { entryId, nodeId, expiresAt } = entry;
  const bootId = bootOf(mac);
  const token = state.tokens.mint({
    mac,
    entryId,
    nodeId,
    address: peer,
    bootId,
    expiresAt: Date.parse(expiresAt),
  });
  noteMachine(peer, 'the ramdisk asks for its boot token', { step: 'token' }, parts);
  return { token };
}

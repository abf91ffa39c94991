import type { KeyObject } from 'node:crypto';
import { verifyDocument } from '#base/jws.ts';
import { BootEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { repeatable, type SiteAction } from './action.ts';

export const prepareRamdisk: SiteAction<'boot.prepareRamdisk'> = {
  run: async (input, { siteId, nodeId, signingKeys, signal, cache, state }) => {
    const entry = await openEntry(input.entry, signingKeys);
    checkEntry(entry, { siteId, nodeId, now: Date.now() });
    // The entry shows up only once its ramdisk is here: a machine is never sent to bytes that are still on their way.
    for (const digest of digestsOf(entry)) await cache.ready(digest, signal);
    signal.throwIfAborted();
    state.entries.put(entry, input.entry);
    return { entryId: entry.entryId, expiresAt: entry.expiresAt, macs: entry.macs };
  },
  settle: repeatable,
};

/** @throws RailheadError FORBIDDEN when the centre did not sign it */
export async function openEntry(jws: string, signingKeys: readonly KeyObject[]): Promise<BootEntry> {
  const document = await verifyDocument('railhead-boot-entry', jws, signingKeys).catch((error: unknown) => {
    const reason = 'signature';
    throw new RailheadError('FORBIDDEN', 'the boot entry is not signed by this centre', { reason }, error);
  });
  return validate(BootEntry, document, 'INVALID_INPUT');
}

/** @throws RailheadError FORBIDDEN when the entry is another site's or node's, INVALID_STATE when it has expired */
export function checkEntry(
  entry: BootEntry,
  expected: { siteId: string; nodeId: string; now: number },
): void {
  for (const name of ['siteId', 'nodeId'] as const) {
    if (entry[name] === expected[name]) continue;
    const details = { path: name, expected: expected[name], found: entry[name] };
    throw new RailheadError(
      'FORBIDDEN',
      `the boot entry is for ${entry[name]}, not ${expected[name]}`,
      details,
    );
  }
  if (Date.parse(entry.expiresAt) > expected.now) return;
  throw new RailheadError(
    'INVALID_STATE',
    `the boot entry expired at ${entry.expiresAt}: check both clocks`,
    {
      reason: 'expired',
      expiresAt: entry.expiresAt,
    },
  );
}

/** The ramdisk images, one per architecture. */
export function digestsOf(entry: BootEntry): string[] {
  const digests = Object.values(entry.ramdisk.digests);
  if (digests.length > 0) return digests;
  const details = { path: 'ramdisk.digests' };
  throw new RailheadError('INVALID_INPUT', `the boot entry names no image of ${entry.ramdisk.ref}`, details);
}

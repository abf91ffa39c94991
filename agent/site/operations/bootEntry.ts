import type { KeyObject } from 'node:crypto';
import { verifyDocument } from '#base/jws.ts';
import { BootEntry, digestsOf, type IsoEntry, isIsoEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import type { ActionContext } from './action.ts';
import { inCache } from './inCache.ts';

type EntryKind = 'ramdisk' | 'iso';

/**
 * Has the site serve a boot entry of this kind to its machine, once what it boots is in the cache: a machine is never sent to bytes
 * that are still on their way.
 * @throws RailheadError as `openEntry` and `checkEntry` do, INVALID_INPUT for an entry of another kind or without an image, or
 *   with what the cache failed to have the image
 */
export async function placeEntry(jws: string, kind: EntryKind, context: ActionContext): Promise<BootEntry> {
  const { siteId, nodeId, signingKeys, state } = context;
  const entry = await openEntry(jws, signingKeys);
  checkEntry(entry, { siteId, nodeId, now: Date.now() });
  if (!(kind in entry)) throw otherKind(kind);
  for (const digest of bootedBy(entry)) await inCache(digest, context);
  state.entries.put(entry, jws);
  return entry;
}

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

/** The entry by which the node boots an ISO, if that is what it has, ended or not. */
export function isoEntryOf({ nodeId, state }: ActionContext): IsoEntry | undefined {
  const entry = state.entries.byNode(nodeId);
  return entry !== undefined && isIsoEntry(entry) ? entry : undefined;
}

/** @throws RailheadError INVALID_INPUT for an entry that boots nothing */
export function bootedBy(entry: BootEntry): string[] {
  const digests = digestsOf(entry);
  if (digests.length > 0) return digests;
  throw new RailheadError('INVALID_INPUT', 'the boot entry names no image', { path: 'ramdisk.digests' });
}

function otherKind(kind: EntryKind): RailheadError {
  return new RailheadError('INVALID_INPUT', `the boot entry is of no ${kind}`, { path: kind });
}

import type { KeyObject } from 'node:crypto';
import { verifyDocument } from '#base/jws.ts';
import { BootEntry, isIsoEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import type { RamdiskJoinAnswer } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';

/** What a machine knows of itself and of the site that answered it. */
export interface EntryExpectation {
  /** The centre's keys that this machine believes. */
  signingKeys: readonly KeyObject[];
  /** The site that showed its certificate. */
  siteId: string | undefined;
  mac: string;
  now: number;
}

/**
 * Checks the boot entry that a site answers a join with: that the centre lets this very machine boot as that node at that site, now. Else a
 * site could have one machine carry out what is meant for another.
 * @throws RailheadError FORBIDDEN, reason `entry`; `details.path` names what does not fit
 */
export async function checkEntry(
  answer: Pick<RamdiskJoinAnswer, 'siteId' | 'nodeId' | 'entry'>,
  expected: EntryExpectation,
): Promise<void> {
  const entry = await signedEntry(answer.entry, expected.signingKeys);
  const { siteId, nodeId, macs, expiresAt } = entry;
  if (isIsoEntry(entry)) throw refused('iso', `it is for the ISO ${entry.iso.ref}`);
  if (siteId !== expected.siteId || siteId !== answer.siteId)
    throw refused('siteId', `it is for site ${siteId}`);
  if (nodeId !== answer.nodeId) throw refused('nodeId', `it is for node ${nodeId}`);
  if (!macs.includes(expected.mac)) throw refused('macs', `it is not for ${expected.mac}`);
  if (!(Date.parse(expiresAt) > expected.now)) throw refused('expiresAt', `it ended ${expiresAt}`);
}

async function signedEntry(jws: string, keys: readonly KeyObject[]): Promise<BootEntry> {
  try {
    return validate(BootEntry, await verifyDocument('railhead-boot-entry', jws, keys), 'FORBIDDEN');
  } catch (cause) {
    throw refused('signature', "it is not signed by this ramdisk's centre", cause);
  }
}

function refused(path: string, why: string, cause?: unknown): RailheadError {
  return new RailheadError(
    'FORBIDDEN',
    `the site's boot entry is refused: ${why}`,
    { path, reason: 'entry' },
    cause,
  );
}

import type { KeyObject } from 'node:crypto';
import { verifyDocument } from '#base/jws.ts';
import { BootEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';

/** What a machine knows of itself and of the site that answered it. */
export interface EntryExpectation {
  /** The centre's keys that this machine believes. */
  signingKeys: readonly KeyObject[];
  /** The site that showed its certificate. */
  siteId: string | undefined;
  /** The node that the site says this machine is. */
  nodeId: string;
  mac: string;
  now: number;
}

/**
 * Checks the boot entry that a site answers a join with: that the centre lets this very machine boot as that node at that site, now. Else a
 * site could have one machine carry out what is meant for another.
 * @throws RailheadError FORBIDDEN, reason `entry`; `details.path` names what does not fit
 */
export async function checkEntry(jws: string, expected: EntryExpectation): Promise<BootEntry> {
  const entry = await signedEntry(jws, expected.signingKeys);
  if (entry.siteId !== expected.siteId) throw refused('siteId', `it is for site ${entry.siteId}`);
  if (entry.nodeId !== expected.nodeId) throw refused('nodeId', `it is for node ${entry.nodeId}`);
  if (!entry.macs.includes(expected.mac)) throw refused('macs', `it is not for ${expected.mac}`);
  if (!(Date.parse(entry.expiresAt) > expected.now))
    throw refused('expiresAt', `it ended ${entry.expiresAt}`);
  return entry;
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

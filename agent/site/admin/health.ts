import { statfs } from 'node:fs/promises';
import { version } from '#base/version.ts';
import { RailheadError } from '#contract/errors.ts';
import type { KeptIdentity } from '../../join/keptIdentity.ts';

/** With less room than this on the disk of the state directory, in bytes, the site cannot be relied on to write down what it does. */
const leastBytes = 16 * 2 ** 20;

export interface HealthParts {
  siteId: string;
  stateDirectory: string;
  kept: Pick<KeptIdentity, 'current'>;
}

/** @throws RailheadError UNAVAILABLE while the site cannot do its work, and why */
export async function health({ siteId, stateDirectory, kept }: HealthParts): Promise<object> {
  const { revoked } = kept.current;
  if (revoked !== undefined)
    throw new RailheadError('UNAVAILABLE', 'the centre has revoked this site: join again with a new token', {
      reason: 'revoked',
      ...revoked,
    });
  const { bavail, bsize } = await statfs(stateDirectory);
  const freeBytes = bavail * bsize;
  if (freeBytes >= leastBytes) return { status: 'ok', siteId, version, freeBytes };
  throw new RailheadError('UNAVAILABLE', `the disk of ${stateDirectory} is full: make room`, {
    reason: 'no-space',
    path: 'stateDirectory',
    freeBytes,
    leastBytes,
  });
}

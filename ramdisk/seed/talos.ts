import { RailheadError } from '#contract/errors.ts';
import { cidataPlace, type Seed, seedAt } from './userData.ts';

/**
 * A Talos machine configuration: Talos of the platform `nocloud` reads it as `user-data` of a partition labelled `cidata`, with the
 * node's id in `meta-data`, and looks nowhere else on the disk.
 */
export function talosSeed(document: string, instanceId: string): Seed {
  const files = { 'user-data': document, 'meta-data': `instance-id: ${instanceId}\n` };
  return seedAt(cidataPlace, files, () => {
    const message =
      'the image has no place for a Talos configuration: give it a FAT partition labelled cidata';
    return new RailheadError('UNSUPPORTED', message, { path: 'userData', reason: 'no-seed-partition' });
  });
}

import { RailheadError } from '#contract/errors.ts';
import type { DiskHints } from '#contract/steps.ts';
import { canonicalSerial, canonicalWwn, type Disk } from './disk.ts';

/** A disk smaller than this is not meant for an OS unless it is named: card readers' and BMCs' virtual media, boot partitions. */
const smallestUnnamed = 4 * 1024 ** 3;

/** One disk and why it cannot be written, or an empty list: what an error shows of each. */
export type Candidate = Pick<Disk, 'name' | 'sizeBytes' | 'serial' | 'wwn' | 'model'> & { reasons: string[] };

/**
 * The one disk to write. With hints exactly one disk must match all of them; without, exactly one must be fit. Nothing is guessed
 * from order or size: what is on the disk is lost. A named disk may be removable or small; none may be read-only, in use, without a
 * medium or smaller than `neededBytes` (what is known of the image so far).
 * @throws RailheadError INVALID_INPUT (`reason` no-match, ambiguous) when the choice is to be made clear, INVALID_STATE (unfit,
 * no-candidate) when the disk or the machine is in the way; `details.candidates` lists every disk with its reasons
 */
export function chooseDisk(disks: readonly Disk[], hints: DiskHints = {}, neededBytes = 0): Disk {
  const named = Object.values(hints).some((hint) => hint !== undefined);
  const meant = named ? disks.filter((disk) => matches(disk, hints)) : [...disks];
  const fit = meant.filter((disk) => unfitness(disk, neededBytes, named).length === 0);
  const chosen = named ? meant : fit;
  if (chosen.length === 1 && fit.length === 1) return fit[0] as Disk;
  throw refusal(named, meant, fit, candidatesOf(disks, hints, neededBytes, named));
}

/** Why a disk cannot be written, a phrase each. */
function unfitness(disk: Disk, neededBytes: number, named: boolean): string[] {
  const { sizeBytes } = disk;
  return [
    ...(sizeBytes === 0 ? ['it has no medium (size 0)'] : []),
    ...(disk.readOnly ? ['it is read-only'] : []),
    ...disk.usedBy.map((use) => `in use: ${use}`),
    ...(!named && disk.removable ? ['it is removable'] : []),
    ...(!named && sizeBytes > 0 && sizeBytes < smallestUnnamed ? ['it is smaller than 4 GiB'] : []),
    ...(sizeBytes > 0 && sizeBytes < neededBytes
      ? [`it has ${sizeBytes} bytes, the image needs ${neededBytes}`]
      : []),
  ];
}

function matches(disk: Disk, hints: DiskHints): boolean {
  const { serial, wwn, name, sizeBytes } = hints;
  return (
    (serial === undefined ||
      (disk.serial !== undefined && canonicalSerial(disk.serial) === canonicalSerial(serial))) &&
    (wwn === undefined || disk.wwn === canonicalWwn(wwn)) &&
    (name === undefined || [disk.name, ...disk.otherPaths].includes(name.replace(/^\/dev\//, ''))) &&
    (sizeBytes === undefined || disk.sizeBytes === sizeBytes)
  );
}

function candidatesOf(
  disks: readonly Disk[],
  hints: DiskHints,
  neededBytes: number,
  named: boolean,
): Candidate[] {
  return disks.map((disk) => {
    const { name, sizeBytes, serial, wwn, model } = disk;
    const mismatch = named && !matches(disk, hints) ? ['it does not match the hints'] : [];
    return {
      name,
      sizeBytes,
      ...(serial !== undefined && { serial }),
      ...(wwn !== undefined && { wwn }),
      ...(model !== undefined && { model }),
      reasons: [...mismatch, ...unfitness(disk, neededBytes, named)],
    };
  });
}

function refusal(named: boolean, meant: Disk[], fit: Disk[], candidates: Candidate[]): RailheadError {
  const list = candidates.map(summary).join('; ') || 'none';
  const details = (reason: string) => ({ path: 'disk', reason, candidates });
  if (named && meant.length === 0)
    return new RailheadError(
      'INVALID_INPUT',
      `no disk matches the hints; disks: ${list}`,
      details('no-match'),
    );
  if (named && meant.length > 1)
    return new RailheadError(
      'INVALID_INPUT',
      `${meant.length} disks match the hints, add serial or wwn; disks: ${list}`,
      details('ambiguous'),
    );
  if (fit.length > 1)
    return new RailheadError(
      'INVALID_INPUT',
      `${fit.length} disks could be written, say which by serial, wwn, name or sizeBytes; disks: ${list}`,
      details('ambiguous'),
    );
  return new RailheadError(
    'INVALID_STATE',
    `no disk can be written; disks: ${list}`,
    details(named ? 'unfit' : 'no-candidate'),
  );
}

function summary({ name, sizeBytes, serial, reasons }: Candidate): string {
  const identity = serial === undefined ? name : `${name} (serial ${serial})`;
  const verdict = reasons.length === 0 ? 'fit' : reasons.join(', ');
  return `${identity}, ${sizeBytes} bytes: ${verdict}`;
}

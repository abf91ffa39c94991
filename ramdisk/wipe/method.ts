import { RailheadError } from '#contract/errors.ts';
import type { WipeMethod, WipeMode } from '#contract/wipe.ts';
import type { Disk } from '../disks/disk.ts';

/** What a disk's own erase commands can do; all false for a disk that has none. */
export interface EraseAbilities {
  nvmeFormat: boolean;
  nvmeCryptoErase: boolean;
  ataSecureErase: boolean;
  ataCryptoScramble: boolean;
}

export const noAbilities: EraseAbilities = {
  nvmeFormat: false,
  nvmeCryptoErase: false,
  ataSecureErase: false,
  ataCryptoScramble: false,
};

/**
 * By what a disk is wiped in a mode. A disk without an erase command of its own is overwritten for `secure-erase`: no less is
 * left readable through the interface (NIST SP 800-88r1, clear). Nothing stands in for `crypto-erase`.
 * @throws RailheadError UNSUPPORTED (`reason` crypto-erase) when the disk cannot forget its key
 */
export function wipeMethod(
  mode: Exclude<WipeMode, 'none'>,
  disk: Pick<Disk, 'name' | 'model'>,
  abilities: EraseAbilities,
): WipeMethod {
  if (mode === 'quick') return 'ends-zeroed';
  if (mode === 'secure-erase') {
    if (abilities.nvmeFormat) return 'nvme-format';
    return abilities.ataSecureErase ? 'ata-secure-erase' : 'overwritten';
  }
  if (abilities.nvmeCryptoErase) return 'nvme-crypto-erase';
  if (abilities.ataCryptoScramble) return 'ata-crypto-scramble';
  throw new RailheadError(
    'UNSUPPORTED',
    `${disk.name} (${disk.model ?? 'unknown model'}) cannot forget its encryption key: wipe it with secure-erase`,
    { reason: 'crypto-erase', device: disk.name },
  );
}

/** Which disks a wipe is of: all that can hold data. A disk in use or read-only is in the way of the whole wipe. */
export function disksToWipe(disks: readonly Disk[]): Disk[] {
  const meant = disks.filter(({ removable, sizeBytes }) => !removable && sizeBytes > 0);
  const held = meant.find(({ usedBy, readOnly }) => usedBy.length > 0 || readOnly);
  if (held === undefined) return meant;
  const why = held.readOnly ? 'it is read-only' : held.usedBy.join(', ');
  throw new RailheadError('INVALID_STATE', `${held.name} cannot be wiped: ${why}`, {
    reason: held.readOnly ? 'read-only' : 'in-use',
    device: held.name,
  });
}

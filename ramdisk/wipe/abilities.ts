import { run } from '#base/command.ts';
import { ignore } from '#base/errors.ts';
import type { Disk } from '../disks/disk.ts';
import { type EraseAbilities, noAbilities } from './method.ts';

const patienceMs = 10_000;

/** What a disk's own erase commands can do, asked by nvme-cli or hdparm. A disk that does not answer has none. */
export async function eraseAbilities({ name, path }: Pick<Disk, 'name' | 'path'>): Promise<EraseAbilities> {
  if (name.startsWith('nvme')) {
    const identify = await run('nvme', ['id-ctrl', path, '-o', 'json'], { timeoutMs: patienceMs }).catch(
      ignore,
    );
    return identify === undefined ? noAbilities : readNvmeController(identify);
  }
  if (!name.startsWith('sd')) return noAbilities;
  const identify = await run('hdparm', ['-I', path], { timeoutMs: patienceMs }).catch(ignore);
  return identify === undefined ? noAbilities : readAtaIdentify(identify);
}

/**
 * Reads `nvme id-ctrl -o json`: `oacs` bit 1 is the Format NVM command, `fna` bit 2 its cryptographic erase (NVMe base
 * specification 2.0, figure 275). Never throws.
 */
export function readNvmeController(text: string): EraseAbilities {
  const { oacs = 0, fna = 0 } = parsed(text);
  const nvmeFormat = (oacs & 0b10) !== 0;
  return { ...noAbilities, nvmeFormat, nvmeCryptoErase: nvmeFormat && (fna & 0b100) !== 0 };
}

function parsed(text: string): { oacs?: number; fna?: number } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/**
 * Reads `hdparm -I`: the Security section (supported, not frozen) and the sanitize feature set (ACS-4 7.1, 7.36). A frozen drive
 * refuses its erase command until it loses power; a locked one takes it with the right password. Never throws.
 */
export function readAtaIdentify(text: string): EraseAbilities {
  const security = /^Security:.*\n((?:[ \t]+.*\n?)*)/m.exec(text)?.[1] ?? '';
  const has = (flag: string) => new RegExp(`^[ \\t]+${flag}$`, 'm').test(security);
  const usable = has('supported') && has('not\\s+frozen');
  return {
    ...noAbilities,
    ataSecureErase: usable,
    ataCryptoScramble: /^\s+\*\s+CRYPTO_SCRAMBLE_EXT command$/m.test(text),
  };
}

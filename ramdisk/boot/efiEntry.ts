import { run } from '#base/command.ts';
import { variablesAreThere } from './efivars.ts';
import type { DiskLoader, MissingLoader } from './loader.ts';

const label = 'railhead';

/** What became of the boot entry: its name, or why there is none. */
export type EfiEntry = { bootEntry: string } | { note: string } | undefined;

/**
 * Makes firmware start the written disk first: one entry named `railhead`, made anew, before the others, which all stay (a network boot
 * asked for by the BMC must still find its own). Nothing on a BIOS machine. A failure is a note: the fallback loader's path boots without an
 * entry on most firmware.
 */
export async function setEfiEntry(disk: string, loader: DiskLoader | MissingLoader): Promise<EfiEntry> {
  if (!(await variablesAreThere())) return undefined;
  try {
    await removeEntries();
    if ('missing' in loader) return { note: `no EFI boot entry was set: ${loader.missing}` };
    return await makeEntry(disk, loader.esp.number, loader.path);
  } catch (error) {
    return { note: `no EFI boot entry was set: ${(error as Error).message}` };
  }
}

/**
 * Has firmware start our entry once, ahead of its order. A BMC that was told "disk" means the first disk that the firmware knows, which need
 * not be the written one. Resolves with the entry's name; undefined where there is none. Rejects when firmware refuses.
 */
export async function startEntryNext(): Promise<string | undefined> {
  if (!(await variablesAreThere())) return undefined;
  const entry = ourEntries(await run('efibootmgr', []))[0];
  if (entry === undefined) return undefined;
  await run('efibootmgr', ['-q', '-n', entry.number]);
  return `Boot${entry.number}`;
}

async function removeEntries(): Promise<void> {
  for (const { number } of ourEntries(await run('efibootmgr', [])))
    await run('efibootmgr', ['-q', '-b', number, '-B']);
}

async function makeEntry(disk: string, partition: number, loader: string): Promise<EfiEntry> {
  const place = ['-d', disk, '-p', String(partition), '-l', loader, '-L', label];
  const made = ourEntries(await run('efibootmgr', ['-c', ...place]))[0];
  return made === undefined
    ? { note: 'no EFI boot entry was set: the firmware took it and did not keep it' }
    : { bootEntry: `Boot${made.number}` };
}

/** Our entries in what efibootmgr prints: `Boot0003* railhead<tab>HD(…)`, in newer versions with the loader behind. */
export function ourEntries(text: string): { number: string }[] {
  const entries = text.matchAll(/^Boot([0-9A-Fa-f]{4})[* ] (.*)$/gm);
  return Array.from(entries)
    .filter(([, , rest]) => rest?.split('\t')[0]?.trim() === label)
    .map(([, number]) => ({ number: number as string }));
}

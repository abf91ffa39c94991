import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { ignore } from '#base/errors.ts';

const efivars = '/sys/firmware/efi/efivars';

/** Whether this machine's firmware shows its EFI variables; mounts them when nobody has. */
export async function variablesAreThere(): Promise<boolean> {
  const there = async () => ((await readdir(efivars).catch(ignore)) ?? []).length > 0;
  if (await there()) return true;
  await run('mount', ['-t', 'efivarfs', 'efivarfs', efivars]).catch(ignore);
  return await there();
}

/** The value of an EFI variable (`SecureBoot-8be4df61-…`) below `root`; undefined when it is not set. efivarfs puts 4 bytes of attributes first. */
export async function readVariable(root: string, name: string): Promise<Buffer | undefined> {
  const content = await readFile(path.join(root, efivars, name)).catch(ignore);
  return content === undefined || content.length < 4 ? undefined : content.subarray(4);
}

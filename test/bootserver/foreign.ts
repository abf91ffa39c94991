import path from 'node:path';
import { unpackOnce } from '#base/debian/unpackOnce.ts';
import { download } from '#base/debian.ts';
import { exists } from '#base/exists.ts';

const foreign = path.resolve('.cache/foreign');
/** Debian 13 has everything below usr, Debian 12 does not. */
const programFolders = ['usr/bin', 'bin', 'usr/sbin', 'sbin'];

/** The path of a program of a Debian package that is unpacked, not installed, so that no service starts on the host. */
export async function foreignProgram(packageName: string, program: string): Promise<string> {
  const folder = await unpackedPackage(packageName);
  for (const candidate of programFolders.map((place) => path.join(folder, place, program)))
    if (await exists(candidate)) return candidate;
  throw new Error(`${packageName} has no program ${program}`);
}

/** The folder in which a Debian package of the host's suite is unpacked. */
export async function unpackedPackage(packageName: string): Promise<string> {
  const folder = path.join(foreign, packageName);
  if (!(await exists(folder))) await unpackInto(folder, packageName);
  return folder;
}

async function unpackInto(folder: string, packageName: string): Promise<void> {
  const [found] = await download({ cacheDirectory: '.cache/debian', suite: 'host', packages: [packageName] });
  if (found === undefined) throw new Error(`no package ${packageName}`);
  await unpackOnce([found], folder);
}

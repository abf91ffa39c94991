import { access, mkdir, mkdtemp, rename } from 'node:fs/promises';
import path from 'node:path';
import { download, unpack } from '#base/debian.ts';

const foreign = path.resolve('.cache/foreign');

/** The path of a program of a Debian package that is unpacked, not installed, so that no service starts on the host. */
export async function foreignProgram(packageName: string, program: string): Promise<string> {
  const folder = path.join(foreign, packageName);
  const file = path.join(folder, program);
  if (await exists(file)) return file;
  const [found] = await download({ cacheDirectory: '.cache/debian', suite: 'host', packages: [packageName] });
  if (found === undefined) throw new Error(`no package ${packageName}`);
  await mkdir(foreign, { recursive: true });
  const partial = await mkdtemp(`${path.resolve('.cache/debian')}/unpack-`);
  await unpack(found.file, partial);
  await rename(partial, folder);
  return file;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

import { type DebianPackage, unpack } from '../debian.ts';
import { makeOnce } from '../makeOnce.ts';

/** Returns `folder` with the files of all packages, unpacked when it is not there yet. Its name must say which packages these are. */
export function unpackOnce(packages: readonly DebianPackage[], folder: string): Promise<string> {
  return makeOnce(folder, async (work) => {
    for (const { file } of packages) await unpack(file, work);
    return work;
  });
}

import path from 'node:path';
import { download, unpack } from '#base/debian.ts';
import { fromPyPi } from '../pyPi.ts';

const versions = { 'sushy-tools': '2.2.0', sushy: '5.14.0', bcrypt: '5.0.0' };
const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache');

/** Foreign Redfish software: sushy-tools of PyPI, and Debian's redfishtool and python3-sushy. */
export interface ForeignRedfish {
  python: string;
  /** The server. */
  emulator: string;
  /** Where Debian's clients are, for PYTHONPATH. */
  debianModules: string;
  redfishtool: string;
}

/** Fetches what is not there yet; nothing is installed on the host. */
export async function foreignRedfish(): Promise<ForeignRedfish> {
  const wanted = Object.entries(versions).map(([name, version]) => `${name}==${version}`);
  const { python, bin } = await fromPyPi(`sushy-tools-${versions['sushy-tools']}`, wanted);
  const root = await debianPackages(['redfishtool', 'python3-sushy']);
  return {
    python,
    emulator: path.join(bin, 'sushy-emulator'),
    debianModules: path.join(root, 'usr/lib/python3/dist-packages'),
    redfishtool: path.join(root, 'usr/bin/redfishtool'),
  };
}

async function debianPackages(packages: string[]): Promise<string> {
  const root = path.join(cacheDirectory, 'foreign', 'redfish');
  const found = await download({ cacheDirectory: path.join(cacheDirectory, 'debian'), packages });
  for (const { file } of found) await unpack(file, root);
  return root;
}

import { access, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { download, unpack } from '#base/debian.ts';

const versions = { 'sushy-tools': '2.2.0', sushy: '5.14.0', bcrypt: '5.0.0' };
const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache');
const venv = path.join(cacheDirectory, `sushy-tools-${versions['sushy-tools']}`);

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
  const done = path.join(venv, 'complete');
  await access(done).catch(async () => {
    await run('python3', ['-m', 'venv', '--clear', venv]);
    const wanted = Object.entries(versions).map(([name, version]) => `${name}==${version}`);
    await run(path.join(venv, 'bin/pip'), ['install', '--quiet', ...wanted]);
    await mkdir(done);
  });
  const root = await debianPackages(['redfishtool', 'python3-sushy']);
  return {
    python: path.join(venv, 'bin/python'),
    emulator: path.join(venv, 'bin/sushy-emulator'),
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

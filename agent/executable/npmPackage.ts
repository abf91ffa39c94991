import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { exists } from '#base/exists.ts';
import { makeOnce } from '#base/makeOnce.ts';
import { projectRoot } from './bundle.ts';

/** A package as package-lock.json fixes it. */
export interface LockedPackage {
  version: string;
  /** Subresource Integrity, e.g. `sha512-…`. */
  integrity: string;
}

export interface NpmPackageOptions {
  /** Where fetched packages are kept, a folder for each version. */
  directory: string;
  progress?: (line: string) => void;
}

/**
 * The folder of a package of the lock file: in node_modules, or, when npm left it out because it is for another architecture,
 * fetched and checked against the lock file.
 * @throws Error when the lock file lacks it or what came is not what the lock file says; CommandFailed with npm's words
 */
export async function npmPackage(name: string, options: NpmPackageOptions): Promise<string> {
  const installed = path.join(projectRoot, 'node_modules', name);
  if (await exists(installed)) return installed;
  const locked = lockedPackage(await readFile(path.join(projectRoot, 'package-lock.json'), 'utf8'), name);
  const folder = path.join(options.directory, `${name.replace('/', '+')}-${locked.version}`);
  return makeOnce(folder, (work) => {
    options.progress?.(`downloading ${name} ${locked.version}`);
    return fetchInto(work, name, locked);
  });
}

/** @throws Error when the lock file does not fix the package's bytes */
export function lockedPackage(lockFile: string, name: string): LockedPackage {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, Partial<LockedPackage>> };
  const { version, integrity } = packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw new Error(`package-lock.json has no version and integrity for ${name}`);
  return { version, integrity };
}

/** Whether the bytes have a digest of the wanted text: `sha512-<base64>`, which is what npm writes. */
export function hasIntegrity(bytes: Buffer, integrity: string): boolean {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}` === integrity;
}

async function fetchInto(work: string, name: string, locked: LockedPackage): Promise<string> {
  const said = await run('npm', ['pack', '--json', `${name}@${locked.version}`], { cwd: work });
  const [packed] = JSON.parse(said) as { filename: string }[];
  const file = path.join(work, packed?.filename ?? '');
  if (!hasIntegrity(await readFile(file), locked.integrity))
    throw new Error(`${name} ${locked.version} from the registry is not what package-lock.json says`);
  await run('tar', ['-xzf', file, '--no-same-owner'], { cwd: work });
  return path.join(work, 'package');
}

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { unpackOnce } from '#base/debian/unpackOnce.ts';
import { download, realPackage } from '#base/debian.ts';
import { exists } from '#base/exists.ts';

const debian = { cacheDirectory: '.cache/debian', suite: 'host' } as const;

/** The programs of Debian's PostgreSQL server, and where the libraries are that the host may lack. */
export interface PostgresPrograms {
  /** Where the packages were unpacked. */
  root: string;
  version: string;
  folder: string;
  /** For LD_LIBRARY_PATH. */
  libraries: string;
}

/**
 * PostgreSQL of the host's Debian release, unpacked and not installed, since the installed package starts a service. Its own
 * libraries come along; the C library is the host's.
 */
export async function postgresPrograms(): Promise<PostgresPrograms> {
  const server = await realPackage('postgresql', /^postgresql-\d+$/, debian);
  const root = path.resolve('.cache/foreign', server);
  if (!(await exists(root))) await unpackServer(server, root);
  return programsIn(root, server.slice('postgresql-'.length));
}

/** The programs of that major version in a tree of unpacked packages. */
export async function programsIn(root: string, version: string): Promise<PostgresPrograms> {
  const names = await readdir(path.join(root, 'usr/lib'));
  const triplet = names.find((name) => name.endsWith('-linux-gnu')) ?? '';
  return {
    root,
    version,
    folder: path.join(root, 'usr/lib/postgresql', version, 'bin'),
    // Debian 12 has some of them beside usr.
    libraries: ['usr/lib', 'lib'].map((place) => path.join(root, place, triplet)).join(':'),
  };
}

async function unpackServer(server: string, root: string): Promise<void> {
  const packages = await download({ ...debian, packages: [server], withDependencies: true });
  const wanted = packages.filter(({ name }) => name === server || isItsLibrary(name));
  await unpackOnce(wanted, root);
}

/** Not the C library, which must fit the host's loader, nor what only Perl and the just-in-time compiler want. */
function isItsLibrary(name: string): boolean {
  return name.startsWith('lib') && !/^lib(c6|c-|llvm|perl|z3|gdbm|clang)/.test(name);
}

import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Toolbox } from '#base/debian/toolbox.ts';
import { type ModuleInfo, moduleInfo, moduleName } from './moduleInfo.ts';
import type { ModuleRow } from './modules.ts';

export interface ModuleTree {
  version: string;
  /** Every module taken, by name. */
  modules: Map<string, ModuleInfo & { file: string }>;
}

/** A kernel package unpacked, and where modules go. */
interface Places {
  kernelRoot: string;
  stage: string;
  toolbox: Toolbox;
}

/**
 * Puts the modules that the rows name, and what these depend on, into `stage` with the index that modprobe reads. They are
 * stored plain: the image is compressed as a whole, which packs them better and saves the machine a second unpacking.
 * @throws Error naming a row's module that the kernel does not have
 */
export async function stageModules(rows: readonly ModuleRow[], places: Places): Promise<ModuleTree> {
  const version = await kernelVersion(places.kernelRoot);
  const from = path.join(places.kernelRoot, 'usr/lib/modules', version);
  const to = path.join(places.stage, 'usr/lib/modules', version);
  const available = await packedModules(from);
  const builtIn = namesIn(await readFile(path.join(from, 'modules.builtin'), 'utf8'));
  const modules: ModuleTree['modules'] = new Map();
  let wanted = wantedNames(rows, available, builtIn);
  while (wanted.length > 0) {
    const files = wanted.map((name) => [name, available.get(name)!] as const);
    await unpackModules(
      files.map(([, file]) => file),
      from,
      to,
      places.toolbox,
    );
    for (const [name, file] of files) {
      const unpacked = path.join(to, file.replace(/\.xz$/, ''));
      modules.set(name, { ...moduleInfo(await readFile(unpacked)), file: unpacked });
    }
    wanted = missingDependencies(modules).filter((name) => available.has(name));
  }
  for (const name of ['modules.order', 'modules.builtin', 'modules.builtin.modinfo'])
    await copyFile(path.join(from, name), path.join(to, name));
  await places.toolbox.run('usr/sbin/depmod', ['-b', path.join(places.stage, 'usr'), version]);
  return { version, modules };
}

/** The modules in an order in which they can be loaded one by one, with all that they depend on. */
export function loadOrder(tree: ModuleTree, names: readonly string[]): string[] {
  const ordered = new Set<string>();
  const visit = (name: string): void => {
    const module = tree.modules.get(name);
    if (module === undefined || ordered.has(name)) return;
    for (const dependency of module.depends) visit(dependency);
    ordered.add(name);
  };
  for (const name of names) visit(moduleName(name));
  return [...ordered];
}

async function kernelVersion(kernelRoot: string): Promise<string> {
  const [version] = await readdir(path.join(kernelRoot, 'usr/lib/modules'));
  if (version === undefined) throw new Error('the kernel package holds no modules');
  return version;
}

/** Path below the kernel's module folder, by module name. */
async function packedModules(folder: string): Promise<Map<string, string>> {
  const files = await readdir(folder, { recursive: true });
  const modules = files.filter((file) => file.endsWith('.ko.xz')).sort();
  return new Map(modules.map((file) => [nameOf(file), file]));
}

function nameOf(file: string): string {
  return moduleName(path.basename(file).replace(/\.ko(\.xz)?$/, ''));
}

function namesIn(list: string): Set<string> {
  return new Set(list.split('\n').map(nameOf));
}

function wantedNames(
  rows: readonly ModuleRow[],
  available: ReadonlyMap<string, string>,
  builtIn: ReadonlySet<string>,
): string[] {
  const found = rows
    .flatMap(({ names }) => names)
    .flatMap((name) => {
      const modules = name.endsWith('/') ? inFolder(available, name) : [moduleName(name)];
      const usable = modules.filter((module) => available.has(module));
      if (usable.length === 0 && !builtIn.has(moduleName(name)))
        throw new Error(`the kernel has no module ${name}: correct its row in ramdisk/image/modules.ts`);
      return usable;
    });
  return [...new Set(found)];
}

function inFolder(available: ReadonlyMap<string, string>, folder: string): string[] {
  return [...available].filter(([, file]) => file.startsWith(`kernel/${folder}`)).map(([name]) => name);
}

async function unpackModules(
  files: readonly string[],
  from: string,
  to: string,
  toolbox: Toolbox,
): Promise<void> {
  for (const file of files) {
    await mkdir(path.dirname(path.join(to, file)), { recursive: true });
    await copyFile(path.join(from, file), path.join(to, file));
  }
  await toolbox.run('usr/bin/xz', ['--decompress', '--force', ...files], { cwd: to });
}

function missingDependencies(modules: ReadonlyMap<string, ModuleInfo>): string[] {
  const named = [...modules.values()].flatMap(({ depends, softDepends }) => [...depends, ...softDepends]);
  return [...new Set(named)].filter((name) => !modules.has(name));
}

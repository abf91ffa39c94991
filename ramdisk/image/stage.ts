import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { MachineArchitecture } from '#base/architecture.ts';
import { appletNames } from './applets.ts';
import { stageFirmware } from './firmware.ts';
import { settleModes } from './modes.ts';
import { type ModuleRow, moduleRowsFor } from './modules.ts';
import { type ModuleTree, stageModules } from './moduleTree.ts';
import type { Parts } from './parts.ts';
import { toolRowsFor } from './tools.ts';
import { stageTools } from './toolTree.ts';

const filesFolder = path.join(import.meta.dirname, 'root');

/** Puts together the ramdisk's root file system in `stage`: tools, modules, firmware, our own files. */
export async function stageRoot(
  stage: string,
  parts: Parts,
  architecture: MachineArchitecture,
): Promise<ModuleTree> {
  const moduleRows = moduleRowsFor(architecture);
  await makeSkeleton(stage);
  await stageTools(toolRowsFor(architecture), parts.toolsRoot, stage);
  const tree = await stageModules(moduleRows, {
    kernelRoot: parts.kernelRoot,
    stage,
    toolbox: parts.toolbox,
  });
  if (parts.firmwareRoot !== undefined) await stageFirmware(tree, parts.firmwareRoot, stage);
  await cp(filesFolder, stage, { recursive: true });
  await writeFile(
    path.join(stage, 'usr/lib/railhead/late-modules'),
    `${lateModules(moduleRows).join('\n')}\n`,
  );
  await linkApplets(stage);
  await settleModes(stage);
  await chmod(path.join(stage, 'tmp'), 0o1777);
  return tree;
}

async function makeSkeleton(stage: string): Promise<void> {
  const folders = [
    'usr/bin',
    'usr/sbin',
    'usr/lib',
    'usr/lib64',
    'dev',
    'proc',
    'sys',
    'run',
    'root',
    'etc',
    'var/log',
    'mnt',
    'tmp',
  ];
  for (const folder of folders) await mkdir(path.join(stage, folder), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) await symlink(`usr/${name}`, path.join(stage, name));
}

/** Lines `bus module`, which the ramdisk's coldplug reads. */
function lateModules(moduleRows: readonly ModuleRow[]): string[] {
  return moduleRows.flatMap(({ lateOn, names }) =>
    lateOn === undefined ? [] : names.map((name) => `${lateOn} ${name}`),
  );
}

/** busybox under the names of its programs, where no better one has the name. */
async function linkApplets(stage: string): Promise<void> {
  const taken = new Set<string>();
  for (const folder of ['usr/bin', 'usr/sbin'])
    for (const name of await readdir(path.join(stage, folder))) taken.add(name);
  for (const name of appletNames(await readFile(path.join(stage, 'usr/bin/busybox'))))
    if (!taken.has(name)) await symlink('busybox', path.join(stage, 'usr/bin', name));
}

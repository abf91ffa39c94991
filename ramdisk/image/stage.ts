import { chmod, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { stageFirmware } from './firmware.ts';
import { settleModes } from './modes.ts';
import { moduleRows } from './modules.ts';
import { type ModuleTree, stageModules } from './moduleTree.ts';
import type { Parts } from './parts.ts';
import { toolRows } from './tools.ts';
import { stageTools } from './toolTree.ts';

const filesFolder = path.join(import.meta.dirname, 'root');

/** Puts together the ramdisk's root file system in `stage`: tools, modules, firmware, our own files. */
export async function stageRoot(stage: string, parts: Parts): Promise<ModuleTree> {
  await makeSkeleton(stage);
  await stageTools(toolRows, parts.toolsRoot, stage);
  const tree = await stageModules(moduleRows, {
    kernelRoot: parts.kernelRoot,
    stage,
    toolbox: parts.toolbox,
  });
  if (parts.firmwareRoot !== undefined) await stageFirmware(tree, parts.firmwareRoot, stage);
  await cp(filesFolder, stage, { recursive: true });
  await writeFile(path.join(stage, 'usr/lib/railhead/late-modules'), `${lateModules().join('\n')}\n`);
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
function lateModules(): string[] {
  return moduleRows.flatMap(({ lateOn, names }) =>
    lateOn === undefined ? [] : names.map((name) => `${lateOn} ${name}`),
  );
}

/** busybox under the names of its programs, where no better one has the name. */
async function linkApplets(stage: string): Promise<void> {
  const taken = new Set<string>();
  for (const folder of ['usr/bin', 'usr/sbin'])
    for (const name of await readdir(path.join(stage, folder))) taken.add(name);
  const applets = (await run(path.join(stage, 'usr/bin/busybox'), ['--list'])).trim().split('\n');
  for (const name of applets)
    if (!taken.has(name)) await symlink('busybox', path.join(stage, 'usr/bin', name));
}

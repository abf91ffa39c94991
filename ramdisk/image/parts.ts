import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { architectureNames, type MachineArchitecture } from '#base/architecture.ts';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';
import { type DebianOptions, type DebianPackage, download, realPackage, unpack } from '#base/debian.ts';
import { firmwarePackages, toolRowsFor } from './tools.ts';

/** The program that the ramdisk starts, as one executable file. */
export interface AgentProgram {
  file: string;
  digest: string;
}

/** One thing that decides the image's bytes. */
export interface RamdiskInput {
  name: string;
  version?: string;
  /** sha256 in hex. */
  digest: string;
}

/** The packages that an image is made of, in the cache and checked. */
export interface Packages {
  kernel: DebianPackage[];
  tools: DebianPackage[];
  firmware: DebianPackage[];
  toolbox: Toolbox;
}

/** What `stageRoot` puts together. */
export interface Parts {
  kernelRoot: string;
  toolsRoot: string;
  /** Absent without firmware. */
  firmwareRoot?: string;
  toolbox: Toolbox;
}

export interface FetchOptions extends Omit<DebianOptions, 'architecture'> {
  architecture: MachineArchitecture;
  firmware: boolean;
}

export async function fetchPackages(options: FetchOptions): Promise<Packages> {
  const { firmware, ...rest } = options;
  const architecture = architectureNames[options.architecture].debian;
  const debian = { ...rest, architecture };
  const kernel = await realPackage(`linux-image-${architecture}`, /^linux-image-\d/, debian);
  const tools = [...new Set(toolRowsFor(options.architecture).map((row) => row.package))];
  return {
    kernel: await download({ ...debian, refresh: false, packages: [kernel, 'systemd-boot-efi'] }),
    tools: await download({ ...debian, refresh: false, packages: tools, withDependencies: true }),
    firmware: firmware
      ? await download({ ...debian, packages: firmwarePackages, components: ['main', 'non-free-firmware'] })
      : [],
    toolbox: await openToolbox(['squashfs-tools', 'kmod', 'xz-utils'], { ...debian, refresh: false }),
  };
}

/** The packages as inputs; what only takes part in the building counts too. */
export function packageInputs({ kernel, tools, firmware, toolbox }: Packages): RamdiskInput[] {
  const builders = toolbox.packages.map((found) => ({ ...found, name: `build tool ${found.name}` }));
  const all = [...kernel, ...tools, ...firmware, ...builders];
  return all.map(({ name, version, sha256 }) => ({ name, version, digest: sha256 }));
}

/** Unpacks the packages below `work`. */
export async function unpackParts(packages: Packages, work: string): Promise<Parts> {
  const kernelRoot = path.join(work, 'kernel');
  const toolsRoot = path.join(work, 'tools');
  const firmwareRoot = path.join(work, 'firmware');
  for (const { file } of packages.kernel) await unpack(file, kernelRoot);
  for (const { file } of packages.tools) await unpack(file, toolsRoot);
  for (const { file } of packages.firmware) await unpack(file, firmwareRoot);
  return {
    kernelRoot,
    toolsRoot,
    ...(packages.firmware.length > 0 && { firmwareRoot }),
    toolbox: packages.toolbox,
  };
}

/** This folder's own files: its tables, its scripts, and how the image is put together. */
export async function folderInput(): Promise<RamdiskInput> {
  const folder = import.meta.dirname;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const hash = createHash('sha256');
  for (const file of files.sort())
    hash.update(`${path.relative(folder, file)}\0`).update(await readFile(file));
  return { name: 'ramdisk/image', digest: hash.digest('hex') };
}

import { createHash } from 'node:crypto';
import path from 'node:path';
import type { MachineArchitecture } from '#base/architecture.ts';
import { agentLayer } from './agentLayer.ts';
import { type AgentProgram, fetchPackages, folderInput, packageInputs, type RamdiskInput } from './parts.ts';
import { rootLayer } from './rootLayer.ts';

export interface BaseOptions {
  /** For the machines of the same architecture as the image. */
  bcd: AgentProgram;
  /** `x86_64` unless named. */
  architecture?: MachineArchitecture;
  /** The project's `.cache`. */
  cacheDirectory: string;
  /** Compress as small as can be: takes a minute. */
  release?: boolean;
  /** Bring the NIC firmware of non-free-firmware. */
  firmware?: boolean;
  /** Look for newer packages. */
  refresh?: boolean;
  progress?: (line: string) => void;
}

/** The expensive part of a ramdisk, the same for every centre. */
export interface RamdiskBase {
  /** Where images made from it are kept. */
  directory: string;
  inputs: RamdiskInput[];
  stub: Buffer;
  linux: Buffer;
  initrd: Buffer;
  /** The kernel's version. */
  uname: string;
}

/** The base of these inputs, from the cache where it was built before. */
export async function buildBase(options: BaseOptions): Promise<RamdiskBase> {
  const { bcd, architecture = 'x86_64', release = false, firmware = false, refresh = false } = options;
  const { progress } = options;
  const said = progress === undefined ? {} : { progress };
  const at = (...names: string[]): string => path.join(options.cacheDirectory, ...names);
  const debian = { cacheDirectory: at('debian'), refresh, ...said };
  const packages = await fetchPackages({ ...debian, architecture, firmware });
  const rootInputs = [...packageInputs(packages), await folderInput(), levelInput(release)];
  const agentInputs = [{ name: 'bcd', digest: bcd.digest }];
  const root = await rootLayer({
    directory: at('ramdisk/root', keyOf(rootInputs)),
    architecture,
    packages,
    release,
    ...said,
  });
  const agent = await agentLayer({
    directory: at('ramdisk/agent', keyOf([...rootInputs, ...agentInputs])),
    program: bcd.file,
    release,
    toolbox: packages.toolbox,
  });
  const inputs = [...rootInputs, ...agentInputs];
  return {
    directory: at('ramdisk/images'),
    inputs,
    stub: root.stub,
    linux: root.linux,
    initrd: Buffer.concat([root.initrd, agent]),
    uname: root.uname.toString(),
  };
}

function levelInput(release: boolean): RamdiskInput {
  const version = release ? 'release' : 'development';
  return { name: 'compression', version, digest: digestOf(version) };
}

/** The name under which what these inputs give is kept. */
export function keyOf(inputs: readonly RamdiskInput[]): string {
  return digestOf(JSON.stringify(inputs)).slice(0, 32);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

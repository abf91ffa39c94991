import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Compression } from '#contract/images.ts';
import type { FirmwareName } from '../machine/firmware.ts';
import { enterNamespace } from '../namespace.ts';
import { recordedProcess, recordProcess } from '../processRecord.ts';
import { type Rack, rackUp } from '../rack.ts';
import { rackDown } from '../tearDown.ts';
import type { Api } from './api.ts';
import { type Artifacts, type OsVariant, type Progress, prepareArtifacts, ramdiskFor } from './artifacts.ts';
import { makeSigner, register, tenantId } from './catalog.ts';
import { type Centre, prepareCentre, startCentre } from './centre.ts';
import { type Site, startSite } from './site.ts';
import { type ImageSource, startSource } from './source.ts';
import type { SourceBehaviour } from './sourceBehaviour.ts';

const ramdiskRef = 'ramdisk@1';

/** A machine as `rackUp` takes it. */
export interface LineMachine {
  name: string;
  firmware: FirmwareName;
  disks: readonly { size: string; bus?: string }[];
  memoryMiB?: number;
}

export interface LineOptions {
  /** What the rack's namespaces begin with; lines of different prefixes can be up at once. */
  prefix: string;
  /** State, disks and logs; emptied at the start. */
  directory: string;
  machines: readonly LineMachine[];
  os: OsVariant;
  /** How the source answers for the OS image. */
  osSource?: SourceBehaviour;
  progress: Progress;
}

/** An OS image as a file, for the catalog. */
export interface OfferedImage {
  ref: string;
  file: string;
  sha256: string;
  sizeBytes: number;
  compression: Compression;
}

/** A whole site on the virtual rack: machines, image source, centre and site agent, all joined, enrolled and registered. */
export interface Line {
  rack: Rack;
  centre: Centre;
  api: Api;
  site: Site;
  source: ImageSource;
  artifacts: Artifacts;
  /** Node ids by machine name. */
  nodes: ReadonlyMap<string, string>;
  /** Serves a further image at the source, registers it, and has the site hold it. */
  offer(image: OfferedImage): Promise<void>;
  close(): Promise<void>;
}

/**
 * Brings a line up. This process is in the site's network namespace until `close`, so that it reaches the centre and the
 * machines. What was started is ended again when something cannot be.
 */
export async function startLine(options: LineOptions): Promise<Line> {
  const artifacts = await prepareArtifacts(options.os, options.progress);
  const started: Closable[] = [];
  try {
    return await assemble(options, artifacts, started);
  } catch (error) {
    await closeAll(started).catch(() => {});
    throw error;
  }
}

async function assemble(options: LineOptions, artifacts: Artifacts, started: Closable[]): Promise<Line> {
  const { prefix, directory, progress } = options;
  const machines = options.machines.map((machine) => withNicRom(machine, artifacts.nicRom));
  await takeDirectory(directory, prefix);
  progress('building the rack');
  const rack = await rackUp({ prefix, machines }, path.join(directory, 'rack'));
  started.push({ close: () => rack.down({ keepFiles: true }) });
  started.push({ close: enterNamespace(rack.namespaces.site) });

  progress('starting the image source, the centre and the site agent');
  const source = await startSource(rack.namespaces.centre, directory);
  started.push({ close: () => source.process.stop() });
  const signer = makeSigner();
  const books = await prepareCentre(path.join(directory, 'centre'), signer);
  const centre = await startCentre(rack.namespaces.centre, books, path.join(directory, 'centre.log'));
  started.push({ close: () => centre.stop() });
  const site = await startSite({
    rack,
    bcd: artifacts.bcd,
    books,
    centreUrl: centre.agentsUrl,
    ipxeDirectory: artifacts.ipxeDirectory,
    sourceCaFile: source.certificateFile,
    directory: path.join(directory, 'site'),
  });
  started.push({ close: () => site.stop() });

  const ramdisk = await ramdiskFor(books.trust, progress);
  const { api } = centre;
  const { os } = artifacts;
  const images = {
    ramdisk: {
      kind: 'ramdisk',
      ref: ramdiskRef,
      compression: 'none',
      sha256: ramdisk.digest,
      sizeBytes: ramdisk.sizeBytes,
    },
    os: {
      kind: 'os',
      ref: options.os.ref,
      compression: os.compression,
      sha256: os.sha256,
      sizeBytes: os.sizeBytes,
    },
  } as const;
  const ramdiskUrl = await source.serve('ramdisk', ramdisk.file);
  const osUrl = await source.serve('os', os.artifact, options.osSource);
  await register(api, signer, { ...images.ramdisk, format: 'raw', source: ramdiskUrl });
  await register(api, signer, { ...images.os, format: 'raw', source: osUrl });
  const nodes = await enrollAll(api, rack, books.siteId, options.os.ref);
  const offer = async ({ file, ref, ...facts }: OfferedImage) => {
    const url = await source.serve(ref, file);
    await register(api, signer, { kind: 'os', format: 'raw', ref, ...facts, source: url });
    await createPool(api, books.siteId, [ref]);
  };
  return { rack, centre, api, site, source, artifacts, nodes, offer, close: () => closeAll(started) };
}

function withNicRom(machine: LineMachine, nicRom: string): LineMachine & { nicRom?: string } {
  return machine.firmware === 'bios' ? { ...machine, nicRom } : machine;
}

/** Makes the directory this run's own, and removes what a killed run left there and in the namespaces. */
async function takeDirectory(directory: string, prefix: string): Promise<void> {
  const other = await recordedProcess(directory);
  if (other !== undefined && other !== process.pid)
    throw new RailheadError(
      'CONFLICT',
      `another run (process ${other}) uses ${directory}: wait for its end`,
      { directory },
    );
  await rackDown(path.join(directory, 'rack'), prefix);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await recordProcess(directory);
}

async function enrollAll(api: Api, rack: Rack, siteId: string, osRef: string): Promise<Map<string, string>> {
  const poolId = await createPool(api, siteId, [osRef]);
  const nodes = new Map<string, string>();
  for (const { name, mac, uuid, bmc } of rack.machines) {
    const { address, certificateSha256 } = bmc;
    const node = await api.call<{ nodeId: string }>('metal', 'enroll', {
      ...{ tenantId, siteId, poolId, macs: [mac], uuid, hostname: name },
      bmc: { address, credentialRef: `secret://${name}`, certificateSha256 },
    });
    nodes.set(name, node.nodeId);
  }
  return nodes;
}

async function createPool(api: Api, siteId: string, prewarmImages: readonly string[]): Promise<string> {
  const policy = { prewarmImages, ramdisk: { x86_64: ramdiskRef } };
  const { poolId } = await api.call<{ poolId: string }>('pools', 'create', { tenantId, siteId, policy });
  return poolId;
}

import type { MachineArchitecture } from '#base/architecture.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import type { Ramdisk } from '#ramdisk/image/build.ts';
import { enterNamespace } from '../enterNamespace.ts';
import { architecture, type FirmwareName } from '../machine/firmware.ts';
import { type Rack, rackUp } from '../rack.ts';
import type { Api } from './api.ts';
import { type Artifacts, type OsVariant, type Progress, prepareArtifacts, ramdiskFor } from './artifacts.ts';
import {
  makeSigner,
  type OfferedImage,
  offerIso,
  offerOs,
  offerRamdisk,
  ramdiskRefs,
  tenantId,
} from './catalog.ts';
import type { Centre, CentreBooks } from './centre.ts';
import { rackDirectory, takeDirectory } from './directory.ts';
import { startServices } from './services.ts';
import type { Site } from './site.ts';
import type { ImageSource } from './source.ts';
import type { SourceBehaviour } from './sourceBehaviour.ts';

/** A machine as `rackUp` takes it. */
export interface LineMachine {
  name: string;
  firmware: FirmwareName;
  disks: readonly { size: string; bus?: string }[];
  memoryMiB?: number;
  rtc?: string;
  /** A BIOS machine's card has the ROM of the host's own QEMU; with Debian 12's that is an iPXE of 2019. */
  hostRom?: boolean;
  /** Its cable ends at a trunk port with these VLANs, each a network of the site. */
  vlans?: readonly number[];
  bootsOver?: 'http' | 'https' | 'ipv6';
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
  /** Fields of the site's `[provisioning]` beside, or in place of, the usual ones. */
  provisioning?: Readonly<Record<string, unknown>>;
  /** Fields of the site's `[boot]` likewise. */
  boot?: Readonly<Record<string, unknown>>;
  /** Starts what else stands on the site's network before the agent does, such as another DHCP server. */
  neighbours?(rack: Rack, directory: string): Promise<Closable>;
  progress: Progress;
  /** Aborted: what was started is ended. */
  signal: AbortSignal;
}

/** A whole site on the virtual rack: machines, image source, centre and site agent, all joined, enrolled and registered. */
export interface Line {
  rack: Rack;
  /** What was prepared on the centre's host: tokens, pins, templates. */
  books: CentreBooks;
  centre: Centre;
  api: Api;
  site: Site;
  source: ImageSource;
  artifacts: Artifacts;
  /** Node ids by machine name. */
  nodes: ReadonlyMap<string, string>;
  /** Serves a further image at the source, registers it, and has the site hold it. */
  offer(image: OfferedImage): Promise<void>;
  /** Serves an ISO at the source and registers it; no site holds it before a machine is to boot it. */
  offerIso(iso: Omit<OfferedImage, 'compression'>): Promise<void>;
  /** Serves a further ramdisk image at the source and registers it; a pool has to name it. */
  offerRamdisk(ref: string, image: Pick<Ramdisk, 'file' | 'digest' | 'sizeBytes'>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Brings a line up. This process is in the site's network namespace until `close`, so that it reaches the centre and the
 * machines. What was started is ended again when something cannot be, or when the signal is aborted on the way.
 */
export async function startLine(options: LineOptions): Promise<Line> {
  const { os, machines, progress, signal } = options;
  const artifacts = await prepareArtifacts(os, architecturesOf(machines), progress, signal);
  const started: Closable[] = [];
  try {
    return await assemble(options, artifacts, started);
  } catch (error) {
    await closeAll(started).catch(() => {});
    throw error;
  }
}

async function assemble(options: LineOptions, artifacts: Artifacts, started: Closable[]): Promise<Line> {
  const { directory, progress, signal, provisioning = {}, boot = {} } = options;
  progress('building the rack');
  const rack = await raiseRack(options, artifacts, started);
  signal.throwIfAborted();
  if (options.neighbours !== undefined) started.push(await options.neighbours(rack, directory));
  progress('starting the image source, the centre and the site agent');
  const signer = makeSigner();
  const services = await startServices({ rack, directory, artifacts, signer, started, provisioning, boot });
  signal.throwIfAborted();
  const { books, centre, source } = services;
  const { api } = centre;
  const catalog = { api, signer, source };
  const ramdisks: RamdiskRefs = {};
  for (const kind of architecturesOf(options.machines)) {
    const ramdisk = await ramdiskFor(books.trust, kind, progress);
    await offerRamdisk(catalog, ramdisk, ramdiskRefs[kind]);
    ramdisks[kind] = ramdiskRefs[kind];
  }
  await offerOs(catalog, osOf(options.os.ref, artifacts), options.osSource);
  const pool = (images: readonly string[]) => createPool(api, books.siteId, images, ramdisks);
  const nodes = await enrollAll(api, rack, books.siteId, await pool([options.os.ref]));
  const offer = async (image: OfferedImage) => {
    await offerOs(catalog, image);
    await pool([image.ref]);
  };
  return {
    ...{ rack, ...services, api, artifacts, nodes, offer },
    offerIso: (iso) => offerIso(catalog, iso),
    offerRamdisk: (ref, image) => offerRamdisk(catalog, image, ref),
    close: () => closeAll(started),
  };
}

/** The ramdisk's ref by architecture. */
type RamdiskRefs = Partial<Record<MachineArchitecture, string>>;

/** What the machines need ramdisks for; x86-64 in any case. */
function architecturesOf(machines: readonly LineMachine[]): MachineArchitecture[] {
  return [...new Set(['x86_64', ...machines.map((one) => architecture(one.firmware))] as const)];
}

async function raiseRack(options: LineOptions, { nicRom }: Artifacts, started: Closable[]): Promise<Rack> {
  const { prefix, directory } = options;
  await takeDirectory(directory, prefix);
  const machines = options.machines.map((machine) => withNicRom(machine, nicRom));
  const rack = await rackUp({ prefix, machines }, rackDirectory(directory));
  started.push({ close: () => rack.down({ keepFiles: true }) });
  started.push({ close: enterNamespace(rack.namespaces.site) });
  return rack;
}

function withNicRom({ hostRom = false, ...machine }: LineMachine, nicRom: string): object {
  return machine.firmware === 'bios' && !hostRom ? { ...machine, nicRom } : machine;
}

function osOf(ref: string, { os }: Artifacts): OfferedImage {
  const { artifact, sha256, sizeBytes, compression } = os;
  return { ref, file: artifact, sha256, sizeBytes, compression };
}

async function enrollAll(api: Api, rack: Rack, siteId: string, poolId: string): Promise<Map<string, string>> {
  const nodes = new Map<string, string>();
  for (const { name, mac, uuid, bmc } of rack.machines) {
    const { address, certificateSha256, username, password } = bmc;
    const node = await api.call<{ nodeId: string }>('metal', 'enroll', {
      ...{ tenantId, siteId, poolId, macs: [mac], uuid, hostname: name },
      bmc: { address, credentialRef: `secret://${name}`, certificateSha256 },
      bmcCredentials: { username, password },
    });
    nodes.set(name, node.nodeId);
  }
  return nodes;
}

async function createPool(
  api: Api,
  siteId: string,
  prewarmImages: readonly string[],
  ramdisk: RamdiskRefs,
): Promise<string> {
  const policy = { prewarmImages, ramdisk };
  const { poolId } = await api.call<{ poolId: string }>('pools', 'create', { tenantId, siteId, policy });
  return poolId;
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { silentLog } from '#base/log.ts';
import {
  type BootNetwork,
  type BootServer,
  type BootServerOptions,
  startBootServer,
} from '#bootserver/bootServer.ts';
import { openHeardAddresses } from '#bootserver/heardAddresses.ts';
import type { BootDecision, BootEvent, MachineFacts } from '#bootserver/machine.ts';
import { ask, digest, OneImage } from './samples.ts';

export const mac = '52:54:00:77:00:41';
export const imagePath = `/images/sha256/${digest}`;
export const loopback: BootNetwork = {
  mode: 'off',
  interface: 'lo',
  address: '127.0.0.1',
  prefixLength: 8,
  leaseSeconds: 600,
  machineUrl: 'https://127.0.0.1:8443',
};

/** A boot server on loopback, what it was told to say of every machine, and what it asked and told. */
export interface BootBench {
  server: BootServer;
  options: BootServerOptions;
  images: OneImage;
  decision: BootDecision;
  asked: MachineFacts[];
  events: BootEvent[];
  get(target: string, more?: Parameters<typeof ask>[2]): ReturnType<typeof ask>;
}

/** That of a test file: started before its tests, ended after them; each test begins with the disk as the decision. */
export function useBootServer(): BootBench {
  const bench = { images: new OneImage(), events: [] as BootEvent[] } as BootBench;
  bench.get = (target, more = {}) => ask(bench.server.httpUrl, target, more);
  beforeAll(async () => {
    bench.options = await optionsOf(bench);
    bench.server = await startBootServer(bench.options);
  });
  beforeEach(() => {
    bench.decision = { kind: 'disk' };
    bench.asked = [];
    bench.events.length = 0;
    bench.images.state = () => undefined;
  });
  afterAll(async () => {
    await bench.server.close();
    await rm(bench.options.ipxeDirectory, { recursive: true });
  });
  return bench;
}

async function optionsOf(bench: BootBench): Promise<BootServerOptions> {
  const directory = await mkdtemp(path.join(tmpdir(), 'boot-'));
  await writeFile(path.join(directory, 'ipxe-amd64.efi'), 'loader');
  await writeFile(path.join(directory, 'manifest.json'), '{}');
  return {
    networks: [loopback],
    reservations: { reservation: () => undefined, isReserved: () => false },
    decide: (machine) => {
      bench.asked.push(machine);
      return bench.decision;
    },
    images: bench.images,
    ipxeDirectory: directory,
    database: databaseOf(mac, '127.0.0.1'),
    leaseFile: path.join(directory, 'leases.db'),
    timeline: (event) => bench.events.push(event),
    log: silentLog(),
    httpPort: 0,
    dhcpPort: 0,
    tftpPort: 0,
  };
}

/** Another DHCP server gave the machine this address. */
function databaseOf(machine: string, address: string): BootServerOptions['database'] {
  const database = new Database(':memory:');
  const heard = openHeardAddresses({ database, log: silentLog(), isNamed: () => true });
  heard.heard(machine, address, 67);
  heard.close();
  return database;
}

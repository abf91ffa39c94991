import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Log, silentLog } from '#base/log.ts';
import { planRack } from '../plan.ts';
import type { MachineRecord } from '../record.ts';
import { rackSpec } from '../spec.ts';
import { Account } from './account.ts';
import { bmcCertificate } from './certificate.ts';
import { EventHub } from './eventHub.ts';
import { EventLog } from './eventLog.ts';
import { type Fault, FaultSwitches } from './faultSwitches.ts';
import { bmcApplication } from './server.ts';
import { Sessions } from './sessions.ts';
import { SimulatedMachine } from './simulatedMachine.ts';

/** A BMC on loopback in front of a machine that is simulated too: no rack, no QEMU, no root. */
export interface SimulatedBmc {
  address: string;
  record: MachineRecord;
  machine: SimulatedMachine;
  faults: FaultSwitches;
  sessions: Sessions;
  eventLog: EventLog;
  events: EventHub;
  account: Account;
  app: FastifyInstance;
  /** Method and path of each request so far. */
  requests: { method: string; url: string }[];
  close(): Promise<void>;
}

export interface SimulatedBmcOptions {
  /** Where a medium is kept. */
  directory: string;
  tls: Awaited<ReturnType<typeof bmcCertificate>>;
  faults?: readonly Fault[];
  /** How long its machine takes to change its power. */
  delayMs?: number;
  /** Of one that was there before, to be the same. */
  record?: MachineRecord;
  /** Where it listens; any free port when left out. */
  port?: number;
  /** Decides on faults by chance. */
  random?: () => number;
  log?: Log;
}

/** A certificate for `startSimulatedBmc`; many of them may share one. */
export function loopbackCertificate(): ReturnType<typeof bmcCertificate> {
  return bmcCertificate('127.0.0.1');
}

export async function startSimulatedBmc(options: SimulatedBmcOptions): Promise<SimulatedBmc> {
  const { directory, tls, faults = [], delayMs = 0, random, log = silentLog() } = options;
  const { record = simulatedRecord(directory) } = options;
  const machine = new SimulatedMachine(delayMs);
  const switches = new FaultSwitches(faults, random);
  const sessions = new Sessions();
  const account = new Account(record.bmc, faults.includes('factory-password'));
  const requests: SimulatedBmc['requests'] = [];
  const eventLog = new EventLog();
  const events = new EventHub(machine, eventLog, log);
  const parts = { machine, record, faults: switches, sessions, account, eventLog, events, log };
  const app = bmcApplication(parts, { key: tls.keyPem, cert: tls.certificatePem });
  app.server.on('request', ({ method = '', url = '' }) => requests.push({ method, url }));
  await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    address: `https://127.0.0.1:${port}`,
    ...{ record, machine, faults: switches, sessions, account, eventLog, events, app, requests },
    close: async () => {
      await machine.close();
      await app.close();
    },
  };
}

/** The record that a rack of one UEFI machine would have. */
function simulatedRecord(directory: string): MachineRecord {
  const machines = [{ name: 'simulated', firmware: 'uefi', memoryMiB: 1024, disks: [{ size: '8G' }] }];
  const [record] = planRack(rackSpec({ machines }), directory).machines;
  if (record === undefined) throw new Error('a rack of one machine has one');
  return { ...record, directory };
}

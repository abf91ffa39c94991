import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleOpener } from '#agent/site/console/open.ts';
import type { MachineDriver } from '#agent/site/drivers/driver.ts';
import { silentLog } from '#base/log.ts';
import type { SerialConsole } from '#console/session.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { type IpmiSim, startIpmiSim } from '../../../fakes/ipmiSim.ts';
import { type SerialMachine, startSerialMachine } from '../../../fakes/serialMachine.ts';
import { type SshBmc, startSshBmc, user } from '../../../fakes/sshBmc.ts';

let machine: SerialMachine;
let sim: IpmiSim;
let ssh: SshBmc;
beforeAll(async () => {
  machine = await startSerialMachine();
  sim = await startIpmiSim({ ...user, serialPort: machine.port });
  ssh = await startSshBmc({ prompt: '', commands: [], serialPort: machine.port });
});
afterAll(async () => {
  await ssh.stop();
  await sim.stop();
  await machine.stop();
});

const solPort = () => Number(new URL(sim.address).port);
const both = (): SerialConsole => ({ ssh: { port: ssh.port, commands: [] }, sol: { port: solPort() } });

async function opened(told: SerialConsole | Error, bmc: Partial<BmcBinding> = {}) {
  const pins = new Map<string, string>();
  const suites = new Map<string, number>([[`ipmi://127.0.0.1:${solPort()}`, 3]]);
  const driver = {
    serialConsole: async () => {
      if (told instanceof Error) throw told;
      return told;
    },
  } as unknown as MachineDriver;
  const open = consoleOpener({
    bmcs: { read: async (_node, work) => work(driver) },
    sshKeys: { find: (place) => pins.get(place), keep: (place, key) => void pins.set(place, key) },
    ciphers: { find: (place) => suites.get(place), keep: (place, suite) => void suites.set(place, suite) },
    ipmitool: sim.ipmitool,
    credentialsOf: async () => user,
    log: silentLog(),
  });
  const binding = {
    driver: 'redfish' as const,
    address: 'https://127.0.0.1',
    credentialRef: 'secret://a',
    ...bmc,
  };
  const session = await open({ nodeId: 'node-1', macs: [], bmc: binding }, { output: () => {} });
  await session.close();
  return { by: session.by, pins: [...pins.keys()] };
}

test('a BMC that has SSH is reached by it, and its key is pinned', async () => {
  expect(await opened(both())).toEqual({ by: 'ssh', pins: [`127.0.0.1:${ssh.port}`] });
});

test('IPMI is left where SSH is not reached, is not told of, or the record says so', async () => {
  const gone = { port: 9, commands: [] };
  expect((await opened({ ...both(), ssh: gone })).by).toBe('sol');
  expect((await opened({ sol: { port: solPort() } })).by).toBe('sol');
  expect((await opened(both(), { console: 'sol' })).by).toBe('sol');
  expect((await opened({}, { driver: 'ipmi', address: sim.address })).by).toBe('sol');
});

test('who is to use SSH alone does not go by IPMI', async () => {
  await expect(opened({ sol: { port: solPort() } }, { console: 'ssh' })).rejects.toMatchObject({
    details: { reason: 'no-ssh-console' },
  });
  const gone = { ...both(), ssh: { port: 9, commands: [] } };
  await expect(opened(gone, { console: 'ssh' })).rejects.toMatchObject({
    details: { reason: 'unreachable' },
  });
});

test('a key that is not the pinned one is no reason to try IPMI', async () => {
  const sshHostKey = `SHA256:${'A'.repeat(43)}`;
  await expect(opened(both(), { sshHostKey })).rejects.toMatchObject({ details: { reason: 'pin-mismatch' } });
});

test('what the BMC refuses to tell is told; what has no BMC has no console', async () => {
  const refused = new RailheadError('DRIVER_ERROR', 'no', { reason: 'credentials-refused' });
  await expect(opened(refused)).rejects.toBe(refused);
  await expect(opened(both(), { driver: 'manual' })).rejects.toMatchObject({
    details: { reason: 'no-console' },
  });
});

import { createHash } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { machineStatus, supervisorGone } from '#rack/control.ts';
import { enterNamespace } from '#rack/enterNamespace.ts';
import { listNamespaces, processesIn } from '#rack/netns.ts';
import { powerOff, type Rack, rackUp, readDisk } from '#rack/rack.ts';
import type { MachineRecord } from '#rack/record.ts';
import { rackDown } from '#rack/tearDown.ts';
import { waitForConsole } from '#rack/waitForConsole.ts';
import { bootSector } from './fakes/bootSector.ts';

const prefix = 'rhtest';
const document = {
  prefix,
  machines: [
    { name: 'u', firmware: 'uefi', memoryMiB: 256, disks: [{ size: '1G' }] },
    { name: 'b', firmware: 'bios', memoryMiB: 128, disks: [{ size: '64M', bus: 'sata' }] },
  ],
};

let directory: string;
let rack: Rack;
let leave: () => void;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'rack-'));
  rack = await rackUp(document, directory);
  const disk = await open(readDisk(rack.machine('b'), 0), 'r+');
  await disk.write(bootSector('BOOTED FROM DISK'));
  await disk.close();
  leave = enterNamespace(rack.namespaces.site);
});

afterAll(async () => {
  leave();
  await rackDown(directory, prefix);
  await rm(directory, { recursive: true });
});

interface RedfishReply {
  status: number;
  headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any;
}

/** Asks a machine's BMC over HTTPS, with exactly its certificate trusted. */
async function redfish(
  machine: MachineRecord,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  at: string,
  payload?: object,
  auth?: Record<string, string>,
): Promise<RedfishReply> {
  const { address, username, password } = machine.bmc;
  const ca = await readFile(path.join(machine.directory, 'bmc.crt'), 'utf8');
  const dispatcher = new Agent({ connect: { ca } });
  const basic = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  try {
    const answer = await request(`${address}/redfish/v1${at}`, {
      ...{ method, dispatcher, headers: { 'content-type': 'application/json', ...(auth ?? basic) } },
      ...(payload && { body: JSON.stringify(payload) }),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  } finally {
    await dispatcher.close();
  }
}

const reset = (machine: MachineRecord, ResetType: string) =>
  redfish(machine, 'POST', '/Systems/1/Actions/ComputerSystem.Reset', { ResetType });

const bootOnce = (machine: MachineRecord, target: string) =>
  redfish(machine, 'PATCH', '/Systems/1', {
    Boot: { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: 'Once' },
  });

async function consoleEnd({ consoleLog }: MachineRecord): Promise<number> {
  return (await readFile(consoleLog)).length;
}

function type(machine: MachineRecord, text: string): void {
  connect(machine.consoleSocket).end(text);
}

describe('a UEFI machine', () => {
  test('with a blank disk tries it and boots over the network', async () => {
    const machine = rack.machine('u');
    expect((await reset(machine, 'On')).status).toBe(204);
    await waitForConsole(machine, /failed to load Boot.*Not Found/, { timeoutMs: 20_000 });
    await waitForConsole(machine, /Start PXE over IPv4/, { timeoutMs: 5000 });
    expect((await redfish(machine, 'GET', '/Systems/1')).body.PowerState).toBe('On');
  });

  test('told to boot from the network once does so straight, and once only', async () => {
    const machine = rack.machine('u');
    const from = await consoleEnd(machine);
    await bootOnce(machine, 'Pxe');
    await reset(machine, 'ForceRestart');
    const pxe = await waitForConsole(machine, /Start PXE over IPv4|failed to load/, {
      timeoutMs: 20_000,
      from,
    });
    expect(pxe.match[0]).toBe('Start PXE over IPv4');
    await reset(machine, 'ForceRestart');
    await waitForConsole(machine, /failed to load Boot.*Not Found/, { timeoutMs: 20_000, from: pxe.end });
  });

  test('told to boot by HTTP does so, and is off when forced off', async () => {
    const machine = rack.machine('u');
    const from = await consoleEnd(machine);
    await bootOnce(machine, 'UefiHttp');
    await reset(machine, 'PowerCycle');
    await waitForConsole(machine, /Start HTTP Boot over IPv4/, { timeoutMs: 20_000, from });
    await reset(machine, 'ForceOff');
    expect((await redfish(machine, 'GET', '/Systems/1')).body.PowerState).toBe('Off');
  });
});

describe('a BIOS machine', () => {
  test('boots its disk, its guest’s reset uses an override once, and its guest can power it off', async () => {
    const machine = rack.machine('b');
    await reset(machine, 'On');
    const disk = await waitForConsole(machine, /BOOTED FROM DISK/, { timeoutMs: 10_000 });
    await bootOnce(machine, 'Pxe');
    type(machine, 'r');
    const network = await waitForConsole(machine, /Configuring \(net0 ([0-9a-f:]+)\)|BOOTED/, {
      timeoutMs: 15_000,
      from: disk.end,
    });
    expect(network.match[1]).toBe(machine.mac);
    await reset(machine, 'ForceRestart');
    const again = await waitForConsole(machine, /BOOTED FROM DISK|Configuring/, {
      timeoutMs: 10_000,
      from: network.end,
    });
    expect(again.match[0]).toBe('BOOTED FROM DISK');
    type(machine, 'p');
    await expect.poll(async () => (await machineStatus(machine)).powerState, { timeout: 5000 }).toBe('Off');
  });
});

test('a session opens the BMC until it is deleted', async () => {
  const machine = rack.machine('u');
  const { username: UserName, password: Password } = machine.bmc;
  const login = await redfish(machine, 'POST', '/SessionService/Sessions', { UserName, Password }, {});
  const auth = { 'x-auth-token': String(login.headers['x-auth-token']) };
  expect((await redfish(machine, 'GET', '/Systems/1', undefined, auth)).status).toBe(200);
  const session = String(login.headers.location).replace('/redfish/v1', '');
  expect((await redfish(machine, 'DELETE', session, undefined, auth)).status).toBe(204);
  expect((await redfish(machine, 'GET', '/Systems/1', undefined, auth)).status).toBe(401);
});

test('the record holds the fingerprint of the certificate', async () => {
  const machine = rack.machine('u');
  const pem = await readFile(path.join(machine.directory, 'bmc.crt'), 'utf8');
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  expect(createHash('sha256').update(der).digest('hex')).toBe(machine.bmc.certificateSha256);
});

describe('what is left behind', () => {
  const supervisorOf = async (machine: MachineRecord): Promise<number> =>
    JSON.parse(await readFile(path.join(machine.directory, 'supervisor.json'), 'utf8')).pid;

  /** The QEMUs in the site namespace, where this process is as well. */
  const qemus = async () => {
    const names = (await processesIn(rack.namespaces.site)).map((pid) =>
      readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''),
    );
    return (await Promise.all(names)).filter((name) => name.startsWith('qemu'));
  };

  test('a supervisor that is stopped takes its QEMU with it', async () => {
    const machine = rack.machine('b');
    await reset(machine, 'On');
    expect(await qemus()).toHaveLength(1);
    process.kill(await supervisorOf(machine), 'SIGTERM');
    expect(await supervisorGone(machine, 10_000)).toBe(true);
    expect(await qemus()).toEqual([]);
  });

  test('a supervisor that is killed takes its QEMU with it, and the rack comes up anew', async () => {
    const machine = rack.machine('u');
    await reset(machine, 'On');
    process.kill(await supervisorOf(machine), 'SIGKILL');
    expect(await supervisorGone(machine, 10_000)).toBe(true);
    await expect.poll(qemus, { timeout: 5000 }).toEqual([]);
    leave();
    rack = await rackUp(document, directory);
    leave = enterNamespace(rack.namespaces.site);
    expect((await redfish(rack.machine('u'), 'GET', '/Systems/1')).body.PowerState).toBe('Off');
  });

  test('a second up of the same rack changes nothing, of another is refused', async () => {
    const before = await supervisorOf(rack.machine('u'));
    await rackUp(document, directory);
    expect(await supervisorOf(rack.machine('u'))).toBe(before);
    const other = { prefix, machines: [{ name: 'x', firmware: 'bios' }] };
    await expect(rackUp(other, directory)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(rackUp(other, `${directory}-2`)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('down leaves nothing', async () => {
    const killed = await supervisorOf(rack.machine('b'));
    await powerOff(rack.machine('u'));
    process.kill(killed, 'SIGKILL');
    leave();
    await rack.down();
    leave = () => {};
    expect((await listNamespaces()).filter((name) => name.startsWith(prefix))).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { type Fault, FaultSwitches } from '#rack/bmc/faultSwitches.ts';
import { faultNames } from '#rack/bmc/faults.ts';
import { bmcApplication } from '#rack/bmc/server.ts';
import { openBmc } from '#redfish/bmc.ts';
import { selfSignedIdentity } from '../fakes/certificates.ts';
import { hastyClock } from '../fakes/clocks.ts';
import { FakeMachine } from '../rack/fakes/bmc.ts';
import { machineRecord } from '../rack/fakes/records.ts';

/** The rack's simulated BMC, over HTTPS, in front of a machine that notes what it is told. */
async function startRackBmc(...names: Fault[]) {
  const record = machineRecord();
  record.directory = await mkdtemp(path.join(tmpdir(), 'railhead-rack-bmc-'));
  const machine = new FakeMachine();
  const parts = { machine, record, faults: new FaultSwitches(names), log: silentLog() };
  const app = bmcApplication(parts, await selfSignedIdentity());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const { username, password } = record.bmc;
  const address = `https://127.0.0.1:${port}`;
  const bmc = openBmc({ address, username, password, log: silentLog(), clock: hastyClock(100) });
  onTestFinished(async () => {
    await bmc.close();
    await app.close();
    await rm(record.directory, { recursive: true });
  });
  return { bmc, machine, record };
}

test('what a deploy asks of a BMC works with the rack', async () => {
  const { bmc, machine } = await startRackBmc();
  expect(await bmc.setBootDevice({ device: 'pxe', persistent: false })).toEqual({
    device: 'pxe',
    persistent: false,
  });
  expect(machine.bootOverride).toMatchObject({ target: 'Pxe', enabled: 'Once' });
  expect(await bmc.setPower('cycle')).toBe('on');
  expect(await bmc.setPower('cycle')).toBe('on');
  expect(await bmc.setBootDevice({ device: 'disk', persistent: true })).toEqual({
    device: 'disk',
    persistent: true,
  });
  expect(await bmc.setPower('off')).toBe('off');
  expect(machine.actions).toEqual(['On', 'ForceRestart', 'ForceOff']);
});

test('the rack tells what its machine is made of, and takes a medium', async () => {
  const { bmc, machine, record } = await startRackBmc();
  expect(await bmc.inspect()).toMatchObject({
    system: { serial: record.serial, power: 'off', memoryBytes: record.memoryMiB * 2 ** 20 },
    nics: [{ mac: record.mac, linkUp: false }],
    disks: [{ sizeBytes: record.disks[0]?.sizeBytes }],
    notes: [],
  });
  const iso = path.join(record.directory, 'source.iso');
  await writeFile(iso, 'an image');
  await bmc.insertMedia(pathToFileURL(iso).href);
  expect(await readFile(machine.medium ?? '', 'utf8')).toBe('an image');
  await bmc.ejectMedia();
  expect(machine.medium).toBeUndefined();
});

test.each(['503-once', 'no-allowable-values', 'sessions-exhausted'] as const)(
  'the fault %s of the rack is borne',
  async (fault) => {
    const { bmc, machine } = await startRackBmc(fault);
    await bmc.setBootDevice({ device: 'pxe', persistent: false });
    expect(await bmc.setPower('on')).toBe('on');
    expect(machine.bootOverride).toMatchObject({ target: 'Pxe', enabled: 'Once' });
  },
);

test.each(faultNames.filter((name) => name.startsWith('as-')))(
  'a BMC that speaks %s is driven and read',
  async (shape) => {
    const { bmc, machine, record } = await startRackBmc(shape);
    const iso = path.join(record.directory, 'source.iso');
    await writeFile(iso, 'an image');
    await bmc.setPower('off');
    await bmc.setBootDevice({ device: 'pxe', persistent: false });
    expect(machine.bootOverride).toMatchObject({ target: 'Pxe', enabled: 'Once' });
    expect(await bmc.setPower('cycle')).toBe('on');
    expect(await bmc.setPower('graceful-restart')).toBe('on');
    await bmc.insertMedia(pathToFileURL(iso).href);
    expect(await bmc.insertedMedia()).toBe(pathToFileURL(iso).href);
    await bmc.ejectMedia();
    expect(await bmc.insertedMedia()).toBeUndefined();
    expect(await bmc.inspect()).toMatchObject({ nics: [{ mac: record.mac }], notes: [] });
    expect(await bmc.setPower('off')).toBe('off');
  },
);

test.each(['accept-but-ignore-boot-override', 'override-target-only'] as const)(
  'the fault %s of the rack is found out',
  async (fault) => {
    const { bmc } = await startRackBmc(fault);
    await expect(bmc.setBootDevice({ device: 'pxe', persistent: false })).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: { reason: 'not-stored' },
    });
  },
);

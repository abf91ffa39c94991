import { execFileSync } from 'node:child_process';
import { copyFileSync, createReadStream, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOs } from '#rack/os/build.ts';
import { rejoinTemplate } from '#rack/os/userData.ts';
import { type BootedMachine, bootDisk } from './bootDisk.ts';
import { type RejoinServer, startRejoinServer, testCa } from './rejoinServer.ts';

/**
 * Boots the built image in QEMU, about a minute in all, so only on demand:
 * `RAILHEAD_QEMU=1 vitest run test/rack/os/boot.test.ts`.
 */
const osLine = /^RAILHEAD-OS hostname=(\S+) image=(\S+) address=(\S+) uptime=([\d.]+)\r?$/m;
const token = 'token-that-must-not-stay-on-the-disk';
let directory = '';
let disk = '';
let image = '';

describe.skipIf(!process.env.RAILHEAD_QEMU)('the OS image in QEMU', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'railhead-os-boot-'));
    disk = path.join(directory, 'disk.raw');
    image = (await buildOs({ ref: 'demo@1', cacheDirectory: '.cache' })).file;
    copyFileSync(image, disk);
  }, 300_000);
  afterAll(() => rmSync(directory, { recursive: true }));

  test('on UEFI the first boot takes its name and its user data, and the centre hears of it over verified TLS', async () => {
    const ca = testCa(directory, 'centre');
    const centre = await startRejoinServer(testCa(directory, 'impostor'));
    seed(disk, centre, ca.caPem);
    const machine = bootDisk({ disk, firmware: 'uefi' });
    try {
      await expectLine(machine, 'node-1');
      await centre.certificateShown;
      expect(centre.bodies).toEqual([]);
      centre.present(ca);
      await centre.accepted;
      expect(centre.bodies.at(-1)).toEqual({ path: '/v1/rejoin', body: { token, nodeId: 'node_1' } });
      await expect.poll(() => holds(disk, token), { timeout: 20_000 }).toBe(false);
    } finally {
      await machine.stop();
      await centre.close();
    }
  });

  test('on BIOS the same disk boots with the name it was given, and runs no user data again', async () => {
    const machine = bootDisk({ disk, firmware: 'bios' });
    try {
      await expectLine(machine, 'node-1');
    } finally {
      await machine.stop();
    }
  });

  test.each([
    ['uefi', 'nvme', 'e1000e', 256],
    ['bios', 'ahci', 'e1000', 256],
    ['uefi', 'virtio-scsi', 'virtio-net-pci', 512],
  ] as const)('a larger disk boots on %s from %s with %s', async (firmware, attach, card, memoryMiB) => {
    const larger = path.join(directory, 'larger.raw');
    copyFileSync(image, larger);
    truncateSync(larger, 4 * 1024 ** 3);
    execFileSync('sgdisk', ['-e', larger]);
    const machine = bootDisk({ disk: larger, firmware, attach, card, memoryMiB });
    try {
      await expectLine(machine, 'localhost');
    } finally {
      await machine.stop();
    }
  });
});

async function expectLine(machine: BootedMachine, hostname: string): Promise<void> {
  const [, name, ref, address] = await machine.line(osLine, 60_000);
  expect({ name, ref, address }).toEqual({ name: hostname, ref: 'demo@1', address: '10.0.2.15' });
  process.stderr.write(`${expect.getState().currentTestName}: ${machine.seconds().toFixed(1)} s\n`);
}

/** What the ramdisk leaves in the ESP of the disk that it wrote. */
function seed(file: string, centre: RejoinServer, caPem: string): void {
  const values: Record<string, string> = {
    hostname: 'node-1',
    nodeId: 'node_1',
    joinToken: token,
    controlPlaneUrl: `https://10.0.2.2:${centre.port}`,
  };
  const userData = rejoinTemplate(caPem).replace(/\{\{(\w+)\}\}/g, (_, name) => values[name] ?? '');
  execFileSync('mmd', ['-i', `${file}@@1M`, '::/railhead']);
  for (const [name, content] of [
    ['meta-data', 'instance-id: node_1\nlocal-hostname: node-1\n'],
    ['user-data', userData],
  ] as const) {
    const source = path.join(directory, name);
    writeFileSync(source, content);
    execFileSync('mcopy', ['-i', `${file}@@1M`, source, `::/railhead/${name}`]);
  }
}

async function holds(file: string, text: string): Promise<boolean> {
  let tail = '';
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024, encoding: 'latin1' })) {
    if ((tail + chunk).includes(text)) return true;
    tail = (chunk as string).slice(-text.length);
  }
  return false;
}

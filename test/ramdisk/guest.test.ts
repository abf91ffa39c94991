import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { copyFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildExecutable } from '#agent/executable/build.ts';
import { buildOs, type OsImage } from '#rack/os/build.ts';
import { buildRamdisk } from '#ramdisk/image/build.ts';
import { publicJwk } from '#ramdisk/join/keys.ts';
import { fakeSite } from './fakes/site.ts';

/**
 * The agent on a machine of its own: UEFI, a kernel that reads GPT and FAT, EFI variables that are kept. QEMU's own user network leads
 * to the site. Takes one to two minutes, so only when it is asked for: `RAILHEAD_QEMU=1 vitest run test/ramdisk/guest.test.ts`
 */
const cacheDirectory = path.resolve('.cache');
const hostInGuest = '10.0.2.2';
const mac = '52:54:00:12:34:56';
const directory = await mkdtemp(path.join(tmpdir(), 'railhead-guest-'));
const machines: ChildProcess[] = [];
afterAll(async () => {
  for (const machine of machines) machine.kill('SIGKILL');
  await rm(directory, { recursive: true });
});

const inDirectory = (name: string) => path.join(directory, name);

/** Starts the machine; `shows` resolves when its console has shown the text. Ends by itself when the machine restarts. */
function powerOn(extra: string[] = []) {
  const firmware = '/usr/share/OVMF/OVMF_CODE_4M.fd';
  const machine = spawn(
    'qemu-system-x86_64',
    [
      ['-nodefaults', '-display', 'none', '-serial', 'stdio', '-no-reboot'],
      ['-machine', 'q35,accel=tcg', '-cpu', 'max', '-smp', '2', '-m', '768'],
      ['-drive', `if=pflash,format=raw,unit=0,readonly=on,file=${firmware}`],
      ['-drive', `if=pflash,format=raw,unit=1,file=${inDirectory('variables')}`],
      ['-drive', `if=none,id=disk,format=raw,file=${inDirectory('disk')}`],
      ['-device', 'virtio-blk-pci,drive=disk,serial=disk-1'],
      ['-netdev', 'user,id=net', '-device', `virtio-net-pci,netdev=net,mac=${mac},romfile=`],
      ['-device', 'virtio-rng-pci'],
      extra,
    ].flat(),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  machines.push(machine);
  // Read from the start: a console that nobody reads stops the machine once the pipe is full.
  const lines = new EventTarget();
  let console = '';
  machine.stdout?.on('data', (part) => {
    console += part;
    lines.dispatchEvent(new Event('more'));
  });
  const shows = async (text: string) => {
    while (!console.includes(text)) await once(lines, 'more');
  };
  const off = new Promise<void>((resolve) => machine.once('exit', () => resolve()));
  return { shows, off };
}

async function serve(os: OsImage): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': os.sizeBytes, etag: `"${os.sha256}"` });
    createReadStream(os.artifact).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://${hostInGuest}:${(server.address() as AddressInfo).port}/images`;
}

test.runIf(process.env.RAILHEAD_QEMU === '1')(
  'a UEFI machine with an unused disk is written and starts the OS by its own boot entry, with its user data',
  async () => {
    const os = await buildOs({ ref: 'guest@1', cacheDirectory });
    const site = await fakeSite(undefined, await serve(os));
    const trust = { ca: site.ca.pem, signingKeys: [publicJwk(site.signingKey)], trustNumber: 1 };
    const ramdisk = await buildRamdisk({
      bcd: await buildExecutable({ cacheDirectory }),
      cacheDirectory,
      trust,
    });
    await copyFile('/usr/share/OVMF/OVMF_VARS_4M.fd', inDirectory('variables'));
    await writeFile(inDirectory('disk'), '');
    await truncate(inDirectory('disk'), 5 * 1024 ** 3);

    const url = `https://${hostInGuest}:${new URL(site.url).port}`;
    const words = `console=ttyS0 railhead.site=${url} railhead.token=tok railhead.mac=${mac}`;
    const installing = powerOn(['-kernel', ramdisk.file, '-append', words]);
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const { sha256: digest, sizeBytes, compression } = os;
    const userData = { kind: 'cloud-init', document: '#!/bin/sh\necho USER-DATA-RAN >/dev/console\n' };
    const image = { ref: 'guest@1', digest, sizeBytes, format: 'raw', compression, sources: [], userData };
    const written = await site.resultOf(
      await site.order({ action: 'deploy.image', input: image, expiresAt }),
    );
    expect(written).toMatchObject({
      outcome: 'succeeded',
      result: {
        digest,
        device: '/dev/vda',
        artifactBytes: sizeBytes,
        bootEntry: expect.stringMatching(/^Boot\d{4}$/),
      },
    });
    const restarted = await site.resultOf(await site.order({ action: 'boot.kexec', expiresAt }));
    expect(restarted).toMatchObject({ outcome: 'succeeded', result: { method: 'restart' } });
    await installing.off;

    const running = powerOn();
    await Promise.all([
      running.shows('"railhead" from HD(1,GPT'),
      running.shows('USER-DATA-RAN'),
      running.shows('RAILHEAD-OS hostname=localhost image=guest@1'),
    ]);
    await site.close();
  },
  600_000,
);

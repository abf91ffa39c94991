import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { sectionData } from '#base/pe.ts';
import { ramdiskImage } from '#cli/ramdisk.ts';
import type { Loader } from '#contract/loader.ts';
import { tenantId } from '#rack/line/catalog.ts';
import { enrolled } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { makeKeys, openKeys } from '#secureboot/keys.ts';
import { makeMedium } from '#secureboot/medium.ts';
import { type Signer, signProgram } from '#secureboot/sign.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { osRef, withLine } from '../withLine.ts';
import { checkSignedIpxe } from './ownKeyIpxe.ts';
import { bootRamdisk, checkKernel, nodeOf, startBoot } from './secureBoot.ts';

const debianCache = path.resolve(import.meta.dirname, '../../../.cache/debian');
const refusal = /failed to load .*(Access Denied|Security Violation)/;

export const secureBootOwnKey: EndToEndCase = {
  name: 'secure-boot-own-key',
  about:
    "an operator's key is enrolled by virtual media, and the firmware starts what it has signed and nothing else",
  run: (report, options) => {
    const machines = [
      { name: 'm1', firmware: 'uefi-own-key', memoryMiB: 1024, disks: [{ size: '1G' }] },
    ] as const;
    return withLine(report, options, { machines }, async (line) => {
      await prepare(line);
      const signed = await offerSigned(line, options.signal);
      report.phase('enrol the key');
      await enrol(report, line, options.signal);
      report.phase('ramdisk');
      await bootRamdisk(report, line, 'http', options.signal);
      const { ramdisk } = await nodeOf(line);
      report.check('the join is trusted as own-key', ramdisk?.trust === 'own-key', ramdisk);
      await checkKernel(report, line);
      report.phase('signed iPXE');
      await checkSignedIpxe(report, line, await signerOf(line), options.signal);
      await setLoader(line, 'uki');
      report.phase('a changed image');
      await checkChanged(report, line, signed, options.signal);
    });
  },
};

/** The medium lies in the machine's virtual drive, and the machine is to be handed the image itself. */
async function prepare(line: Line): Promise<void> {
  await enrolled(line, line.nodes.get('m1'));
  await setLoader(line, 'uki');
  const keys = await makeKeys(keyDirectory(line), 'Rack');
  const { iso } = await makeMedium({ keys, cacheDirectory: debianCache });
  const { file } = await written(line, 'keys.iso', iso);
  await virtualMedia(line, 'InsertMedia', { Image: pathToFileURL(file).href });
}

/** Returns the signed image. */
async function offerSigned(line: Line, signal: AbortSignal): Promise<Buffer> {
  const { file } = await ramdiskImage({
    trust: line.books.trust,
    commandLine: 'quiet console=ttyS0,115200',
  });
  signal.throwIfAborted();
  const signed = await signProgram(await readFile(file), await signerOf(line));
  await offerToPool(line, 'ramdisk-signed@1', signed);
  return signed;
}

async function enrol(report: Report, line: Line, signal: AbortSignal): Promise<void> {
  const document = {
    ...{ id: 'enrol-keys', version: 1, target: 'metal', role: 'host', image: { ref: osRef } },
    steps: [
      { use: 'management.setBootDevice', on: 'site', with: { device: 'cd' } },
      { use: 'power.setPower', on: 'site', with: { action: 'cycle' } },
      // Nothing joins: the machine restarts by itself once the keys are in.
      { use: 'wait.agentJoined', with: { role: 'ramdisk' }, timeout: '5m' },
    ],
  };
  await line.api.call('profiles', 'create', { tenantId, document });
  const deploy = { tenantId, nodeId: line.nodes.get('m1'), profileId: document.id };
  const { workflowId } = await line.api.call<{ workflowId: string }>('metal', 'deploy', deploy);
  const { end } = await consoleShows(line, 'm1', /Enrolling secure boot keys/i, 90_000, signal);
  report.check('the keys are enrolled', true);
  // The machine has no boot entry, so its firmware goes on to PXE, and gets iPXE, which nobody has signed.
  await consoleShows(line, 'm1', refusal, 90_000, signal, end);
  report.check('firmware refuses what is not signed', true);
  await line.api.call('workflows', 'cancel', { tenantId, workflowId });
  await virtualMedia(line, 'EjectMedia', {});
}

/** One bit of the initrd is another: whoever relays the image could have turned it. */
async function checkChanged(report: Report, line: Line, signed: Buffer, signal: AbortSignal): Promise<void> {
  const changed = Buffer.from(signed);
  const initrd = sectionData(changed, '.initrd')!;
  initrd[initrd.length >> 1] = initrd[initrd.length >> 1]! ^ 1;
  await offerToPool(line, 'ramdisk-changed@1', changed);
  const { length } = await readFile(line.rack.machine('m1').consoleLog);
  const workflowId = await startBoot(line, 'http');
  await consoleShows(line, 'm1', refusal, 120_000, signal, length);
  report.check('firmware refuses an image of which one bit was changed', true);
  await line.api.call('workflows', 'cancel', { tenantId, workflowId });
}

/** As an operator does it by the BMC: the site hands out the URL of an image's source, which this BMC does not trust. */
async function virtualMedia(line: Line, action: string, input: object): Promise<void> {
  const { address, username, password } = line.rack.machine('m1').bmc;
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const drive = `${address}/redfish/v1/Systems/1/VirtualMedia/Cd/Actions/VirtualMedia.${action}`;
  const { statusCode, body } = await request(drive, {
    ...{ method: 'POST', dispatcher, body: JSON.stringify(input) },
    headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/json' },
  });
  await body.dump();
  await dispatcher.close();
  if (statusCode >= 300) throw new Error(`the BMC answered ${statusCode} to ${action}`);
}

function keyDirectory(line: Line): string {
  return path.join(line.rack.machine('m1').directory, 'keys');
}

async function signerOf(line: Line): Promise<Signer> {
  const keys = await openKeys(keyDirectory(line));
  const [keyFile, certificateFile] = [keys.key('db'), keys.certificate('db')];
  return { keyFile, certificateFile, cacheDirectory: debianCache };
}

async function setLoader(line: Line, loader: Loader): Promise<void> {
  await line.api.call('nodes', 'setLoader', { tenantId, nodeId: line.nodes.get('m1'), loader });
}

async function offerToPool(line: Line, ref: string, image: Buffer): Promise<void> {
  const { file, sha256, sizeBytes } = await written(line, `${ref}.efi`, image);
  await line.offerRamdisk(ref, { file, digest: sha256, sizeBytes });
  const { poolId } = await line.api.call<{ poolId: string }>('nodes', 'get', {
    tenantId,
    nodeId: line.nodes.get('m1'),
  });
  await line.api.call('pools', 'update', { tenantId, poolId, policy: { ramdisk: { x86_64: ref } } });
}

async function written(line: Line, name: string, content: Buffer) {
  const file = path.join(line.rack.machine('m1').directory, name);
  await writeFile(file, content);
  return { file, sha256: createHash('sha256').update(content).digest('hex'), sizeBytes: content.length };
}

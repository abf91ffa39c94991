import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify } from 'smol-toml';
import { tenantId } from '#rack/line/catalog.ts';
import { followWorkflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { type Signer, signProgram } from '#secureboot/sign.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { nodeOf, startBoot } from './secureBoot.ts';

/** The site hands out its iPXE signed with the operator's key; the pool's ramdisk is signed with it too. */
export async function checkSignedIpxe(
  report: Report,
  line: Line,
  signer: Signer,
  signal: AbortSignal,
): Promise<void> {
  await line.site.stop();
  await useSignedIpxe(line, signer);
  await line.site.start();
  await line.api.call('nodes', 'setLoader', { tenantId, nodeId: line.nodes.get('m1'), loader: 'ipxe' });
  const { length } = await readFile(line.rack.machine('m1').consoleLog);
  const workflowId = await startBoot(line, 'http');
  await consoleShows(line, 'm1', /the firmware verifies the whole image/, 90_000, signal, length);
  report.check('firmware starts the signed iPXE, which loads the whole image', true);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(120_000)]);
  const { state, error } = await followWorkflow(line, workflowId, { signal: patience });
  report.check('the ramdisk joined from iPXE', state === 'succeeded', error);
  const said = (await readFile(line.rack.machine('m1').consoleLog, 'latin1')).slice(length);
  report.check('its kernel says that Secure Boot is on', /secureboot: Secure boot enabled/i.test(said));
  const { ramdisk } = await nodeOf(line);
  report.check('that join is trusted as own-key too', ramdisk?.trust === 'own-key', ramdisk);
}

/** As `railhead secure-boot sign` does it, in a copy. */
async function useSignedIpxe({ site, rack }: Line, signer: Signer): Promise<void> {
  const file = path.join(site.directory, 'config.toml');
  const config = parse(await readFile(file, 'utf8')) as { boot: { ipxeDirectory: string } };
  const directory = path.join(rack.machine('m1').directory, 'ipxe');
  await mkdir(directory);
  for (const name of await readdir(config.boot.ipxeDirectory)) {
    const content = await readFile(path.join(config.boot.ipxeDirectory, name));
    const isProgram = name.endsWith('.efi');
    await writeFile(path.join(directory, name), isProgram ? await signProgram(content, signer) : content);
  }
  config.boot.ipxeDirectory = directory;
  await writeFile(file, stringify(config));
}

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { connect } from 'node:tls';
import { openRingSealer } from '#base/sealing.ts';
import type { KeyUse } from '#central/join/keyRing.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import type { Pins } from '#contract/join.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { type Finished, runProgram } from '../loopback/processes.ts';
import { eventually, siteRecord, siteStatus, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

export const rotateKeys: EndToEndCase = {
  name: 'rotate-keys',
  about:
    'the drill of each of the centre’s keys under a running centre and sites: nobody is stranded, also who was away',
  run: (report) =>
    withLab(report, async (lab) => {
      report.phase('join');
      await lab.startCentre();
      const [site, away] = [await lab.newSite('north'), await lab.newSite('south')];
      for (const each of [site, away]) await lab.join(each);
      await lab.startSite(site);
      await eventually(async () => (await siteRecord(lab, site))?.seenAt);
      for (const drill of [signing, authority, joinEncryption]) await drill(report, lab, { site, away });
      await atRest(report, lab);
      report.check('the site was never refused', (await siteStatus(site)).identity.revoked === undefined);
    }),
};

interface Sites {
  site: LabSite;
  /** Not running when a key is rotated. */
  away: LabSite;
}

async function signing(report: Report, lab: Lab, sites: Sites): Promise<void> {
  report.phase('signing key');
  const { site, away } = sites;
  const pins = await lab.pins();
  await rotate(report, lab, 'signing');
  report.check('signing: the site knows the new key at once', await knows(lab, site, 2));
  await joinsByOldPin(report, lab, 'joinSigningPin', pins);
  const refused = await retire(lab, 'signing');
  const named = refused.output.includes('in-use') && refused.output.includes(away.siteId);
  report.check('signing: it is not retired while a site does not know the new one', named, refused.output);
  const back = await lab.startSite(away);
  report.check('signing: that site learns it when it is back', await knows(lab, away, 2));
  await retired(report, lab, 'signing');
  await refusesOldPin(report, lab, 'joinSigningPin', pins);
  report.check('signing: sites let go of the old one', await knows(lab, site, 1));
  await back.stop();
}

async function authority(report: Report, lab: Lab, { site, away }: Sites): Promise<void> {
  report.phase('CA');
  const pins = await lab.pins();
  const [oldCa] = await authorities(lab);
  await rotate(report, lab, 'authority');
  const [newCa] = await authorities(lab);
  const renewed = await eventually(async () => {
    const { renewals } = (await siteStatus(site)).identity;
    return renewals === 1 ? renewals : undefined;
  }, 30_000);
  report.check('CA: the site gets a certificate by the new one', renewed === 1);
  report.check('CA: a ramdisk that knows the old one believes the site', await believes(site, oldCa));
  report.check('CA: a ramdisk that knows the new one believes the site', await believes(site, newCa));
  await joinsByOldPin(report, lab, 'servingCaPin', pins);
  const refused = await retire(lab, 'authority');
  report.check(
    'CA: it is not retired while a site has a certificate by it',
    refused.status !== 0,
    refused.output,
  );
  const back = await lab.startSite(away);
  await retired(report, lab, 'authority');
  await refusesOldPin(report, lab, 'servingCaPin', pins);
  const before = (await siteRecord(lab, site))?.seenAt;
  const heard = await eventually(async () => {
    const seenAt = (await siteRecord(lab, site))?.seenAt;
    return seenAt !== before ? seenAt : undefined;
  }, 40_000);
  report.check('CA: the site reaches the centre after it', heard !== undefined);
  await back.stop();
}

async function joinEncryption(report: Report, lab: Lab): Promise<void> {
  report.phase('join encryption key');
  const pins = await lab.pins();
  const early = await lab.newSite('early');
  await rotate(report, lab, 'join-encryption');
  const refused = await retire(lab, 'join-encryption');
  report.check(
    'join encryption: it is not retired while a token is out',
    refused.output.includes('in-use'),
    refused.output,
  );
  const joined = await lab.join(early, { pins });
  report.check(
    'join encryption: a token that was handed out before still opens',
    joined.status === 0,
    joined.output,
  );
  await forget(lab, early);
  await retired(report, lab, 'join-encryption');
  await refusesOldPin(report, lab, 'joinEncryptionPin', pins);
}

async function atRest(report: Report, lab: Lab): Promise<void> {
  report.phase('key at rest');
  const secret = { tenantId: 'root', ref: 'secret://bmc/one', text: 'root:calvin' };
  await lab.call('secrets.set', secret);
  await rotate(report, lab, 'at-rest');
  const second = await lab.call('secrets.set', { ...secret, ref: 'secret://bmc/two' });
  report.check('at rest: the centre goes on', second.data !== undefined, second);
  await retired(report, lab, 'at-rest');
  const texts = await lab.host(async ({ store, keys }) => {
    const sealer = openRingSealer(() => [keys.atRest]);
    const rows = await store.selectFrom('secrets').select('sealed').execute();
    return rows.map(({ sealed }) => sealer.open(sealed));
  });
  report.check(
    'at rest: everything opens by the new key alone',
    texts.length === 2 && texts.every((text) => text === secret.text),
  );
  const files = await readdir(path.join(lab.central, 'keys'));
  report.check('the old keys are gone', files.filter((file) => /pem|key$/.test(file)).length === 4, files);
}

async function rotate(report: Report, lab: Lab, use: KeyUse): Promise<void> {
  const { status, output } = await runProgram('railhead', [
    'central',
    'keys',
    'rotate',
    use,
    '--directory',
    lab.central,
  ]);
  report.check(`${use} is rotated`, status === 0, output);
}

function retire(lab: Lab, use: KeyUse): Promise<Finished> {
  return runProgram('railhead', ['central', 'keys', 'retire', use, '--directory', lab.central]);
}

/** Once nobody needs the older key any more. */
async function retired(report: Report, lab: Lab, use: KeyUse): Promise<void> {
  let last = '';
  const done = await eventually(async () => {
    const { status, output } = await retire(lab, use);
    last = output;
    return status === 0 ? true : undefined;
  }, 45_000);
  report.check(`${use} is retired`, done === true, last);
}

/** Whether the site knows so many signing keys, of the newest list. */
async function knows(lab: Lab, site: LabSite, count: number): Promise<boolean> {
  const known = await eventually(async () => {
    const number = await lab.host(async ({ keys }) => keys.number);
    const { signingKeys, trustNumber } = await lab.identity(site);
    return trustNumber === number && signingKeys.length === count ? true : undefined;
  });
  return known === true;
}

async function joinsByOldPin(report: Report, lab: Lab, pin: keyof Pins, pins: Pins): Promise<void> {
  const site = await lab.newSite(`old-${pin.toLowerCase()}`);
  const { status, output } = await lab.join(site, { pins });
  report.check(`a site joins by the older ${pin}`, status === 0, output);
  await forget(lab, site);
}

/** The running centre learns of a retirement within a second: a site that came before it did was let in, and another one asks. */
async function refusesOldPin(report: Report, lab: Lab, pin: keyof Pins, pins: Pins): Promise<void> {
  let tries = 0;
  const refused = await eventually(async () => {
    const site = await lab.newSite(`after-${pin.toLowerCase()}-${++tries}`);
    const { output, status } = await lab.join(site, { pins });
    if (status === 0) await forget(lab, site);
    return output.includes('"reason":"pin"') && output.includes(pin) ? site : undefined;
  });
  report.check(`the older ${pin} is refused after it`, refused !== undefined);
  if (refused === undefined) return;
  const { status, output } = await lab.join(refused);
  report.check(`a site joins by the newer ${pin}`, status === 0, output);
  await forget(lab, refused);
}

/** It never ran: as long as it could come back, it would hold up the next retirement. */
async function forget(lab: Lab, { siteId }: LabSite): Promise<void> {
  await lab.host(({ store }) => revokeNamed(store, siteId, { why: 'test', by: 'host' }));
}

function authorities(lab: Lab): Promise<string[]> {
  return lab.host(async ({ keys }) => [keys.authority.certificate]);
}

/** Whether a TLS client with this CA alone takes what the site's machine listener shows, as a ramdisk does. */
async function believes({ machineUrl }: LabSite, ca: string | undefined): Promise<boolean> {
  const { hostname, port } = new URL(machineUrl);
  const options = { host: hostname, port: Number(port), ca, checkServerIdentity: () => undefined };
  const socket = connect({ ...options, rejectUnauthorized: false });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  socket.destroy();
  return socket.authorized;
}

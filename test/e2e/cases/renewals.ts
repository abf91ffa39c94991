import type { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connect } from 'node:tls';
import type { Identity } from '#agent/join/identity.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { ask, eventually, siteRecord, siteStatus, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const dayMs = 24 * 3_600_000;

export const renewLate: EndToEndCase = {
  name: 'renew-late',
  about:
    'a site that was dark for five weeks renews its expired certificate by its key; one that was dark for a year does not',
  run: (report) =>
    withLab(report, async (lab) => {
      const site = await lab.newSite('north');
      const before = await joinAndStop(report, lab, site);

      report.phase('five weeks later');
      const centre = await lab.startCentre({ clock: '+35d' });
      const late = await lab.startSite(site, { clock: '+35d' });
      const then = Date.now() + 35 * dayMs;
      report.check('the certificate had ended', Date.parse(before) < then, before);
      const renewed = await eventually(async () => {
        const { identity } = await siteStatus(site);
        return identity.renewals === 1 ? identity : undefined;
      });
      report.check('the site renewed it', renewed !== undefined, late.lines.slice(-5));
      const until = Date.parse(renewed?.expiresAt ?? '');
      report.check('for thirty days from then', Math.abs(until - then - 30 * dayMs) < dayMs, renewed);
      const seen = await eventually(async () => {
        const record = await siteRecord(lab, site);
        return Date.parse(record?.seenAt ?? '') > then - dayMs ? record : undefined;
      });
      report.check('the centre hears the site again', seen?.agent?.renewals === 1, seen);
      report.check('nothing is an alarm', seen?.alarms.length === 0, seen?.alarms);
      const shown = await shownCertificate(site);
      report.check(
        'the machine listener shows the new one',
        Math.abs(shown.validToDate.getTime() - until) < 1_000,
        shown.validTo,
      );
      const kept = await lab.identity(site);
      report.check('it is on disk', kept.expiresAt === renewed?.expiresAt && kept.renewal === undefined);
      await Promise.all([late.stop(), centre.stop()]);

      report.phase('a year later');
      await lab.startCentre({ clock: '+365d' });
      const gone = await lab.startSite(site, { clock: '+365d' });
      const refusal = await gone.line('the certificate is not renewed');
      report.check('it is refused by name', refusal.includes('"reason":"expired"'), refusal);
    }),
};

export const clonedSite: EndToEndCase = {
  name: 'cloned-site',
  about:
    'a copy of a site’s disk is noticed when both renew: both are refused and there is an alarm; a crash is none',
  run: (report) =>
    withLab(report, async (lab) => {
      const site = await lab.newSite('north');
      await joinAndStop(report, lab, site);
      const clock = '+16d';
      const centre = await lab.startCentre({ clock });

      report.phase('killed while it renews');
      const before = await lab.identity(site);
      const killed = await lab.startSite(site, { clock });
      await centre.line('"certificate renewed"');
      await killed.kill();
      await forgetAnswer(lab, site, before);
      const clone = await lab.cloneOf(site);
      const original = await lab.startSite(site, { clock });
      const back = await eventually(async () => {
        const { identity } = await siteStatus(site);
        return identity.renewals === 1 ? identity : undefined;
      });
      report.check(
        'a renewal whose answer was lost is the same one',
        back !== undefined && !back.revoked,
        back,
      );
      report.check('and no alarm', (await siteRecord(lab, site))?.alarms.length === 0);
      await Promise.all([original.stop(), centre.stop()]);

      report.phase('the copy');
      const later = '+32d';
      const centreLater = await lab.startCentre({ clock: later });
      await lab.startSite(site, { clock: later });
      await eventually(async () => ((await siteStatus(site)).identity.renewals === 2 ? true : undefined));
      await lab.startSite(clone, { clock: later });
      await checkCopy(report, lab, { site, clone });
      const logged = await centreLater.line('was asked for twice');
      report.check('the centre logs an error', logged.includes('"level":50'), logged);
    }),
};

/** The site has the answer of its last renewal no more, nor the certificate, as if it had been killed before it could write it down. */
async function forgetAnswer(lab: Lab, site: LabSite, before: Identity): Promise<void> {
  const { issued } = await lab.host(async ({ store }) => ({
    issued: await store.selectFrom('agents').select('renewal').executeTakeFirstOrThrow(),
  }));
  const unanswered = { ...before, renewal: { counter: 1, nonce: issued.renewal ?? '' } };
  await writeFile(path.join(site.stateDirectory, 'identity.json'), JSON.stringify(unanswered));
}

async function checkCopy(
  report: Report,
  lab: Lab,
  { site, clone }: { site: LabSite; clone: LabSite },
): Promise<void> {
  const copied = await eventually(async () => (await siteStatus(clone)).identity.revoked);
  report.check('the copy is refused', copied?.message.includes('copied') === true, copied);
  const original = await eventually(async () => (await siteStatus(site)).identity.revoked);
  report.check('and the original, which may be the thief', original !== undefined, original);
  const record = await siteRecord(lab, site);
  report.check(
    'the record says that it is revoked, and why',
    record?.agent?.revokedWhy?.includes('copied') === true,
    record,
  );
  report.check('there is an alarm', record?.alarms[0]?.reason === 'copied', record?.alarms);
  const health = await ask(`${site.adminUrl}/healthz`);
  report.check(
    'the site says so itself',
    health.status === 503 && health.body.error?.details?.reason === 'revoked',
    health,
  );
}

/** Joins, runs the site until the centre has heard it, and stops both. Returns when its certificate ends. */
async function joinAndStop(report: Report, lab: Lab, site: LabSite): Promise<string> {
  report.phase('join');
  const centre = await lab.startCentre();
  const joined = await lab.join(site);
  report.check('the site joins', joined.status === 0, joined.output);
  const running = await lab.startSite(site);
  await eventually(async () => (await siteRecord(lab, site))?.seenAt);
  const { identity } = await siteStatus(site);
  report.check('a fresh certificate is not renewed', identity.renewals === 0, identity);
  await Promise.all([running.stop(), centre.stop()]);
  return identity.expiresAt;
}

/** What the site shows on its machine listener. */
async function shownCertificate({ machineUrl }: LabSite): Promise<X509Certificate> {
  const { hostname, port } = new URL(machineUrl);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  if (certificate === undefined) throw new Error('the site shows no certificate');
  return certificate;
}

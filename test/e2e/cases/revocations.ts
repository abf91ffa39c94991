import { X509Certificate } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Identity } from '#agent/join/identity.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { runProgram } from '../loopback/processes.ts';
import { ask, emptyPoll, eventually, siteRecord, siteStatus, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

export const revokedSite: EndToEndCase = {
  name: 'revoked-site',
  about:
    'a revoked site is cut off at once, and refused by another site that cannot reach the centre; a new join lets it in',
  run: (report) =>
    withLab(report, async (lab) => {
      const [site, other] = [await lab.newSite('north'), await lab.newSite('south')];
      report.phase('join');
      const centre = await lab.startCentre();
      for (const each of [site, other]) await lab.join(each);
      const running = await lab.startSite(site);
      const witness = await lab.startSite(other);
      for (const each of [site, other]) await eventually(async () => (await siteRecord(lab, each))?.seenAt);
      const stolen = await lab.identity(site);

      report.phase('revoke');
      const command = ['central', 'revoke', '--directory', lab.central, site.siteId, '--why', 'stolen'];
      const revoke = await runProgram('railhead', command);
      report.check('the command succeeds', revoke.status === 0, revoke.output);
      const since = performance.now();
      await running.line('this site was revoked', 5_000);
      report.note('from the command to the site', (performance.now() - since) / 1000);
      await checkCutOff(report, lab, site, stolen);
      await checkStandsDown(report, site);
      const again = await runProgram('railhead', command);
      report.check('a second revocation is refused', again.output.includes('INVALID_STATE'), again.output);

      report.phase('without the centre');
      await eventually(async () => ((await lists(other, stolen)) ? true : undefined));
      report.check('the other site has the list, with the serial', await lists(other, stolen));
      await centre.stop();
      await witness.stop();
      await lab.startSite(other);
      await checkRefusedOffline(report, other, { stolen, honest: await lab.identity(other) });

      report.phase('join again');
      await lab.startCentre();
      await lab.newToken(site);
      const rejoined = await lab.join(site);
      report.check('a new token lets it in again', rejoined.status === 0, rejoined.output);
      await running.stop();
      await lab.startSite(site);
      const health = await eventually(async () => {
        const answer = await ask(`${site.adminUrl}/healthz`);
        return answer.status === 200 ? answer : undefined;
      });
      report.check('and it works', health !== undefined);
      const standing = await eventually(async () => {
        const record = await siteRecord(lab, site);
        return record?.agent?.revokedAt === undefined ? record?.agent : undefined;
      });
      report.check('the record says so', standing !== undefined, standing);
      const old = await ask(`${lab.agentsUrl}/v1/agent/poll`, { post: emptyPoll, shown: stolen });
      report.check('the old certificate stays revoked', old.status === 401, old);
      await rm(site.tokenFile, { force: true });
    }),
};

async function checkCutOff(report: Report, lab: Lab, site: LabSite, stolen: Identity): Promise<void> {
  const poll = await ask(`${lab.agentsUrl}/v1/agent/poll`, { post: emptyPoll, shown: stolen });
  const { error } = poll.body;
  report.check(
    'its certificate opens nothing',
    poll.status === 401 && error?.details?.reason === 'revoked',
    poll,
  );
  const record = await siteRecord(lab, site);
  report.check('the record says that it is revoked, and why', record?.agent?.revokedWhy === 'stolen', record);
}

/** Machines go on as they are: they get their addresses and boot their disks. Nothing is done in the centre's name. */
async function checkStandsDown(report: Report, site: LabSite): Promise<void> {
  const health = await ask(`${site.adminUrl}/healthz`);
  report.check('its health says so', health.body.error?.details?.reason === 'revoked', health);
  const { identity } = await siteStatus(site);
  report.check('its status says so', identity.revoked !== undefined, identity);
  const machine = await ask(`${site.machineUrl}/v1/join`, { post: {} });
  report.check(
    'it lets no machine in',
    machine.status === 403 && machine.body.error?.details?.reason === 'revoked',
    machine,
  );
  const query = 'mac=02:00:00:00:00:01&uuid=&arch=x86_64&platform=efi';
  const script = await (await fetch(`${site.bootUrl}/ipxe?${query}`)).text();
  report.check('machines are still told to boot their disk', script.startsWith('#!ipxe'), script);
}

async function checkRefusedOffline(
  report: Report,
  other: LabSite,
  { stolen, honest }: { stolen: Identity; honest: Identity },
): Promise<void> {
  const url = `${other.machineUrl}/v1/machine/poll`;
  const thief = await ask(url, { post: {}, shown: stolen });
  report.check(
    'the revoked certificate is refused offline',
    thief.status === 403 && thief.body.error?.details?.reason === 'revoked',
    thief,
  );
  const peer = await ask(url, { post: {}, shown: honest });
  report.check('another one is not', peer.body.error?.details?.reason === 'no-session', peer);
}

async function lists({ stateDirectory }: LabSite, { certificate }: Identity): Promise<boolean> {
  const text = await readFile(path.join(stateDirectory, 'revocations.json'), 'utf8').catch(() => '');
  const serial = new X509Certificate(certificate).serialNumber.toLowerCase().replace(/^0+/, '');
  return text.includes(serial);
}

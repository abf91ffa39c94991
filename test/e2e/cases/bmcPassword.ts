import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Fault } from '#rack/bmc/faultSwitches.ts';
import { accountPath } from '#rack/bmc/paths.ts';
import { loopbackCertificate } from '#rack/bmc/simulatedBmc.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { openPasswordScene, type PasswordScene } from '../loopback/passwordScene.ts';
import { withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const factory = 'calvin-Marker-1';
const shared = 'secret://bmc/factory';

export const bmcPassword: EndToEndCase = {
  name: 'bmc-password',
  about:
    'Railhead changes passwords of BMCs: that of the factory at enrolment, and later ones; whatever is killed, cut or refused meanwhile, the machine can be driven, and no password shows anywhere',
  run: async (report) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-password-'));
    try {
      await withLab(report, async (lab) => {
        const tls = await loopbackCertificate();
        const scene = await openPasswordScene(lab, { directory, tls, factory });
        try {
          await run(report, scene);
        } finally {
          await scene.close();
        }
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function run(report: Report, scene: PasswordScene): Promise<void> {
  report.phase('enrolment');
  await enrol(report, scene);
  report.phase('rotation');
  await rotateAgain(report, scene);
  report.phase('faults of the BMC');
  await checkFaults(report, scene);
  report.phase('kill -9 of the site at each request');
  await killSite(report, scene);
  report.phase('kill -9 of the centre');
  await killCentre(report, scene);
  report.phase('nobody knows');
  await checkUnknown(report, scene);
  report.phase('the centre is restored from a backup');
  await restoreCentre(report, scene);
  report.phase('secrecy');
  const found = await scene.passwordsFound();
  report.check(
    `none of ${scene.passwords().length} passwords is in any file, log, argument or environment`,
    found.length === 0,
    found,
  );
}

async function enrol(report: Report, scene: PasswordScene): Promise<void> {
  const bmcCredentials = { username: scene.bmc.account.username, password: factory };
  await scene.enrol('plain', scene.other, { credentialRef: shared }, { bmcCredentials });
  const refused = await scene.newestWorkflow('plain');
  report.check(
    'a BMC with its factory password says what it wants, and the error what to do',
    refused.error?.details?.reason === 'password-change-required' &&
      refused.error.message.includes('rotate-bmc-password'),
    refused.error,
  );
  const later = await scene.rotate('plain');
  report.check('rotation changes it afterwards', later.state === 'succeeded', later.error);
  report.check('and that machine can be driven', await scene.drives('plain', scene.other));

  await scene.enrol('own', scene.bmc, { credentialRef: shared, changePassword: true });
  const enrolled = await scene.newestWorkflow('own');
  const node = await scene.node('own');
  report.check(
    'enrolment changes the factory password first',
    enrolled.state === 'succeeded',
    enrolled.error,
  );
  report.check(
    'the node is enrolled, with a secret of its own',
    node.state === 'enrolled' && node.bmc.credentialRef === 'secret://bmc/own',
    node,
  );
  report.check(
    'its driver bindings name that too',
    node.drivers.power?.config.credentialRef === 'secret://bmc/own',
  );
  report.check('the BMC has another password', scene.bmc.account.password !== factory);
  report.check('of 16 characters', scene.bmc.account.password.length === 16);
  report.check('the machine can be driven', await scene.drives('own'));
  const refs = await scene.secretRefs();
  report.check(
    'what machines share stays as it was',
    refs.join() === 'secret://bmc/factory,secret://bmc/own,secret://bmc/plain',
    refs,
  );
}

async function rotateAgain(report: Report, scene: PasswordScene): Promise<void> {
  const before = scene.bmc.account.password;
  const again = await scene.rotate('own');
  report.check('it is changed once more', again.state === 'succeeded', again.error);
  report.check('to yet another one', scene.bmc.account.password !== before);
  await checkSettled(report, scene, 'after a rotation');
}

async function checkSettled(report: Report, scene: PasswordScene, when: string): Promise<void> {
  const { bmc, nextBmcSecret } = await scene.node('own');
  const drives = await scene.drives('own');
  const refs = (await scene.secretRefs()).filter((ref) => ref.startsWith('secret://bmc/own'));
  const isSettled = drives && bmc.credentialRef === 'secret://bmc/own' && refs.length === 1 && !nextBmcSecret;
  report.check(`${when} the machine can be driven, by the one secret of its own`, isSettled, {
    drives,
    refs,
    nextBmcSecret,
  });
}

async function checkFaults(report: Report, scene: PasswordScene): Promise<void> {
  const cut: Fault = { method: 'PATCH', path: accountPath, cut: 'after' };
  const busy: Fault = { method: 'PATCH', path: accountPath, status: 500, acted: true };
  for (const [name, fault] of [
    ['an answer that is cut after the BMC has stored', cut],
    ['an error after the BMC has stored', busy],
  ] as const) {
    scene.bmc.faults.set([fault]);
    const ended = await scene.rotate('own');
    report.check(`${name} is found out`, ended.state === 'succeeded', ended.error);
    await checkSettled(report, scene, `after ${name}`);
  }
  scene.bmc.faults.set([{ method: 'PATCH', path: accountPath, cut: 'before' }]);
  await checkFailed(report, scene, 'unreachable', 'a request that never arrives');
  scene.bmc.faults.set(['accept-but-ignore-password']);
  await checkFailed(report, scene, 'not-stored', '204 and nothing stored');
  const kept = await scene.node('own');
  report.check('both passwords are kept', kept.nextBmcSecret !== undefined, kept);
  scene.bmc.faults.set([]);
  const next = await scene.rotate('own');
  report.check('the next rotation settles that', next.state === 'succeeded', next.error);
  await checkSettled(report, scene, 'after that');
  scene.bmc.faults.set(['refuse-password']);
  await checkFailed(report, scene, 'password-refused', 'a password that is refused by policy');
  await checkSettled(report, scene, 'after such a refusal');
}

async function checkFailed(
  report: Report,
  scene: PasswordScene,
  reason: string,
  what: string,
): Promise<void> {
  const before = scene.bmc.account.password;
  const { error } = await scene.rotate('own');
  report.check(`${what} is told`, error?.details?.reason === reason, error);
  report.check(`${what} leaves the password of before`, scene.bmc.account.password === before);
  scene.bmc.faults.set([]);
  report.check(`${what} leaves a machine that can be driven`, await scene.drives('own'));
}

/** The same in every run. */
function kindOf(request: string): string {
  return request.replace(/Sessions\/\d+$/, 'Sessions/*');
}

/** As many rotations as one has requests: each is interrupted at another one, which the BMC carries out all the same. */
async function killSite(report: Report, scene: PasswordScene): Promise<void> {
  const requests = await scene.requestsOf(() => scene.rotate('own'));
  for (let at = 1; at <= requests; at++) {
    const { ended, request } = await scene.rotateKilled('own', at, 'site');
    const { nextBmcSecret } = await scene.node('own');
    const drives = await scene.drives('own');
    const isRight = ended.state === 'succeeded' && drives && nextBmcSecret === undefined;
    report.check(`site killed at ${at}: ${kindOf(request)}`, isRight, { ended, drives, nextBmcSecret });
  }
  await checkSettled(report, scene, 'after all of them');
}

async function killCentre(report: Report, scene: PasswordScene): Promise<void> {
  const requests = await scene.requestsOf(() => scene.rotate('own'));
  for (const at of [1, requests - 3, requests]) {
    const meanwhile = async () =>
      report.check(`without it the site gets in (${at})`, await scene.readsAtSite('own'));
    const { ended, request } = await scene.rotateKilled('own', at, 'centre', meanwhile);
    report.check(`centre killed at ${at}: ${kindOf(request)}`, ended.state === 'succeeded', ended);
    await checkSettled(report, scene, `after the centre was killed at ${at}`);
  }
}

/** The centre knows the password of before only, and nobody but the site the one that the BMC has. */
async function restoreCentre(report: Report, scene: PasswordScene): Promise<void> {
  await scene.beforeRestoring(() => scene.rotate('own'));
  report.check('a centre of before a rotation drives the machine', await scene.drives('own'));
  await scene.restartSite();
  report.check('also after a restart of its site', await scene.drives('own'));
  const rotated = await scene.rotate('own');
  report.check(
    'and the next rotation gives it a password that it knows',
    rotated.state === 'succeeded',
    rotated,
  );
  await checkSettled(report, scene, 'after the centre was restored');
}

/** Stored, but its answer is lost, and then the BMC lets nobody in: both passwords are kept until it does. */
async function checkUnknown(report: Report, scene: PasswordScene): Promise<void> {
  const sessions = '/redfish/v1/SessionService/Sessions';
  scene.afterChange(() => scene.bmc.faults.set([{ method: 'POST', path: sessions, status: 401 }]));
  scene.bmc.faults.set([{ method: 'PATCH', path: accountPath, cut: 'after' }]);
  const { error } = await scene.rotate('own');
  report.check('that nobody knows is told', error?.details?.reason === 'password-unknown', error);
  const { alarms } = await scene.node('own');
  report.check(
    'by an alarm as well',
    alarms.some(({ reason }) => reason === 'bmc-password-unknown'),
    alarms,
  );
  scene.afterChange(undefined);
  scene.bmc.faults.set([]);
  await scene.restartSite();
  report.check('the machine can be driven by the new one', await scene.drives('own'));
  const settled = await scene.rotate('own');
  report.check('the next rotation finds out', settled.steps[0]?.result?.settled === true, settled);
  await checkSettled(report, scene, 'after it has');
  report.check('and the alarm goes', (await scene.node('own')).alarms.length === 0);
}

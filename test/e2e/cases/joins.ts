import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { exists } from '#base/exists.ts';
import { issueServer, newAuthority, openAuthority } from '#central/join/authority.ts';
import { wellKnown } from '#central/join/pins.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import { bcdJoinArgv } from '#central/userData/argv.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { joinArgs, type Lab, type LabSite } from '../loopback/lab.ts';
import { runProgram, startProgram } from '../loopback/processes.ts';
import { ask, emptyPoll, eventually, siteRecord, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

export const joinSite: EndToEndCase = {
  name: 'join-site',
  about:
    'a site joins by the words of bcdJoinArgv, cut off in the middle too, and is let in by its certificate',
  run: (report) =>
    withLab(report, async (lab) => {
      report.phase('join');
      const centre = await lab.startCentre();
      const site = await lab.newSite('north');
      checkWords(report, lab, site, joinArgs(lab.agentsUrl, site, await lab.pins()));
      const token = (await readFile(site.tokenFile, 'utf8')).trim();

      const first = await startProgram('bcd', joinArgs(lab.agentsUrl, site, await lab.pins()));
      await centre.line('"joined"');
      await first.kill();
      report.check(
        'it was killed between the centre’s answer and its own disk',
        (await readdir(site.stateDirectory)).join() === 'pending-keys.json' && (await exists(site.tokenFile)),
        await readdir(site.stateDirectory),
      );
      const again = await lab.join(site);
      report.check('a join that was killed is repeated and succeeds', again.status === 0, again.output);
      await checkJoined(report, lab, site, token);

      await writeFile(site.tokenFile, token);
      const settled = await lab.join(site);
      report.check('joined already: nothing is asked', settled.status === 0, settled.output);
      report.check('and a token file that a crash left is removed', !(await exists(site.tokenFile)));

      report.phase('mutual TLS');
      await lab.startSite(site);
      const record = await eventually(async () => {
        const found = await siteRecord(lab, site);
        return found?.seenAt === undefined ? undefined : found;
      });
      report.check('the centre has heard the site', record !== undefined);
      const stranger = await ask(`${lab.agentsUrl}/v1/agent/poll`, { post: emptyPoll });
      report.check('without a certificate nobody polls', stranger.status === 401, stranger);
      report.check('and is told why', stranger.body.error?.details?.reason === 'certificate', stranger.body);
    }),
};

/** The words of the command are those that a deployed OS runs, whatever their values. */
function checkWords(report: Report, lab: Lab, site: LabSite, used: string[]): void {
  const flag = (name: string) => used[used.indexOf(name) + 1] ?? '';
  const words = bcdJoinArgv({
    controlPlaneUrl: lab.agentsUrl,
    nodeId: site.siteId,
    servingCaPin: flag('--serving-ca-pin'),
    joinSigningPin: flag('--join-signing-pin'),
    joinEncryptionPin: flag('--join-encryption-pin'),
  });
  const expected = words.slice(1).map((word) => (word === '/etc/bcd/join-token' ? site.tokenFile : word));
  const found = used.slice(0, expected.length);
  report.check(
    'the words are those of bcdJoinArgv',
    JSON.stringify(found) === JSON.stringify(expected),
    found,
  );
}

async function checkJoined(report: Report, lab: Lab, site: LabSite, token: string): Promise<void> {
  const file = path.join(site.stateDirectory, 'identity.json');
  const { mode } = await stat(file);
  report.check('the identity is its owner’s alone', (mode & 0o777) === 0o600, mode.toString(8));
  report.check('the token file is gone', !(await exists(site.tokenFile)));
  const files = await readdir(site.stateDirectory);
  report.check('nothing else is left', files.join() === 'identity.json', files);
  const text = await readFile(file, 'utf8');
  report.check('the token is nowhere', !text.includes(token));
  const { role, nodeId, counter } = await lab.identity(site);
  report.check(
    'the identity is the one asked for',
    role === 'site' && nodeId === site.siteId && counter === 0,
  );
}

const wrongPin = `sha256/${'A'.repeat(43)}=`;

export const joinRefusals: EndToEndCase = {
  name: 'join-refusals',
  about:
    'wrong pins, another CA beside the pinned one, no TLS, used, expired, foreign and revoked tokens, another identity, a clock a day off: each refused by name',
  run: (report) =>
    withLab(report, async (lab) => {
      await lab.startCentre();
      report.phase('refuse');
      const pins = ['servingCaPin', 'joinSigningPin', 'joinEncryptionPin'] as const;
      const cases: Promise<void>[] = [];
      for (const name of pins)
        cases.push(refused(report, lab, `a wrong ${name}`, 'pin', { pins: { [name]: wrongPin } }));
      cases.push(refused(report, lab, 'a clock a day behind', 'clock', { clock: '-1d' }));
      cases.push(refused(report, lab, 'a clock a day ahead', 'clock', { clock: '+1d' }));
      await Promise.all(cases);
      await Promise.all([
        refused(report, lab, 'an expired token', 'expired', {
          prepare: (site) => lab.newToken(site, -1_000),
        }),
        refused(report, lab, 'an unknown token', 'unknown', {
          prepare: (site) => writeFile(site.tokenFile, 'rhj_nobody-minted-this'),
        }),
        refused(report, lab, 'the token of another site', 'other-identity', {
          prepare: async (site) => {
            const other = await lab.newSite('a-neighbour');
            await writeFile(site.tokenFile, await readFile(other.tokenFile));
          },
        }),
        usedToken(report, lab),
        otherIdentity(report, lab),
        refused(report, lab, 'a server without TLS', 'https', {
          server: lab.agentsUrl.replace('https:', 'http:'),
        }),
        revokedSince(report, lab),
      ]);
      await anotherAuthority(report, lab);
    }),
};

/** The centre's document with a second CA in it, and a server of that CA. */
async function anotherAuthority(report: Report, lab: Lab): Promise<void> {
  const own = openAuthority(await newAuthority());
  const document = await lab.host(async ({ keys }) => wellKnown(keys));
  const servingCa = `${document.servingCa}\n${own.certificate}`;
  const uri = 'urn:railhead:central';
  const { privateKey: key, certificate: cert } = await issueServer(own, { uri, validMs: 3_600_000 });
  const asked: (string | undefined)[] = [];
  const forger = createServer({ key, cert }, ({ url }, response) => {
    asked.push(url);
    response.end(JSON.stringify({ ...document, servingCa }));
  });
  await new Promise<void>((resolve) => forger.listen(0, '127.0.0.1', resolve));
  try {
    const server = `https://127.0.0.1:${(forger.address() as AddressInfo).port}`;
    await refused(report, lab, 'another CA beside the pinned one', 'pin', { server });
    report.check('and the token is not sent there', !asked.includes('/v1/join'), asked);
  } finally {
    forger.closeAllConnections();
    forger.close();
  }
}

/** A copy of the disk from before the join, with its token and its keys, is tried once the site is revoked. */
async function revokedSince(report: Report, lab: Lab): Promise<void> {
  const prepare = async (site: LabSite) => {
    const token = await readFile(site.tokenFile);
    await lab.join({ ...site, stateDirectory: `${site.directory}/elsewhere` });
    await lab.host(({ store }) => revokeNamed(store, site.siteId, { why: 'stolen', by: 'host' }));
    await writeFile(site.tokenFile, token);
  };
  await refused(report, lab, 'the token of a site that was revoked', 'revoked', { prepare });
}

interface Refusal {
  pins?: Record<string, string>;
  clock?: string;
  /** Another than the centre. */
  server?: string;
  /** What is done to the site before it joins. */
  prepare?(site: LabSite): Promise<unknown>;
}

async function refused(report: Report, lab: Lab, what: string, reason: string, how: Refusal): Promise<void> {
  const site = await lab.newSite(what.toLowerCase().replaceAll(' ', '-'));
  await how.prepare?.(site);
  const pins = { ...(await lab.pins()), ...how.pins };
  const words = joinArgs(how.server ?? lab.agentsUrl, site, pins);
  const { status, output } = await runProgram('bcd', words, { clock: how.clock });
  report.check(`${what} is refused`, status === 1, output);
  report.check(`${what} is named '${reason}'`, reasonIn(output) === reason, output);
  const left = await readdir(site.stateDirectory).catch(() => []);
  report.check(
    `${what} leaves nothing behind, and the token in its place`,
    left.length === 0 && (await exists(site.tokenFile)),
    left,
  );
}

async function usedToken(report: Report, lab: Lab): Promise<void> {
  const prepare = async (site: LabSite) => {
    const token = await readFile(site.tokenFile);
    const elsewhere = { ...site, stateDirectory: `${site.directory}/elsewhere` };
    await runProgram('bcd', joinArgs(lab.agentsUrl, elsewhere, await lab.pins()));
    await writeFile(site.tokenFile, token);
  };
  await refused(report, lab, 'a used token', 'used', { prepare });
}

/** A machine that is one site already is not made another. */
async function otherIdentity(report: Report, lab: Lab): Promise<void> {
  const [one, other] = [await lab.newSite('one'), await lab.newSite('other')];
  await lab.join(one);
  const before = await readFile(path.join(one.stateDirectory, 'identity.json'), 'utf8');
  const { status, output } = await lab.join({ ...other, stateDirectory: one.stateDirectory });
  report.check('another identity is refused', status === 1 && reasonIn(output) === 'other-identity', output);
  const after = await readFile(path.join(one.stateDirectory, 'identity.json'), 'utf8');
  report.check(
    'another identity leaves the first as it was',
    before === after && (await exists(other.tokenFile)),
  );
}

/** `details.reason`, from what `bcd` says on its error output. */
function reasonIn(output: string): unknown {
  const details = output.split('\n').find((line) => line.startsWith('{'));
  return details === undefined ? undefined : (JSON.parse(details) as { reason?: unknown }).reason;
}

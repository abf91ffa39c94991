import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startTestCentre } from '../../../central/centre.ts';
import { user } from '../../../fakes/fakeBmc.ts';
import { findIn, findInFiles } from '../../../fakes/markers.ts';
import { configureSite, startSiteBmc } from '../bench/loopbackSite.ts';
import {
  deployUntilPower,
  enrollOne,
  joinSite,
  runMachine,
  tenantId,
  workflowUntil,
} from '../bench/realCentre.ts';
import { spawnSite } from '../bench/siteProcess.ts';

vi.setConfig({ testTimeout: 60_000 });

const mac = '02:00:00:00:00:01';
const planted = {
  password: 'marker-of-the-user-data "quoted"',
  sshKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMarkerOfTheSshKey/owner+1 operator@example',
};

/** A template with secrets of the operator's, in a folder of the centre. */
async function templates(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'railhead-templates-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const text = `node: {{nodeId}}\ntoken: {{joinToken}}\npassword: ${planted.password}\nkey: ${planted.sshKey}\n`;
  await writeFile(path.join(folder, 'first-boot.yaml'), text);
  return folder;
}

/** A site whose BMC's password only the centre was told, and which writes down all that it can. */
async function setUp() {
  const centre = await startTestCentre({ userData: { templates: await templates() } });
  onTestFinished(() => centre.close());
  const site = await configureSite();
  const { siteId, joinToken } = await joinSite(centre, site);
  const { fake, binding } = await startSiteBmc(site);
  await rm(path.join(site.directory, 'secrets'), { recursive: true });
  const text = `${user.username}:${user.password}`;
  await centre.call('secrets.set', { tenantId, ref: binding.credentialRef, text });
  await enrollOne(centre, site, siteId, { macs: [mac], bmc: binding });
  const config = await readFile(site.configFile, 'utf8');
  await writeFile(site.configFile, config.replace('logLevel = "info"', 'logLevel = "debug"'));
  return { centre, site, fake, joinToken };
}

async function deployed() {
  const set = await setUp();
  const { centre, site } = set;
  const agent = await spawnSite(site.configFile);
  const workflowId = await deployUntilPower(centre);
  const run = await runMachine(centre, site, mac);
  const end = await workflowUntil(centre, workflowId, (view) => view.state !== 'running');
  expect(end).toMatchObject({ state: 'succeeded' });
  const osToken = /token: (\S+)/.exec(run.document)?.[1] ?? '';
  const markers = { bmcPassword: user.password, siteToken: set.joinToken, osToken, ...planted };
  return { ...set, agent, run, markers };
}

test('a site that relays a whole deploy keeps, writes and shows no secret of it, and its receivers have each', async () => {
  const { centre, site, fake, agent, run, markers } = await deployed();
  // Those that each secret is for have it.
  expect(fake.sessions.size).toBeGreaterThan(0);
  expect(fake.boot.BootSourceOverrideTarget).toBe('Hdd');
  expect(run.document).toContain(planted.password);
  expect(run.document).toContain(planted.sshKey);
  // The site has none of them on its disk, in its log, or where other users of its host look.
  expect(findInFiles([site.directory], markers)).toEqual([]);
  expect(findIn('log', Buffer.from(agent.log.join('\n')), markers)).toEqual([]);
  expect(agent.log.join('\n')).toContain('operation ended');
  for (const name of ['cmdline', 'environ'])
    expect(findIn(name, await readFile(`/proc/${agent.pid}/${name}`), markers)).toEqual([]);
  expect(findInFiles([centre.directory], markers)).toEqual([]);
  checkOwnTokens(site.directory, agent.log, run);
});

/** What the site minted itself: the boot token stands in the join message that it passed on, the session nowhere but as a hash. */
function checkOwnTokens(
  directory: string,
  log: readonly string[],
  { bootToken, session }: { bootToken: string; session: string },
): void {
  const finds = findInFiles([directory], { bootToken, session });
  expect(finds.filter(({ marker }) => marker === 'session')).toEqual([]);
  expect(finds.filter(({ where }) => !/^state\/state\.db(-wal)?$/.test(where))).toEqual([]);
  expect(findIn('log', Buffer.from(log.join('\n')), { bootToken, session })).toEqual([]);
}

test('the search finds a text in each form that it knows', () => {
  const text = 'a secret/with "all" kinds+of letters';
  const inside = `{"x":${JSON.stringify(text)}}`;
  const forms: [string, Buffer][] = [
    ['plain', Buffer.from(`..${text}..`)],
    ['json', Buffer.from(inside)],
    ['json', Buffer.from(JSON.stringify(inside))],
    ['url', Buffer.from(`?q=${encodeURIComponent(text)}`)],
    ['utf-16', Buffer.from(text, 'utf16le')],
    ['hex', Buffer.from(Buffer.from(text).toString('hex').toUpperCase())],
    ...['', 'a', 'ab', 'abc'].flatMap((before): [string, Buffer][] => [
      ['base64', Buffer.from(Buffer.from(`${before}${text}!`).toString('base64'))],
      ['base64url', Buffer.from(Buffer.from(`${before}${text}!`).toString('base64url'))],
    ]),
    ['plain', Buffer.concat([Buffer.from('before'), gzipSync(`..${text}..`), Buffer.from('after')])],
  ];
  for (const [form, bytes] of forms)
    expect(findIn('x', bytes, { text })).toContainEqual({ where: 'x', marker: 'text', form });
  expect(findIn('x', brotliCompressSync('nothing of it'), { text })).toEqual([]);
});

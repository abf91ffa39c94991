import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { publicJwk } from '#ramdisk/join/keys.ts';
import { runRamdisk } from '#ramdisk/main.ts';
import { type FakeSite, fakeSite } from './fakes/site.ts';

let site: FakeSite;
let directory: string;

beforeEach(async () => {
  site = await fakeSite();
  directory = await mkdtemp(path.join(tmpdir(), 'railhead-ramdisk-'));
  await put(
    'trust.json',
    JSON.stringify({ ca: site.ca.pem, signingKeys: [publicJwk(site.signingKey)], trustNumber: 1 }),
  );
  await putMachine();
});
afterEach(async () => {
  await site.close();
  await rm(directory, { recursive: true });
});

const macs = ['52:54:00:77:00:41', '52:54:00:77:00:42'];

/** What the machine shows of itself below `/proc` and `/sys`. */
async function putMachine(): Promise<void> {
  await put('machine/proc/sys/kernel/random/boot_id', 'boot-1');
  for (const [index, mac] of macs.entries()) {
    await put(`machine/sys/class/net/eth${index}/address`, mac);
    await put(`machine/sys/class/net/eth${index}/type`, '1');
  }
}

const place = (name: string) => path.join(directory, name);
async function put(name: string, content: string): Promise<void> {
  await mkdir(path.dirname(place(name)), { recursive: true });
  await writeFile(place(name), content);
}

/** Runs the agent until a result of `operation` was reported. Only operations that are refused: the real steps write and restart. */
async function runFor(operation: Parameters<FakeSite['order']>[0], onSaid = () => {}) {
  const said: string[] = [];
  const set: number[] = [];
  const stop = new AbortController();
  const running = runRamdisk({
    trustFile: place('trust.json'),
    commandLineFile: place('cmdline'),
    leaseFile: place('lease'),
    stateDirectory: place('run'),
    root: place('machine'),
    say: (text) => {
      said.push(text);
      onSaid();
    },
    setClocks: async (time) => {
      set.push(time);
      vi.useRealTimers();
    },
    signal: stop.signal,
  });
  const result = await site.resultOf(await site.order(operation));
  stop.abort(new Error('stopped'));
  await running;
  return { result, said, set };
}

test('told by the command line, it joins with that token and address', async () => {
  await put(
    'cmdline',
    `console=ttyS0 railhead.site=${site.url} railhead.token=tok_line railhead.mac=52:54:00:77:00:41`,
  );
  const { result, said, set } = await runFor({ nodeId: 'node_other' });
  expect(site.joins).toMatchObject([{ token: 'tok_line', mac: '52:54:00:77:00:41' }]);
  expect(set).toEqual([]);
  expect(said[0]).toBe('joined site site_test as node node_test');
  expect(result.error?.code).toBe('FORBIDDEN');
});

test('without a command line it finds the site by its lease and asks for the token', async () => {
  await put('cmdline', 'quiet');
  await put('lease', `mac=52:54:00:77:00:42\nsite=${site.url}\n`);
  await runFor({ nodeId: 'node_other' });
  expect(site.joins).toMatchObject([{ token: 'tok_discovered', mac: '52:54:00:77:00:42' }]);
});

test.each([
  ['another node', { nodeId: 'node_other' }, 'it is for node node_other'],
  ['another site', { siteId: 'site_other' }, 'it is for site site_other'],
  ['another interface', { macs: ['52:54:00:77:00:99'] }, 'it is not for 52:54:00:77:00:41'],
  [
    'an ISO',
    { ramdisk: undefined, iso: { ref: 'installer@1', digest: '1'.repeat(64) } },
    'it is for the ISO installer@1',
  ],
  ['a time that has passed', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'it ended 2020-01-01T00:00:00.000Z'],
])('a boot entry for %s is refused until the site shows the right one', async (_, entry, why) => {
  await put('cmdline', `railhead.site=${site.url} railhead.token=tok railhead.mac=52:54:00:77:00:41`);
  site.forged.entry = entry;
  const { said } = await runFor({ nodeId: 'node_other' }, () => delete site.forged.entry);
  expect(said.slice(0, 2)).toEqual([
    `join failed, trying again: the site's boot entry is refused: ${why}`,
    'joined site site_test as node node_test',
  ]);
});

test('it keeps trying while the site refuses, and says why once', async () => {
  await put('cmdline', `railhead.site=${site.url} railhead.token=tok railhead.mac=52:54:00:77:00:41`);
  site.failNext('/v1/join', 2);
  const { said } = await runFor({ nodeId: 'node_other' });
  expect(said.slice(0, 2)).toEqual([
    'join failed, trying again: broken for now',
    'joined site site_test as node node_test',
  ]);
});

test.each([
  ['2010-01-01T00:00:00Z', 'behind'],
  ['2070-01-01T00:00:00Z', 'ahead of'],
])(
  "a clock that says %s is set to the site's before the join, and the console says so",
  async (shown, way) => {
    await put('cmdline', `railhead.site=${site.url} railhead.token=tok railhead.mac=52:54:00:77:00:41`);
    const right = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(shown) });
    const { said, set } = await runFor({ nodeId: 'node_other' });
    expect(set).toHaveLength(1);
    expect(Math.abs((set[0] ?? 0) - right)).toBeLessThan(5000);
    expect(said[0]).toMatch(new RegExp(`^the clock is \\d+ s ${way} the site's: it is set to 20`));
    expect(said[1]).toBe('joined site site_test as node node_test');
  },
);

import { afterEach, expect, test, vi } from 'vitest';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { clockError } from '#ramdisk/clock.ts';
import { connectSite } from '#ramdisk/site/client.ts';
import { askSiteTime } from '#ramdisk/site/time.ts';
import { makeTestCa } from '../../fakes/certificates.ts';
import { fakeSite } from '../fakes/site.ts';

const open: Closable[] = [];
afterEach(() => closeAll(open.splice(0)));
afterEach(() => vi.useRealTimers());

/** A site whose certificates were issued, as it seems to us, at that time. */
async function siteOf(uri: string, issuedAt?: string) {
  if (issuedAt !== undefined) vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(issuedAt) });
  const site = await fakeSite(uri);
  vi.useRealTimers();
  open.push(site);
  return site;
}

const name = 'urn:railhead:site:site_a';

test.each(['2010-01-01T00:00:00Z', '2070-01-01T00:00:00Z'])(
  'the time is told by a site whose certificate of %s holds but for its dates',
  async (issuedAt) => {
    const site = await siteOf(name, issuedAt);
    expect(Math.abs((await askSiteTime(site.url, site.ca.pem)) - Date.now())).toBeLessThan(5000);
    const client = connectSite(site.url, site.ca.pem);
    open.push(client);
    await expect(client.post('/v1/token', {})).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  },
);

test('no time is taken from whoever shows a certificate of another CA, even one of the same name', async () => {
  const site = await siteOf(name);
  await expect(askSiteTime(site.url, (await makeTestCa('other CA')).pem)).rejects.toThrow('not of this');
  await expect(askSiteTime(site.url, (await makeTestCa()).pem)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining("not of this ramdisk's CA"),
  });
});

test('no time is taken from a node', async () => {
  const node = await siteOf('urn:railhead:node:node_a');
  await expect(askSiteTime(node.url, node.ca.pem)).rejects.toThrow('not a site');
});

test('a site that does not answer is UNAVAILABLE', async () => {
  await expect(askSiteTime('https://127.0.0.1:9', (await makeTestCa()).pem)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('told no time'),
  });
});

test.each([
  [0, 0, undefined],
  [10_000, 5000, undefined],
  [10_000, 15_000, undefined],
  [10_000, 4000, '6 s behind'],
  [10_000, 7_210_000, '7200 s ahead of'],
])('when it is %i, a clock that shows %i is %s', (right, shown, off) => {
  expect(clockError(right, shown)).toBe(off);
});

import { afterEach, expect, test } from 'vitest';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { connectSite } from '#ramdisk/site/client.ts';
import { checkSite, siteOfCertificate } from '#ramdisk/site/identity.ts';
import { makeTestCa } from '../../fakes/certificates.ts';
import { fakeSite } from '../fakes/site.ts';

const open: Closable[] = [];
afterEach(() => closeAll(open.splice(0)));

async function siteNamed(uri: string | undefined) {
  const site = await fakeSite(uri);
  open.push(site);
  return site;
}

function client(url: string, ca: string) {
  const made = connectSite(url, ca);
  open.push(made);
  return made;
}

test('a certificate of the CA with a site URI is believed at any address', async () => {
  const site = await siteNamed('urn:railhead:site:site_a');
  const answer = await client(site.url, site.ca.pem).post('/v1/token', { mac: '52:54:00:00:00:01' });
  expect(answer).toEqual({ token: 'tok_discovered' });
});

test.each([
  ['of a node', 'urn:railhead:node:node_a'],
  ['without a URI of ours', 'https://example.test/'],
])('a certificate %s is refused', async (_, uri) => {
  const site = await siteNamed(uri);
  await expect(client(site.url, site.ca.pem).post('/v1/token', {})).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('not a site'),
  });
});

test('a site of another CA is refused', async () => {
  const site = await siteNamed('urn:railhead:site:site_a');
  const other = await makeTestCa('other CA');
  await expect(client(site.url, other.pem).post('/v1/token', {})).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('once a site was joined another one is refused', async () => {
  const site = await siteNamed('urn:railhead:site:site_b');
  const joined = client(site.url, site.ca.pem);
  joined.expectSite('site_a');
  await expect(joined.post('/v1/token', {})).rejects.toThrow('is of site site_b');
});

test("the site's own error is thrown as it is", async () => {
  const site = await siteNamed('urn:railhead:site:site_a');
  const unknown = client(site.url, site.ca.pem).post('/v1/machine/poll', {}, { session: 'old' });
  await expect(unknown).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: 'join again' });
});

test('an answer without an error of ours keeps its status', async () => {
  const site = await siteNamed('urn:railhead:site:site_a');
  await expect(client(site.url, site.ca.pem).post('/v1/nothing', {})).rejects.toMatchObject({
    code: 'NOT_FOUND',
    details: { status: 404 },
  });
});

test.each([
  ['URI:urn:railhead:site:site_a', 'site_a'],
  ['DNS:host, URI:urn:railhead:site:site_a, IP Address:10.0.0.1', 'site_a'],
  ['URI:urn:railhead:site:site_a, URI:urn:railhead:site:site_b', undefined],
  ['DNS:"x, URI:urn:railhead:site:site_a"', undefined],
  ['DNS:"x, URI:urn:railhead:site:site_a, y\\", URI:urn:railhead:site:site_a, z"', undefined],
  ['URI:urn:railhead:site:', undefined],
  [undefined, undefined],
])('the names %j are of site %s', (subjectaltname, site) => {
  expect(siteOfCertificate({ subjectaltname: subjectaltname as string })).toBe(site);
  expect(checkSite({ subjectaltname: subjectaltname as string }) === undefined).toBe(site !== undefined);
});

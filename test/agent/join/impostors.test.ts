import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { join } from '#agent/join/join.ts';
import { issueServer, newAuthority, openAuthority } from '#central/join/authority.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { wellKnown } from '#central/join/pins.ts';
import type { WellKnown } from '#contract/join.ts';
import { agentClient, newRequest } from '../../central/fakeSite.ts';
import { type JoiningSite, type ShownIdentity, setUp, standIn, standInWithoutTls } from './joiningSite.ts';

const asCentral = { uri: 'urn:railhead:central', names: ['127.0.0.1'], validMs: 3_600_000 };

/** A certificate of a CA that the centre knows nothing of. */
async function foreign(): Promise<ShownIdentity & { ca: string }> {
  const authority = openAuthority(await newAuthority());
  return { ...(await issueServer(authority, asCentral)), ca: authority.certificate };
}

/** Passes on to the real centre what it is sent, as `change` makes it; `passedOn` has the answers' statuses. */
function relay(
  { options, keys }: JoiningSite,
  document: WellKnown,
  change: (message: object) => Promise<object>,
): { answer: RequestListener; passedOn: number[] } {
  const passedOn: number[] = [];
  const answer: RequestListener = async (request: IncomingMessage, response) => {
    if (request.url === '/.well-known/bcd.json') return response.end(JSON.stringify(document));
    const client = agentClient(options.server, keys.authority.certificate);
    const message = await change(JSON.parse(await text(request)) as object);
    const { status, body } = await client.post(request.url ?? '', message);
    await client.close();
    passedOn.push(status);
    response.statusCode = status;
    return response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  return { answer, passedOn };
}

/** What somebody on the way would do: have the certificate made for a key of his own. */
async function withOwnKey(message: object): Promise<object> {
  return { ...message, csr: (await newRequest()).csr };
}

test.each([
  ['behind', (real: string, own: string) => `${real}\n${own}`],
  ['before', (real: string, own: string) => `${own}\n${real}`],
])(
  "a forged document with another CA %s the centre's: nothing is sent, whichever the pin is of",
  async (_, both) => {
    const site = await setUp();
    const own = await foreign();
    const real = wellKnown(site.keys);
    const servingCa = both(real.servingCa, own.ca);
    const document = { ...real, servingCa, older: { ...real.older, servingCas: [servingCa] } } as WellKnown;
    const { answer, passedOn } = relay(site, document, withOwnKey);
    const { url } = await standIn(own, answer);
    await expect(join({ ...site.options, server: url })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      details: { path: 'servingCaPin', reason: 'pin' },
    });
    expect(passedOn).toEqual([]);
  },
);

test("with the centre's own document and another CA's certificate nothing is sent", async () => {
  const site = await setUp();
  const { answer, passedOn } = relay(site, wellKnown(site.keys), withOwnKey);
  const { url } = await standIn(await foreign(), answer);
  await expect(join({ ...site.options, server: url })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'certificate' },
  });
  expect(passedOn).toEqual([]);
});

test('without TLS nobody is joined, by name, and nothing is sent', async () => {
  const site = await setUp();
  const { answer, passedOn } = relay(site, wellKnown(site.keys), withOwnKey);
  const server = await standInWithoutTls(answer);
  await expect(join({ ...site.options, server })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'server', reason: 'https' },
  });
  expect(passedOn).toEqual([]);
  expect(await readFile(site.options.tokenFile, 'utf8')).toContain(site.token);
});

test('even whoever has a certificate of the centre cannot use the token for a key of his own', async () => {
  const site = await setUp();
  const { answer, passedOn } = relay(site, wellKnown(site.keys), withOwnKey);
  const { url } = await standIn(await issueServer(site.keys.authority, asCentral), answer);
  await expect(join({ ...site.options, server: url })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { path: 'token', reason: 'other-key' },
  });
  expect(passedOn).toEqual([400]);
  await expect(join(site.options)).resolves.toMatchObject({ nodeId: site.siteId });
});

test('an answer without an end is not read to its end', async () => {
  const site = await setUp();
  let sent = 0;
  const { url } = await standIn(await foreign(), (_request, response) => {
    const block = Buffer.alloc(1 << 20, ' ');
    const more = () => {
      while (sent < 64 && !response.destroyed) {
        sent++;
        if (!response.write(block)) return void response.once('drain', more);
      }
      response.end('{}');
    };
    more();
  });
  await expect(join({ ...site.options, server: url })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(sent).toBeLessThan(16);
});

test('a join whose answer was lost keeps its keys when another server answers the next try', async () => {
  const site = await setUp();
  const { keys, options } = site;
  const [good, bad] = [await issueServer(keys.authority, asCentral), await foreign()];
  const honest = relay(site, wellKnown(keys), async (message) => message);
  let phase: 'lost' | 'other' | 'well' = 'lost';
  let asked = 0;
  const { url, server } = await standIn(good, (request, response) => {
    if (phase === 'lost' && request.url === '/v1/join') {
      // The centre hears it, and the connection breaks before its answer.
      response.end = (() => request.socket.destroy()) as never;
    }
    if (phase === 'other' && ++asked === 2)
      server.setSecureContext({ key: bad.privateKey, cert: bad.certificate });
    honest.answer(request, response);
  });
  const through = { ...options, server: url };
  await expect(join(through)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(honest.passedOn).toEqual([200]);
  phase = 'other';
  await expect(join(through)).rejects.toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'certificate' },
  });
  expect(await readdir(options.stateDirectory)).toEqual(['pending-keys.json']);
  phase = 'well';
  server.setSecureContext({ key: good.privateKey, cert: good.certificate });
  await expect(join(through)).resolves.toMatchObject({ nodeId: site.siteId });
});

test('an identity that is too old to be renewed is replaced by a join with a new token', async () => {
  const { options, siteId, store, token } = await setUp();
  await join(options);
  const file = `${options.stateDirectory}/identity.json`;
  const identity = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...identity, expiresAt: '2020-01-01T00:00:00.000Z' }));
  await expect(join(options)).rejects.toMatchObject({ details: { reason: 'no-token' } });
  await writeFile(options.tokenFile, token);
  await expect(join(options)).rejects.toMatchObject({ details: { reason: 'used' } });
  expect(await readFile(options.tokenFile, 'utf8')).toBe(token);
  const next = await createJoinToken(store, { role: 'site', nodeId: siteId, validMs: 60_000 });
  await writeFile(options.tokenFile, next.token);
  const { expiresAt } = await join(options);
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
});

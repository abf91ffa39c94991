import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readAnswer } from '#cli/apiAnswer.ts';
import { type ClientFlags, withApi } from '#cli/client.ts';
import { selfSignedIdentity } from '../fakes/certificates.ts';

const flags: ClientFlags = { format: 'json' };
const ask = (server: string) =>
  withApi({ server, token: 'rht_x' }, flags, (call) => call<object>('images.list', {}));

async function listen(server: Server, scheme: string): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(['{"message":"Not Found"}', '{}', '[]', 'null', '{"data":null}', '{"error":{}}', '<html>', ''])(
  'a server that answers %j is no centre, and that is said',
  async (text) => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(404, { 'content-type': 'application/json' }).end(text);
    });
    const url = await listen(server, 'http');
    await expect(ask(url)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `${url} does not answer as a centre's API does (HTTP 404): check --server`,
      details: { reason: 'not-a-centre', status: 404 },
    });
  },
);

test('what a centre answers is its data or its error', () => {
  expect(readAnswer('', 200, '{"data":{"items":[]}}')).toEqual({ data: { items: [] } });
  const error = { code: 'NOT_FOUND', message: 'there is no such image' };
  expect(readAnswer('', 404, JSON.stringify({ error }))).toEqual({ error });
});

test('a certificate that cannot be verified is told with the option for its CA', async () => {
  const url = await listen(createTlsServer(await selfSignedIdentity()), 'https');
  await expect(ask(url)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('--ca'),
  });
});

test.each(['nourl', 'ftp://centre.example', '//centre'])(
  '%s is no server, and is named as it was typed',
  async (server) => {
    await expect(ask(server)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: `--server must be an https:// or http:// URL, not ${server}`,
    });
  },
);

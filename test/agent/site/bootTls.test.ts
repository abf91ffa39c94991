import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootServerCertificate, readBootAuthority } from '#agent/site/bootTls/kept.ts';
import { silentLog } from '#base/log.ts';
import { openSealer } from '#base/sealing.ts';
import { bytesAnswer } from '#bootserver/http/answer.ts';
import { type BootHttp, startBootHttp } from '#bootserver/http/server.ts';

const siteId = 'site_01test';
let stateDirectory: string;
let server: BootHttp;

beforeAll(async () => {
  stateDirectory = await mkdtemp(path.join(tmpdir(), 'boot-tls-'));
  const loader = {
    path: '/loader',
    pattern: /^\/loader$/,
    answer: () => bytesAnswer(Buffer.alloc(5000), 'x/y'),
  };
  server = await startBootHttp({
    address: '127.0.0.1',
    port: 0,
    routes: () => [loader],
    tls: await bootServerCertificate({ stateDirectory, siteId }, ['127.0.0.1', 'fd99::1']),
    log: silentLog(),
  });
});

afterAll(async () => {
  await server.close();
  await rm(stateDirectory, { recursive: true });
});

/** What firmware of 2022 can: TLS 1.2, RSA, no elliptic curves, the server's IP address checked against its certificate. */
async function oldFirmware(): Promise<Agent> {
  const ca = await readBootAuthority(stateDirectory);
  return new Agent({ keepAlive: true, maxSockets: 1, ca, maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA256' });
}

function ask(agent: Agent, method: string, target: string) {
  return new Promise<{ status?: number; length?: string; port?: number }>((resolve, reject) => {
    const sent = request(`${server.url}${target}`, { method, agent }, (response) => {
      const port = (response.socket as TLSSocket).localPort;
      response
        .resume()
        .on('end', () =>
          resolve({ status: response.statusCode!, length: response.headers['content-length']!, port: port! }),
        );
    });
    sent.on('error', reject).end();
  });
}

describe('firmware that trusts the CA', () => {
  test('asks for the size, loads and finds nothing on one connection', async () => {
    const agent = await oldFirmware();
    const answers = [
      await ask(agent, 'HEAD', '/loader'),
      await ask(agent, 'GET', '//loader'),
      await ask(agent, 'GET', '/missing'),
      await ask(agent, 'GET', '/loader'),
    ];
    agent.destroy();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200]);
    expect(answers[0]?.length).toBe('5000');
    expect(new Set(answers.map(({ port }) => port)).size).toBe(1);
  });
});

test('firmware that does not trust it gets nothing', async () => {
  const agent = new Agent();
  await expect(ask(agent, 'GET', '/loader')).rejects.toMatchObject({
    code: expect.stringMatching(/SELF_SIGNED|UNABLE/),
  });
});

describe('the CA', () => {
  test('stays through restarts, while the server’s certificate is new', async () => {
    const before = await readBootAuthority(stateDirectory);
    const { certificate } = await bootServerCertificate({ stateDirectory, siteId }, [
      '10.0.0.1',
      'media.example.com',
    ]);
    expect(await readBootAuthority(stateDirectory)).toBe(before);
    const leaf = new X509Certificate(certificate);
    expect(leaf.verify(new X509Certificate(before).publicKey)).toBe(true);
    expect(leaf.subjectAltName).toBe('IP Address:10.0.0.1, DNS:media.example.com');
  });

  test('has its key encrypted where there is a key for that', async () => {
    const directory = await mkdtemp(path.join(stateDirectory, 'sealed-'));
    const sealer = openSealer(randomBytes(32));
    const parts = { stateDirectory: directory, siteId, sealer };
    await bootServerCertificate(parts, ['10.0.0.1']);
    const authority = await readBootAuthority(directory);
    expect(await readFile(path.join(directory, 'boot-tls.json'), 'utf8')).not.toContain('PRIVATE KEY');
    await bootServerCertificate(parts, ['10.0.0.1']);
    expect(await readBootAuthority(directory)).toBe(authority);
    const other = { ...parts, sealer: openSealer(randomBytes(32)) };
    await expect(bootServerCertificate(other, ['10.0.0.1'])).rejects.toMatchObject({
      code: 'INVALID_STATE',
      details: { reason: 'at-rest-key' },
    });
  });

  test('is not there before HTTPS boot was switched on', async () => {
    await expect(readBootAuthority('/nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

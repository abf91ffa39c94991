import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { residentMiB, serveCommands } from './worker.ts';

/** The peer: nothing but Fastify and mutual TLS. It reads a poll and answers it after as many seconds as it asks for. */
const [tlsFile = ''] = process.argv.slice(2);
const tls = JSON.parse(await readFile(tlsFile, 'utf8')) as { key: string; cert: string; ca: string };
const server = fastify({
  https: { ...tls, requestCert: true, rejectUnauthorized: true },
});
server.post<{ Body: { waitSeconds: number } }>('/v1/agent/poll', async ({ body }) => {
  await new Promise((resolve) => setTimeout(resolve, body.waitSeconds * 1000));
  return {};
});
await server.listen({ host: '127.0.0.1', port: 0 });

serveCommands({
  url: async () => ({ url: `https://127.0.0.1:${(server.server.address() as AddressInfo).port}` }),
  memory: residentMiB,
});

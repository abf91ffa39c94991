import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { issueServer } from '#central/join/authority.ts';
import { openKeys } from '#central/join/keys.ts';
import { residentMiB, serveCommands } from './worker.ts';

/** The peer: nothing but Fastify and mutual TLS. It reads a poll and answers it after as many seconds as it asks for. */
const [directory = ''] = process.argv.slice(2);
const { authority } = await openKeys(directory);
const own = await issueServer(authority, { uri: 'urn:bare', names: ['127.0.0.1'], validMs: 3_600_000 });
const server = fastify({
  https: {
    key: own.privateKey,
    cert: own.certificate,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  },
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

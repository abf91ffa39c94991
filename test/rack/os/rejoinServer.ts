import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';

export interface TestCa {
  caPem: string;
  /** A server certificate by that CA for 10.0.2.2, which is how QEMU's user network shows the host. */
  server: { key: string; cert: string };
}

export interface RejoinServer {
  port: number;
  bodies: { path: string | undefined; body: unknown }[];
  /** A client has seen our certificate. */
  certificateShown: Promise<unknown>;
  /** The first request was answered 503 and the second one 200. */
  accepted: Promise<unknown>;
  present(ca: TestCa): void;
  close(): Promise<void>;
}

export function testCa(directory: string, name: string): TestCa {
  const at = (file: string): string => path.join(directory, `${name}-${file}`);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const request = (args: string[]): unknown =>
    execFileSync('openssl', ['req', '-x509', ...newKey, ...args], { stdio: 'pipe' });
  request(['-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', `/CN=${name}`]);
  const issuer = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-subj', '/CN=server'];
  const leaf = [
    '-addext',
    'subjectAltName=IP:10.0.2.2,IP:127.0.0.1',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
  ];
  request(['-keyout', at('key.pem'), '-out', at('cert.pem'), ...issuer, ...leaf]);
  const read = (file: string): string => readFileSync(at(file), 'utf8');
  return { caPem: read('ca.pem'), server: { key: read('key.pem'), cert: read('cert.pem') } };
}

/** A stand-in for the centre's `POST /v1/rejoin`, which is too busy for the first caller. */
export async function startRejoinServer(ca: TestCa): Promise<RejoinServer> {
  const bodies: RejoinServer['bodies'] = [];
  const accepted = Promise.withResolvers<void>();
  const server = createServer(ca.server, async (request, response) => {
    bodies.push({ path: request.url, body: JSON.parse(await text(request)) });
    response.writeHead(bodies.length === 1 ? 503 : 200).end('{}');
    if (bodies.length > 1) accepted.resolve();
  });
  const certificateShown = once(server, 'secureConnection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    bodies,
    certificateShown,
    accepted: accepted.promise,
    present: (other) => server.setSecureContext(other.server),
    close: () => closeServer(server),
  };
}

async function closeServer(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

import { randomUUID, sign, X509Certificate } from 'node:crypto';
import { issueServerIdentity, type TestCa } from '../../fakes/certificates.ts';
import {
  type RawHttpsServer,
  type RawRequest,
  sendAndClose,
  startRawHttps,
} from '../../fakes/rawHttpsServer.ts';

export const service = 'registry.test';
const issuerName = 'issuer.test';

/** A token service as registries name it in their challenge: it knows one reader. */
export interface Issuer {
  realm: string;
  name: string;
  requests: RawRequest[];
  /** What lets its holder do `actions` in a repository. */
  token(repository: string, actions: readonly string[]): string;
  close(): Promise<void>;
}

/** Speaks TLS by a certificate of `ca`, and signs tokens by another one of it. */
export async function startIssuer(ca: TestCa, reader: { user: string; password: string }): Promise<Issuer> {
  const signing = await issueServerIdentity(ca);
  const chain = [new X509Certificate(signing.cert).raw.toString('base64')];
  const token = (repository: string, actions: readonly string[]) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: issuerName, sub: reader.user, aud: service, jti: randomUUID() },
      ...{ iat: now - 5, nbf: now - 5, exp: now + 300 },
      access: [{ type: 'repository', name: repository, actions }],
    };
    const signed = [{ typ: 'JWT', alg: 'ES256', x5c: chain }, claims].map(encoded).join('.');
    const options = { key: signing.key, dsaEncoding: 'ieee-p1363' } as const;
    return `${signed}.${sign('sha256', Buffer.from(signed), options).toString('base64url')}`;
  };
  const pair = Buffer.from(`${reader.user}:${reader.password}`).toString('base64');
  const server: RawHttpsServer = await startRawHttps(
    await issueServerIdentity(ca),
    (request, socket, count) => {
      const known = request.headers.authorization === `Basic ${pair}`;
      const scope = new URL(request.path, 'https://issuer').searchParams.get('scope') ?? '';
      const [, repository = ''] = scope.split(':');
      const body = known ? JSON.stringify({ token: token(repository, ['pull']) }) : '{}';
      const head = `HTTP/1.1 ${known ? '200 OK' : '401 Unauthorized'}\r\nContent-Length: ${body.length}`;
      sendAndClose(`${head}\r\n\r\n${body}`)(request, socket, count);
    },
  );
  const { requests, close } = server;
  return { realm: `${server.origin}/token`, name: issuerName, requests, token, close };
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

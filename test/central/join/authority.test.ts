import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import {
  issueServer,
  newAuthority,
  openAuthority,
  shownChain,
  succeedingAuthority,
} from '#central/join/authority.ts';
import { distrustOf } from '#ramdisk/site/time.ts';

const site = { uri: 'urn:railhead:site:site_a', names: ['127.0.0.1'], validMs: 3_600_000 };

/** A server that shows a certificate of the newer of two CAs, and what a client with one CA makes of it. */
async function serveByNewer() {
  const former = openAuthority(await newAuthority());
  const newer = openAuthority(await succeedingAuthority(former));
  const issued = await issueServer(newer, site);
  const server = createServer({ key: issued.privateKey, cert: shownChain(newer, issued) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const shown = async (ca: string) => {
    const socket = connect({ host: '127.0.0.1', port, ca, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate() as X509Certificate;
    socket.destroy();
    return { authorized: socket.authorized, certificate };
  };
  return { former, newer, shown };
}

test('who knows the older CA alone, or the newer alone, believes what the newer issues', async () => {
  const { former, newer, shown } = await serveByNewer();
  for (const { certificate: ca } of [former, newer]) {
    const { authorized, certificate } = await shown(ca);
    expect({ authorized, distrust: distrustOf(certificate, ca) }).toEqual({
      authorized: true,
      distrust: undefined,
    });
  }
});

test('who knows neither does not', async () => {
  const { shown } = await serveByNewer();
  const stranger = openAuthority(await newAuthority()).certificate;
  const { authorized, certificate } = await shown(stranger);
  expect(authorized).toBe(false);
  expect(distrustOf(certificate, stranger)).toContain('not of this ramdisk');
});

test('a certificate that is no CA vouches for none', async () => {
  const former = openAuthority(await newAuthority());
  const holder = await issueServer(former, site);
  const false_ = { certificate: holder.certificate, privateKey: holder.privateKey, chain: '' };
  const forged = await issueServer(false_, { ...site, uri: 'urn:railhead:site:site_b' });
  const leaf = new X509Certificate(forged.certificate);
  expect(distrustOf(leaf, holder.certificate)).toContain('not of this ramdisk');
});

import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { sealText } from '#base/jwe.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { version } from '#base/version.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { idPattern } from '#contract/ids.ts';
import { joinParty, joinTokenTyp, OkpJwk, type Pins, renewalGraceMs } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import { openAdmission, otherIdentity } from './admission.ts';
import { fetchTime, fetchWellKnown, postJoin } from './centre.ts';
import { findJoined, type Identity, type PublicIdentity, publicPart, writeIdentity } from './identity.ts';
import { certificateRequest, forgetPendingKeys, pendingKeys, sealingJwk } from './ownKeys.ts';
import { type PinnedKeys, pinnedKeys } from './pins.ts';

export interface JoinOptions extends Pins {
  /** Base URL of the centre. */
  server: string;
  tokenFile: string;
  nodeId: string;
  stateDirectory: string;
}

/** How far this machine's clock may be off, in milliseconds: certificates, boot entries and operations are judged by it. */
const clockToleranceMs = 5 * 60_000;

/**
 * Joins the centre once and keeps the identity that it gave: three pins, a clock that is right, a token sealed to a pinned key, keys of
 * its own, and an answer signed by a pinned key. The token file is removed at the end. Joined already as `nodeId`: does nothing, unless that
 * identity can be used no more: the centre has revoked it, or it is too old to be renewed. What the centre refuses leaves nothing on disk.
 * @throws RailheadError INVALID_CONFIG (`https`), FORBIDDEN (`details.reason`: `pin`, `other-identity`, `clock`, `certificate`, `signature`), UNAVAILABLE, INVALID_STATE,
 *   or what the centre answered (UNAUTHENTICATED: `unknown`, `expired`, `used`, `revoked`, `other-identity`)
 */
export async function join(options: JoinOptions): Promise<PublicIdentity> {
  const present = await findJoined(options.stateDirectory);
  if (present !== undefined && present.nodeId !== options.nodeId)
    throw otherIdentity(options.nodeId, present.nodeId);
  if (present !== undefined && isUsable(present)) return settle(options, present);
  const server = overTls(options.server);
  const token = await readToken(options.tokenFile);
  const centre = await trustedKeys(server, options);
  await checkClock(server, centre.servingCa);
  const identity = await admitted(server, centre, token, options);
  await writeIdentity(options.stateDirectory, identity);
  return settle(options, publicPart(identity));
}

/** Whether it opens anything still: a centre renews a certificate that has not ended too long ago. */
function isUsable({ revoked, expiresAt }: PublicIdentity): boolean {
  return revoked === undefined && Date.parse(expiresAt) + renewalGraceMs > Date.now();
}

/** Without TLS there is nobody whose certificate the pinned CA could have issued. */
function overTls(server: string): string {
  if (URL.parse(server)?.protocol === 'https:') return server.replace(/\/+$/, '');
  const message = `${server} is no https URL: the centre is joined over TLS only`;
  throw new RailheadError('INVALID_CONFIG', message, { path: 'server', reason: 'https' });
}

/** Asks to be let in. Keys whose token the centre refused are of no use: they go; those of an answer that was lost stay. */
async function admitted(
  server: string,
  centre: PinnedKeys,
  token: string,
  options: JoinOptions,
): Promise<Identity> {
  const { nodeId, stateDirectory } = options;
  const keys = await pendingKeys(stateDirectory);
  const role = roleOf(nodeId);
  const asked = {
    csr: await certificateRequest(keys.privateKey, nodeId),
    sealingKey: sealingJwk(keys),
  };
  const sealTo = publicKeyFromJwk(centre.joinEncryptionKey);
  const message = {
    protocol: protocolVersion,
    role,
    nodeId,
    token: await sealText(joinTokenTyp, token, sealTo, joinParty(asked)),
    ...asked,
    version,
    signedBy: options.joinSigningPin,
  };
  const answer = await postJoin(server, centre.servingCa, message).catch(async (error: unknown) => {
    if (isRefusal(error)) await forgetPendingKeys(stateDirectory);
    throw error;
  });
  const signingKeys = [publicKeyFromJwk(centre.joinSigningKey)];
  const { privateKey } = keys;
  return {
    role,
    nodeId,
    server,
    ...keys,
    ...(await openAdmission(answer, signingKeys, { role, nodeId, privateKey, counter: 0 })),
  };
}

/** The centre's own word. FORBIDDEN is said here, of a server that is not the centre or a clock that is off: the next try may reach it. */
function isRefusal(error: unknown): boolean {
  return hasCode(error, 'UNAUTHENTICATED') || hasCode(error, 'INVALID_INPUT');
}

/** @throws RailheadError FORBIDDEN (`clock`) when this machine's time is not the centre's */
async function checkClock(server: string, ca: string): Promise<void> {
  const there = await fetchTime(server, ca);
  const offMs = Date.now() - there;
  if (Math.abs(offMs) <= clockToleranceMs) return;
  const [here, centre] = [Date.now(), there].map((time) => new Date(time).toISOString());
  const message = `this machine's time is ${here}, the centre's ${centre}: set the clock`;
  throw new RailheadError('FORBIDDEN', message, { reason: 'clock', offSeconds: Math.round(offMs / 1000) });
}

/** A site's id says that it is one; every other identity is a node's. */
function roleOf(nodeId: string): Identity['role'] {
  return new RegExp(idPattern('site')).test(nodeId) ? 'site' : 'node';
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (!isENOENT(error)) throw error;
    throw new RailheadError(
      'INVALID_STATE',
      `there is no token in ${file}, and this machine has not joined: make a new join token`,
      { path: file, reason: 'no-token' },
    );
  }
}

async function trustedKeys(server: string, options: JoinOptions): Promise<PinnedKeys> {
  const document = await fetchWellKnown(server);
  const installed = await installedEncryptionKey(options.tokenFile);
  if (installed === undefined) return pinnedKeys(document, options);
  const older = document.older && { ...document.older, joinEncryptionKeys: [] };
  return pinnedKeys({ ...document, joinEncryptionKey: installed, ...(older && { older }) }, options);
}

/** `join-encryption.jwk` beside the token, which a deploy installs, wins over the centre's document; the pin holds for both. */
async function installedEncryptionKey(tokenFile: string): Promise<OkpJwk | undefined> {
  try {
    const text = await readFile(path.join(path.dirname(tokenFile), 'join-encryption.jwk'), 'utf8');
    return validate(OkpJwk, JSON.parse(text), 'INVALID_CONFIG');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

/** What only matters until the identity is on disk goes away. */
async function settle(options: JoinOptions, identity: PublicIdentity): Promise<PublicIdentity> {
  await forgetPendingKeys(options.stateDirectory);
  await removeToken(options.tokenFile);
  return identity;
}

async function removeToken(file: string): Promise<void> {
  try {
    await rm(file);
  } catch (error) {
    if (isENOENT(error)) return;
    throw error;
  }
  await syncDirectory(path.dirname(file));
}

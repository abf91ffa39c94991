import type { KeyObject } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { CompactEncrypt } from 'jose';
import { syncDirectory } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { version } from '#base/version.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { idPattern } from '#contract/ids.ts';
import { OkpJwk, type Pins } from '#contract/join.ts';
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
 * its own, and an answer signed by a pinned key. The token file is removed at the end. Joined already as `nodeId`: does nothing, unless the
 * centre has revoked that identity since and there is a new token. What is refused leaves nothing on disk.
 * @throws RailheadError FORBIDDEN (`details.reason`: `pin`, `other-identity`, `clock`, `certificate`, `signature`), UNAVAILABLE, INVALID_STATE,
 *   or what the centre answered (UNAUTHENTICATED: `unknown`, `expired`, `used`, `revoked`, `other-identity`)
 */
export async function join(options: JoinOptions): Promise<PublicIdentity> {
  const present = await findJoined(options.stateDirectory);
  if (present !== undefined && present.nodeId !== options.nodeId)
    throw otherIdentity(options.nodeId, present.nodeId);
  if (present !== undefined && present.revoked === undefined) return settle(options, present);
  const token = await readToken(options.tokenFile);
  const server = options.server.replace(/\/+$/, '');
  const centre = await trustedKeys(server, options);
  await checkClock(server, centre.servingCa);
  const identity = await admitted(server, centre, token, options);
  await writeIdentity(options.stateDirectory, identity);
  return settle(options, publicPart(identity));
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
  const message = {
    protocol: protocolVersion,
    role,
    nodeId,
    token: await seal(token, publicKeyFromJwk(centre.joinEncryptionKey)),
    csr: await certificateRequest(keys.privateKey, nodeId),
    sealingKey: sealingJwk(keys),
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
    ...(await openAdmission(answer, signingKeys, { nodeId, privateKey })),
  };
}

function isRefusal(error: unknown): boolean {
  return (['UNAUTHENTICATED', 'INVALID_INPUT', 'FORBIDDEN'] as const).some((code) => hasCode(error, code));
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

function seal(token: string, key: KeyObject): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(token))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
    .encrypt(key);
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

import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { CompactEncrypt } from 'jose';
import { syncDirectory } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import { version } from '#base/version.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import { idPattern } from '#contract/ids.ts';
import { JoinResponse, OkpJwk, type Pins, type WellKnown } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import { fetchWellKnown, postJoin } from './centre.ts';
import { findIdentity, type Identity, writeIdentity } from './identity.ts';
import { certificateRequest, forgetPendingKeys, pendingKeys, sealingJwk } from './ownKeys.ts';
import { checkPins } from './pins.ts';

export interface JoinOptions extends Pins {
  /** Base URL of the centre. */
  server: string;
  tokenFile: string;
  nodeId: string;
  stateDirectory: string;
}

/**
 * Joins the centre once and keeps the identity that it gave: three pins, a token sealed to a pinned key, a key of its own,
 * and an answer signed by a pinned key. The token file is removed at the end. Joined already as `nodeId`: does nothing.
 * @throws RailheadError FORBIDDEN (`details.reason`: `pin`, `other-identity`, `clock`, `certificate`), UNAVAILABLE, INVALID_STATE, or what the centre answered
 */
export async function join(options: JoinOptions): Promise<Identity> {
  const server = options.server.replace(/\/+$/, '');
  const present = await findIdentity(options.stateDirectory);
  if (present !== undefined) return settle(options, sameIdentity(present, options.nodeId));
  const token = await readToken(options.tokenFile);
  const document = await trustedDocument(server, options);
  const keys = await pendingKeys(options.stateDirectory);
  const answer = await postJoin(server, document.servingCa, {
    protocol: protocolVersion,
    role: roleOf(options.nodeId),
    nodeId: options.nodeId,
    token: await seal(token, publicKeyFromJwk(document.joinEncryptionKey)),
    csr: await certificateRequest(keys.privateKey, options.nodeId),
    sealingKey: sealingJwk(keys),
    version,
  });
  const response = await openAnswer(answer, document.joinSigningKey);
  checkResponse(response, options.nodeId, keys.privateKey);
  const { role, nodeId, certificate, ca, expiresAt } = response;
  const signingKey = document.joinSigningKey;
  const identity = { role, nodeId, server, ...keys, certificate, ca, signingKey, expiresAt };
  await writeIdentity(options.stateDirectory, identity);
  return settle(options, identity);
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

async function trustedDocument(server: string, options: JoinOptions): Promise<WellKnown> {
  const document = await fetchWellKnown(server);
  const installed = await installedEncryptionKey(options.tokenFile);
  const believed = installed === undefined ? document : { ...document, joinEncryptionKey: installed };
  checkPins(believed, options);
  return believed;
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

async function openAnswer(jws: string, signingKey: OkpJwk): Promise<JoinResponse> {
  const document = await verifyDocument('railhead-join-response', jws, publicKeyFromJwk(signingKey)).catch(
    (error) => {
      throw new RailheadError(
        'FORBIDDEN',
        "the join answer is not signed by the pinned key: another server answered in the centre's place",
        { reason: 'signature' },
        error,
      );
    },
  );
  return validate(JoinResponse, document, 'FORBIDDEN');
}

function checkResponse(response: JoinResponse, nodeId: string, privateKey: string): void {
  if (response.nodeId !== nodeId) throw otherIdentity(nodeId, response.nodeId);
  const certificate = new X509Certificate(response.certificate);
  if (!certificate.publicKey.equals(createPublicKey(privateKey)))
    throw new RailheadError('FORBIDDEN', 'the certificate in the join answer is for another key', {
      reason: 'other-key',
    });
  const now = Date.now();
  if (now < certificate.validFromDate.getTime() || now > certificate.validToDate.getTime())
    throw new RailheadError(
      'FORBIDDEN',
      `the new certificate is valid from ${certificate.validFromDate.toISOString()}, this machine's time is ${new Date(now).toISOString()}: set the clock`,
      { reason: 'clock' },
    );
}

function sameIdentity(identity: Identity, nodeId: string): Identity {
  if (identity.nodeId === nodeId) return identity;
  throw otherIdentity(nodeId, identity.nodeId);
}

function otherIdentity(asked: string, found: string): RailheadError {
  return new RailheadError(
    'FORBIDDEN',
    `this is ${found}, not ${asked}: an identity is not changed by joining again`,
    { reason: 'other-identity', expected: asked, found },
  );
}

/** What only matters until the identity is on disk goes away. */
async function settle(options: JoinOptions, identity: Identity): Promise<Identity> {
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

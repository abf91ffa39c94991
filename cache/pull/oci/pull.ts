import { request } from 'undici';
import { RailheadError } from '#contract/errors.ts';
import { type OciReference, parseOciSource, registryUrl } from '#contract/ociReference.ts';
import type { Authorizer } from '../authorizer.ts';
import { type PullOptions, type PullTarget, pullFromUrl } from '../https.ts';
import { publicPart } from '../redirects.ts';
import { manifestTypes, readManifest } from './manifest.ts';
import { registryAuthorizer } from './registryAuthorizer.ts';

/** The specification's least that registries must take: 4 MiB. */
const manifestLimit = 4 * 1024 * 1024;
/** An index of more is not looked through. */
const manifestsLimit = 32;

/**
 * Pulls an artifact from a registry (OCI distribution specification 1.1). The catalog's digest is that of the artifact as stored, and
 * by it registries address their blobs: so the blob is asked for at once, whatever the tag says today. Only when the registry does
 * not have it is the manifest looked at, to tell why.
 * @throws as pullHttps; DRIVER_ERROR `not-in-artifact` when the reference leads to other blobs
 */
export async function pullOci(
  source: string,
  digest: string,
  target: PullTarget,
  options: PullOptions,
): Promise<{ contentType?: string }> {
  const reference = parseOciSource(source);
  const authorizer = registryAuthorizer(reference.registry, options.dispatcher);
  try {
    await pullFromUrl(registryUrl(reference, 'blobs', `sha256:${digest}`), authorizer, target, options);
    // Registries give every blob the same media type, so it says nothing.
    return {};
  } catch (error) {
    if (!(error instanceof RailheadError) || error.details.status !== 404) throw error;
    throw (await otherBlobs(reference, digest, authorizer, options)) ?? error;
  }
}

/** The error when the reference exists and lists other blobs; undefined when it says nothing of use. */
async function otherBlobs(
  reference: OciReference,
  digest: string,
  authorizer: Authorizer,
  options: PullOptions,
): Promise<RailheadError | undefined> {
  const blobs = await listedBlobs(reference, authorizer, options).catch(() => undefined);
  if (blobs === undefined || blobs.length === 0) return undefined;
  const source = publicPart(registryUrl(reference, 'manifests', reference.reference));
  return new RailheadError(
    'DRIVER_ERROR',
    `${source} does not hold sha256:${digest}: push the artifact again, or register the image by its new digest`,
    { reason: 'not-in-artifact', source, expected: digest, found: blobs.slice(0, 16) },
  );
}

async function listedBlobs(
  reference: OciReference,
  authorizer: Authorizer,
  options: PullOptions,
): Promise<string[] | undefined> {
  const top = await manifest(reference, reference.reference, authorizer, options);
  if (top === undefined) return undefined;
  const blobs = [...top.blobs];
  for (const digest of top.manifests.slice(0, manifestsLimit))
    blobs.push(...((await manifest(reference, digest, authorizer, options))?.blobs ?? []));
  return blobs;
}

async function manifest(
  reference: OciReference,
  name: string,
  authorizer: Authorizer,
  { dispatcher, signal }: PullOptions,
) {
  const url = registryUrl(reference, 'manifests', name);
  const headers = { accept: manifestTypes, ...authorizer.headersFor(url) };
  const { statusCode, body } = await request(url, { dispatcher, signal, headers });
  if (statusCode !== 200) return void (await body.dump());
  let text = '';
  for await (const part of body) {
    text += String(part);
    if (text.length > manifestLimit) return undefined;
  }
  return readManifest(text);
}

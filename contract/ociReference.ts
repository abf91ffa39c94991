import { RailheadError } from './errors.ts';

/** Where an artifact lies in a registry. */
export interface OciReference {
  /** `https://registry.example.com[:port]`, with the user and password of the source's URL if it has any. */
  registry: URL;
  /** `team/images/ubuntu`. */
  repository: string;
  /** A tag, or the digest (`sha256:…`) of a manifest. */
  reference: string;
}

/** OCI distribution specification 1.1, "Pull": names of repositories and of tags. */
const repositoryPattern =
  /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

/**
 * Reads `oci://registry[:port]/repository[:tag][@sha256:…]`; without either the tag is `latest`, and a digest counts more than a tag.
 * Registries are asked over https only.
 * @throws RailheadError INVALID_INPUT, `reason` scheme or reference
 */
export function parseOciSource(source: string): OciReference {
  const url = URL.canParse(source) ? new URL(source) : undefined;
  if (url?.protocol !== 'oci:') throw invalid('scheme', 'it must begin with oci://');
  if (url.host === '' || url.search !== '' || url.hash !== '' || !URL.canParse(`https://${url.host}/`))
    throw invalid('reference', 'it names no registry');
  const match = /^\/([^:@]+)(?::([^@]+))?(?:@(.+))?$/.exec(url.pathname);
  const [, repository = '', tag, digest] = match ?? [];
  if (!repositoryPattern.test(repository)) throw invalid('reference', 'it names no repository');
  if (tag !== undefined && !tagPattern.test(tag)) throw invalid('reference', `${tag} is no tag`);
  if (digest !== undefined && !digestPattern.test(digest))
    throw invalid('reference', `${digest} is no sha256 digest`);
  return { registry: registryOf(url), repository, reference: digest ?? tag ?? 'latest' };
}

function registryOf(url: URL): URL {
  const registry = new URL(`https://${url.host}/`);
  registry.username = url.username;
  registry.password = url.password;
  return registry;
}

/** The URL of a blob or a manifest of the repository. */
export function registryUrl(
  { registry, repository }: OciReference,
  kind: 'blobs' | 'manifests',
  name: string,
): URL {
  return new URL(`/v2/${repository}/${kind}/${name}`, registry);
}

function invalid(reason: string, why: string): RailheadError {
  const form = 'oci://registry/repository:tag or oci://registry/repository@sha256:…';
  return new RailheadError('INVALID_INPUT', `not an OCI source, ${why}: write ${form}`, {
    path: 'source',
    reason,
  });
}

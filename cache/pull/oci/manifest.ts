/** What a manifest or an index of the registry lists, by digest (`sha256:…`). */
export interface Listed {
  /** Blobs: layers of a manifest, blobs of an artifact manifest. */
  blobs: string[];
  /** Manifests of an index (a manifest list). */
  manifests: string[];
}

/** Every form in which an artifact may be listed: OCI image and index, ORAS artifact, Docker's two. */
export const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.artifact.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

/** Reads a manifest of any of these forms; what is no digest is left out. Never throws. */
export function readManifest(text: string): Listed {
  const { layers, blobs, manifests } = parsed(text);
  return { blobs: [...digests(layers), ...digests(blobs)], manifests: digests(manifests) };
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function digests(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [];
  return list
    .map((entry: unknown) => (entry as { digest?: unknown } | null)?.digest)
    .filter((digest): digest is string => typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest));
}

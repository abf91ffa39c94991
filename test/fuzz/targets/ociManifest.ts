import { readManifest } from '#cache/pull/oci/manifest.ts';
import { json, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const digest = `sha256:${'ab'.repeat(32)}`;

/** A registry's manifest or index. */
export const target: FuzzTarget = {
  seeds: [
    json({ schemaVersion: 2, layers: [{ mediaType: 'x', digest, size: 5 }], config: { digest } }),
    json({ manifests: [{ digest, platform: { architecture: 'amd64' } }] }),
    json({ blobs: [null, 5, { digest: 5 }, { digest: `${digest}0` }], layers: {} }),
    text('[]'),
  ],
  longest: 1 << 20,
  run: (input) => readManifest(input.toString('utf8')),
};

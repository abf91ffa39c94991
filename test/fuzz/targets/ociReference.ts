import assert from 'node:assert/strict';
import { parseOciSource, registryUrl } from '#contract/ociReference.ts';
import { isRailheadError, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** `oci://…`: a reference whose URLs go to its own registry, or a refusal. */
export const target: FuzzTarget = {
  seeds: [
    'oci://registry.example.com/team/images/ubuntu:24.04',
    `oci://user:secret@localhost:5000/a@sha256:${'ab'.repeat(32)}`,
    'oci://[fd00::1]:5000/a/b-c__d:latest',
    'oci://host/../v2/x',
    'https://host/x',
  ].map(text),
  longest: 4096,
  run(input) {
    const reference = parseOciSource(input.toString('utf8'));
    const url = registryUrl(reference, 'manifests', reference.reference);
    assert.equal(url.host, reference.registry.host);
    assert(url.pathname.startsWith('/v2/'));
  },
  declares: isRailheadError,
};

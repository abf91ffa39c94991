import { parseChallenge } from '#cache/pull/oci/challenge.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** WWW-Authenticate of a registry. */
export const target: FuzzTarget = {
  seeds: [
    'Bearer realm="https://auth.example.com/token",service="registry",scope="repository:a/b:pull"',
    'Basic realm="x", Bearer realm=https://a/,scope="a\\"b"',
    'basic',
    'Negotiate abc=, bearer  realm = "x"',
  ].map(text),
  longest: 16_384,
  run: (input) => parseChallenge(input.toString('latin1')),
};

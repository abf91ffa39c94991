import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mac, prepared, setUpBench } from '../bench/bench.ts';
import { fetchScript, newMachine, tokenIn } from '../bench/scriptedMachine.ts';

/** What can be done to a good message: a field gone, or any JSON in its place. */
const damage = fc.tuple(
  fc.constantFrom(
    'protocol',
    'token',
    'mac',
    'bootId',
    'signingKey',
    'sealingKey',
    'version',
    'proof',
    'more',
  ),
  fc.oneof(
    fc.constant(undefined),
    fc.jsonValue(),
    fc.record({ kty: fc.constant('OKP'), crv: fc.constantFrom('Ed25519', 'X25519'), x: fc.string() }),
  ),
);

test('no join message makes the site fail in a way of its own', async () => {
  const bench = await prepared(await setUpBench());
  const machine = await newMachine(bench);
  const good = await machine.message(tokenIn(await fetchScript(bench, mac)), mac);
  await fc.assert(
    fc.asyncProperty(damage, async ([field, value]) => {
      const joining = machine.client.post('/v1/join', { ...good, [field]: value });
      const outcome = await joining.then(
        () => 'joined',
        (error) => error.code,
      );
      expect(outcome).toBeOneOf(['joined', 'INVALID_INPUT', 'UNSUPPORTED', 'UNAUTHENTICATED', 'FORBIDDEN']);
    }),
    { numRuns: 100 },
  );
});

test('no body makes the other routes fail in a way of their own', async () => {
  const bench = await prepared(await setUpBench());
  const machine = await newMachine(bench);
  const { session } = await machine.join(tokenIn(await fetchScript(bench, mac)), mac);
  const routes = fc.constantFrom('/v1/token', '/v1/machine/report', '/v1/machine/poll');
  await fc.assert(
    fc.asyncProperty(routes, fc.jsonValue(), async (route, body) => {
      const code = await machine.client.post(route, body, { session }).catch((error) => error.code);
      expect(code).toBeOneOf(['INVALID_INPUT', 'NOT_FOUND', 'FORBIDDEN']);
    }),
    { numRuns: 100 },
  );
});

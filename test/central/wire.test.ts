import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSealer } from '#base/sealing.ts';
import { identityInNames } from '#central/agents/identity.ts';
import { ReportedEvent, ReportedResult, wellFormed } from '#central/agents/reportSchema.ts';
import { decodeCursor, encodeCursor } from '#central/api/cursor.ts';
import { isGranted, parseGrant, tenantScopes } from '#central/api/grants.ts';
import { RailheadError } from '#contract/errors.ts';

test.each([
  ['URI:urn:railhead:site:site_01', { role: 'site', id: 'site_01' }],
  ['URI:urn:railhead:node:node-1, IP Address:10.0.0.1', { role: 'node', id: 'node-1' }],
  ['DNS:example.com', undefined],
  ['URI:urn:railhead:central', undefined],
  ['URI:urn:railhead:site:a, URI:urn:railhead:site:b', undefined],
  ['DNS:"URI:urn:railhead:site:a, x"', undefined],
  ['', undefined],
])('the identity in the names %j', (names, identity) => {
  expect(identityInNames(names)).toEqual(identity);
});

test('no report item makes the check throw, and only well-formed ones pass', () => {
  fc.assert(
    fc.property(fc.array(fc.anything()), (items) => {
      for (const schema of [ReportedEvent, ReportedResult]) {
        const { good, bad } = wellFormed(schema, items);
        expect(good.length + bad.length).toBe(items.length);
      }
    }),
  );
});

test('a cursor goes round, and nothing else is one', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer(), (text, number) => {
      expect(decodeCursor(encodeCursor([text, number]), 'string', 'number')).toEqual([text, number]);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => decodeCursor(text, 'string', 'number')).toThrow(RailheadError);
    }),
  );
});

test.each([
  ['compute:images:read@compute-tenant:acme', 'compute:images:read', true],
  ['compute:images:*@compute-tenant:acme', 'compute:images:read', true],
  ['compute:*@compute-fleet:*', 'compute:images:read', true],
  ['compute:*@compute-tenant:*', 'compute:images:read', true],
  ['compute:images:read@compute-tenant:other', 'compute:images:read', false],
  ['compute:images:read@compute-tenant:acme', 'compute:images:publish', false],
  ['compute:images:read@compute-image:acme', 'compute:images:read', false],
])('the grant %s for %s at tenant acme: %s', (grant, action, allowed) => {
  expect(isGranted([parseGrant(grant)], action, tenantScopes('acme'))).toBe(allowed);
});

test.each([
  '',
  'compute:*',
  'images:read@compute-tenant:a',
  'compute:images:read@moon:a',
  'compute:im*@compute-tenant:a',
])('what is no grant is refused: %j', (text) => {
  expect(() => parseGrant(text)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
});

test('sealed bytes open with their key only, and only unchanged', () => {
  const sealer = openSealer(Buffer.alloc(32, 1));
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(), (text, position) => {
      const sealed = sealer.seal(text);
      expect(sealer.open(sealed)).toBe(Buffer.from(text).toString());
      expect(() => openSealer(Buffer.alloc(32, 2)).open(sealed)).toThrow();
      sealed.writeUInt8(sealed.readUInt8(position % sealed.length) ^ 1, position % sealed.length);
      expect(() => sealer.open(sealed)).toThrow();
    }),
  );
});

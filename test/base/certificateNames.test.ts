import { expect, test } from 'vitest';
import { checkCentre } from '#agent/join/centreIdentity.ts';
import { uriNames } from '#base/certificateNames.ts';
import { identityInNames } from '#central/agents/identity.ts';

const pretending = 'URI:"http://a/, URI:urn:railhead:central", DNS:"x, URI:urn:railhead:site:b"';

test('the URIs among the names of a certificate', () => {
  expect(uriNames('DNS:a.example, URI:urn:railhead:site:b, IP Address:10.0.0.1, URI:urn:c')).toEqual([
    'urn:railhead:site:b',
    'urn:c',
  ]);
  expect(uriNames(undefined)).toEqual([]);
});

test('a name that pretends to be several by its commas is none, for a centre and for an agent', () => {
  expect(uriNames(pretending)).toEqual([]);
  expect(checkCentre('', { subjectaltname: pretending } as never)).toBeInstanceOf(Error);
  expect(identityInNames(pretending)).toBeUndefined();
});

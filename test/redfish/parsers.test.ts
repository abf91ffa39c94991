import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ifMatchForms, ifMatchHeader, tagOf } from '#redfish/entityTag.ts';
import { type Json, parseBody } from '#redfish/json.ts';
import { messagesOf, says, saysOf } from '#redfish/messages.ts';
import { retryAfterCapMs, retryAfterLeastMs, retryAfterMs } from '#redfish/retryAfter.ts';
import { vendorOf } from '#redfish/vendors/index.ts';
import { factsOf } from '#redfish/vendors/vendor.ts';
import { plainSystem, recorded } from './bmcBench.ts';

describe('nothing that a BMC sends is thrown at', () => {
  test('bodies of any text', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseBody(text)));
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseBody(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('messages in any JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => void messagesOf(body as Json)));
    fc.assert(
      fc.property(fc.jsonValue(), (info) => {
        const body = { error: { '@Message.ExtendedInfo': info } } as Json;
        for (const message of messagesOf(body)) expect(typeof message.id).toBe('string');
      }),
    );
  });

  test('Retry-After of any text is within its bounds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer().map(String)), (header) => {
        const wait = retryAfterMs(header, 0) ?? retryAfterLeastMs;
        expect(wait >= retryAfterLeastMs && wait <= retryAfterCapMs).toBe(true);
      }),
    );
  });

  test('facts of any root and system', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (any) => {
        expect(vendorOf(factsOf(any as never, any as never)).name).toBeDefined();
      }),
    );
  });
});

test('messages are found in the error, at the top, alone, or as the error code only', () => {
  const info = {
    MessageId: 'Base.1.12.PropertyMissing',
    Message: 'm',
    MessageArgs: ['A'],
    RelatedProperties: ['#/B'],
  };
  const message = { id: 'Base.1.12.PropertyMissing', text: 'm', args: ['A'], related: ['#/B'] };
  expect(messagesOf({ error: { '@Message.ExtendedInfo': [info] } })).toEqual([message]);
  expect(messagesOf({ '@Message.ExtendedInfo': info })).toEqual([message]);
  expect(messagesOf({ error: { code: 'Base.1.0.GeneralError', message: 'x' } })).toMatchObject([
    { id: 'Base.1.0.GeneralError' },
  ]);
  expect(messagesOf(undefined)).toEqual([]);
});

test('a message is known by its last part, whatever registry and version, and by the property it is about', () => {
  const messages = messagesOf({
    error: { '@Message.ExtendedInfo': [{ MessageId: 'iLO.2.14.PropertyUnknown', MessageArgs: ['Boot/X'] }] },
  });
  expect(says(messages, 'PropertyUnknown')).toBe(true);
  expect(says(messages, 'Unknown')).toBe(false);
  expect(saysOf(messages, 'Boot/X', 'PropertyUnknown')).toBe(true);
  expect(saysOf(messages, 'Boot/Y', 'PropertyUnknown')).toBe(false);
});

test.each([
  ['2', 2000],
  ['0', 1000],
  ['Thu, 01 Jan 1970 00:00:03 GMT', 3000],
  ['Wed, 31 Dec 1969 23:59:00 GMT', 1000],
  ['99999999', 60_000],
  ['-1', undefined],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %s at the epoch is %s ms', (header, expected) => {
  expect(retryAfterMs(header, 0)).toBe(expected);
});

test('at most four forms of If-Match are tried, the one that worked first', () => {
  expect(ifMatchForms('"a"', undefined)).toEqual(['as-given', 'as-given', 'loosened', 'any']);
  expect(ifMatchForms('"a"', 'loosened')).toEqual(['loosened', 'as-given', 'as-given', 'any']);
  expect(ifMatchForms(undefined, undefined)).toEqual(['none', 'any']);
  expect(ifMatchHeader('loosened', 'W/"7"')).toEqual({ 'if-match': '"7"' });
  expect(ifMatchHeader('any', undefined)).toEqual({ 'if-match': '*' });
  expect(tagOf('', 'W/"7"')).toBe('W/"7"');
});

test.each([
  ['dell/system', 'dell'],
  ['hpe/system', 'hpe'],
  ['supermicro/system', 'supermicro'],
  ['ami/system', 'ami'],
  ['lenovo/system', 'lenovo'],
  ['fujitsu/system', 'fujitsu'],
  ['nvidia/system', 'nvidia'],
] as const)('%s is recognised as %s', (fixture, name) => {
  expect(vendorOf(factsOf({}, recorded(fixture))).name).toBe(name);
});

test('a BMC is recognised by its firmware: iLO 4 is none of the later ones', () => {
  expect(vendorOf(factsOf(recorded('ilo4/root'), recorded('ilo4/system'))).name).toBe('ilo4');
  expect(vendorOf(factsOf(recorded('hpe/root'), recorded('hpe/system'))).name).toBe('hpe');
  expect(factsOf(recorded('hpe/root'), recorded('hpe/system')).firmwareVersion).toBe('iLO 5 2.44');
});

test('a BMC is recognised by its service root too, and a virtual one as generic', () => {
  expect(vendorOf(factsOf(recorded('openbmc/root'), recorded('openbmc/system'))).name).toBe('openbmc');
  expect(vendorOf(factsOf({ Vendor: 'HPE' }, plainSystem)).name).toBe('hpe');
  expect(vendorOf(factsOf({ Oem: { Supermicro: {} } }, plainSystem)).name).toBe('supermicro');
  expect(vendorOf(factsOf({}, plainSystem)).name).toBe('generic');
});

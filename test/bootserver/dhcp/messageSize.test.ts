import { expect, test } from 'vitest';
import { fitted } from '#bootserver/dhcp/messageSize.ts';
import { encodePacket } from '#bootserver/dhcp/packet.ts';
import { Bench } from './bench.ts';
import { clientMessage, discover } from './samples.ts';

const long = (length: number) => 'aa'.repeat(length);
/** Boot file, host name, search list and an option of the operator's. */
const reply = clientMessage({ bootFile: 'snponly.efi', hostname: 'm1' }, { 119: long(150), 200: long(200) });

test('a reply that fits is sent as it is', () => {
  const small = clientMessage({ hostname: 'm1' });
  expect(fitted(small, discover())).toEqual({ reply: small, leftOut: [] });
});

test('a client that says nothing takes 576 bytes: what the operator added goes first, then what it can do without', () => {
  const { reply: sent, leftOut } = fitted(reply, discover());
  expect(leftOut).toEqual([200]);
  expect(encodePacket(sent).length).toBeLessThanOrEqual(548);
  const longer = clientMessage({ bootFile: 'x' }, { 119: long(330), 200: long(200) });
  expect(fitted(longer, discover()).leftOut).toEqual([200, 119]);
});

test('a client that takes more gets more, up to a frame', () => {
  expect(fitted(reply, discover({ maximumSize: 1472 })).leftOut).toEqual([]);
  const huge = clientMessage({ bootFile: 'x' }, { 119: long(400), 200: long(1000) });
  expect(fitted(huge, discover({ maximumSize: 65_535 })).leftOut).toEqual([200]);
});

test('no client takes less than 576, whatever it says', () => {
  const small = clientMessage({ hostname: 'm1' }, { 119: long(150) });
  expect(fitted(small, discover({ maximumSize: 100 })).leftOut).toEqual([]);
});

test('boot file and relay information stay, also when they alone are too long', () => {
  const { reply: sent } = fitted(clientMessage({ bootFile: 'x' }, { 82: long(600) }), discover());
  expect([...sent.options.keys()].toSorted()).toEqual([67, 82]);
});

test('a client identifier that is too long is not sent back, and a long one only where there is room', () => {
  const bench = new Bench();
  const replyTo = (length: number) =>
    bench.reply(discover({ clientId: Buffer.alloc(length, 1) }, { 82: long(255) }));
  expect([...replyTo(60_000).options.keys()]).not.toContain(61);
  const full = replyTo(255);
  expect([...full.options.keys()]).toContain(82);
  expect(encodePacket(full).length).toBeLessThanOrEqual(548);
});

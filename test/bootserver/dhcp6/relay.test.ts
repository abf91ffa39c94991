import { expect, test } from 'vitest';
import { decodeMessage, encodeMessage, messageType, type RelayMessage } from '#bootserver/dhcp6/message.ts';
import { type OptionValues, readOption, writeOptions } from '#bootserver/dhcp6/options.ts';
import { answersAtSource, relayedMac, unwrap, wrap } from '#bootserver/dhcp6/relay.ts';
import { Bench6, client, linkLocal, mac, told } from './bench.ts';

function relay(inner: Buffer, linkAddress: string, peerAddress: string, values: OptionValues = {}): Buffer {
  const options = writeOptions({ ...values, relayMessage: inner });
  return encodeMessage({ type: messageType.relayForward, hopCount: 0, linkAddress, peerAddress, options });
}

function relaysOf(bytes: Buffer): RelayMessage[] {
  const relayed = unwrap(bytes);
  if ('malformed' in relayed) throw new Error(relayed.malformed);
  return relayed.relays;
}

const solicit = encodeMessage(client('solicit'));
const interfaceId = Buffer.from('eth7');

test('a client behind two relays gets an address of its link, in both envelopes, each with its interface-id', () => {
  const inner = relay(solicit, '::', linkLocal, { interfaceId });
  const outer = relay(inner, 'fd78::1', 'fe80::9', { interfaceId: Buffer.from('trunk') });
  const bench = new Bench6();
  const decision = bench.ask(outer, 'fd78::1');
  if (decision.kind === 'silent') throw new Error(decision.reason);
  expect(told(decision.reply)).toEqual([expect.stringMatching(/^fd78::1[01] 600$/)]);

  const first = decodeMessage(wrap(decision.reply, relaysOf(outer))) as RelayMessage;
  expect(first).toMatchObject({ type: 13, linkAddress: 'fd78::1', peerAddress: 'fe80::9' });
  expect(readOption(first.options, 'interfaceId')?.toString()).toBe('trunk');
  const second = decodeMessage(readOption(first.options, 'relayMessage')!) as RelayMessage;
  expect(second).toMatchObject({ type: 13, linkAddress: '::', peerAddress: linkLocal });
  expect(readOption(second.options, 'interfaceId')).toEqual(interfaceId);
  expect(decodeMessage(readOption(second.options, 'relayMessage')!)).toEqual(decision.reply);
});

test('a relay on a switch that names no link leaves the client on the interface’s own', () => {
  const decision = new Bench6().ask(relay(solicit, '::', linkLocal), 'fe80::9');
  expect(decision).toMatchObject({ addresses: [expect.stringMatching(/^fd77::/)] });
});

test('a link that is not served here gets no answer', () => {
  const decision = new Bench6().ask(relay(solicit, 'fd99::1', linkLocal), 'fd99::1');
  expect(decision).toMatchObject({ kind: 'silent', reason: expect.stringContaining('fd99::1') });
});

test('the relay’s word for the client’s MAC (RFC 6939) goes before the client’s address', () => {
  const clientLinkLayer = Buffer.from('0001020000000009', 'hex');
  expect(relayedMac(relaysOf(relay(solicit, 'fd78::1', linkLocal, { clientLinkLayer })))).toBe(
    '02:00:00:00:00:09',
  );
  expect(relayedMac(relaysOf(relay(solicit, 'fd78::1', linkLocal)))).toBe(mac);
});

test('options that a relay wants back come back (RFC 4994), its source port too (RFC 8357)', () => {
  const bytes = relay(solicit, 'fd78::1', linkLocal, { echoRequest: [37], relaySourcePort: [0] });
  const [outer] = relaysOf(bytes);
  const withRemoteId = { ...outer!, options: [...outer!.options, { code: 37, value: Buffer.from('id') }] };
  const reply = decodeMessage(wrap(client('reply'), [withRemoteId])) as RelayMessage;
  expect(reply.options.map(({ code }) => code)).toEqual([135, 37, 9]);
  expect(answersAtSource([outer!])).toBe(true);
});

test('an envelope without a message, and more than eight of them, are no requests', () => {
  const empty = encodeMessage({
    ...{ type: messageType.relayForward, hopCount: 0, linkAddress: '::', peerAddress: '::' },
    options: [],
  });
  const deep = Array.from({ length: 9 }).reduce<Buffer>((inner) => relay(inner, '::', '::'), solicit);
  for (const bytes of [empty, deep]) expect(unwrap(bytes)).toEqual({ malformed: 'relay' });
});

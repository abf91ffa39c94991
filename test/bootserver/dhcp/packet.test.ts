import { assert, constantFrom, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { type DhcpPacket, decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { readDatagrams } from '../pcap.ts';
import { clientMessage, clients, discover } from './samples.ts';

function decoded(bytes: Buffer): DhcpPacket {
  const packet = decodePacket(bytes);
  if ('malformed' in packet) throw new Error(packet.malformed);
  return packet;
}

function withOptionBytes(hex: string): Buffer {
  return Buffer.concat([encodePacket(discover()).subarray(0, 240), Buffer.from(hex, 'hex')]);
}

test('a message has at least 300 bytes, zeros after the end option', () => {
  const bytes = encodePacket(discover());
  expect(bytes.length).toBe(300);
  expect(bytes.subarray(240).toString('hex')).toMatch(/^350101ff(00)+$/);
});

test('message type comes first, relay information last, the rest by number, no padding between', () => {
  const packet = clientMessage({ relayAgent: Buffer.from([1, 1, 9]), site: 'x', subnetMask: '255.0.0.0' });
  packet.options.set(53, Buffer.from([2]));
  const bytes = encodePacket(packet);
  expect(bytes.subarray(240, 261).toString('hex')).toBe(
    ['350102', '0104ff000000', 'e00178', '5203010109', 'ff', '000000'].join(''),
  );
});

test('a value over 255 bytes is split and joined again', () => {
  const value = Buffer.alloc(600, 7);
  const packet = discover();
  packet.options.set(43, value);
  const bytes = encodePacket(packet);
  expect(bytes.filter((byte) => byte === 43)).toHaveLength(3);
  expect(decoded(bytes).options.get(43)).toEqual(value);
});

test('an empty option survives', () => {
  const packet = discover({}, { 80: '' });
  expect(decoded(encodePacket(packet)).options.get(80)).toEqual(Buffer.alloc(0));
});

test('unknown options pass through untouched', () => {
  const packet = discover({}, { 230: 'c0ffee', 128: '00' });
  expect(decoded(encodePacket(packet)).options).toEqual(packet.options);
});

test('pad bytes and a missing end option are accepted', () => {
  expect(decoded(withOptionBytes('00003501010000')).options.get(53)).toEqual(Buffer.from([1]));
});

test('what comes after the end option is not read', () => {
  expect(decoded(withOptionBytes('350101ff35ffff')).options.size).toBe(1);
});

test('options in overloaded fields are read, file before sname', () => {
  const bytes = Buffer.from(withOptionBytes('340103350101ff'));
  bytes.write('0c0141ff', 108, 'hex');
  bytes.write('0c0142ff', 44, 'hex');
  const packet = decoded(bytes);
  expect(packet.options.get(12)).toEqual(Buffer.from('AB'));
  expect(packet.options.has(52)).toBe(false);
  expect([packet.file, packet.sname]).toEqual(['', '']);
});

test('a file name that fills its field keeps its NUL', () => {
  const bytes = encodePacket(clientMessage({}, {}, { file: 'f'.repeat(200) }));
  expect(decoded(bytes).file).toBe('f'.repeat(127));
  expect(bytes.readUInt32BE(236)).toBe(0x63825363);
});

test.each([
  ['too-short', Buffer.alloc(239)],
  ['no-magic-cookie', Buffer.alloc(300)],
  ['option-overrun', withOptionBytes('3502')],
  ['option-overrun', withOptionBytes('35')],
])('%s is said of what is no message', (malformed, bytes) => {
  expect(decodePacket(bytes)).toEqual({ malformed });
});

test('no bytes make the parser or the classifier throw, and what is read is written back', () => {
  const seeds = ['p4-a-bios', 'p4-b-uefi-pxe', 'p4-c-uefi-http'].flatMap((name) =>
    readDatagrams(`test/fixtures/dhcp/${name}.pcap`).map(({ payload }) => payload),
  );
  assert(
    property(
      constantFrom(...seeds),
      uint8Array({ maxLength: 120 }),
      uint8Array({ maxLength: 4 }),
      (seed, tail, at) => {
        const bytes = Buffer.from(seed);
        for (const [index, byte] of at.entries()) bytes[(byte * 7 + index) % bytes.length] = byte;
        const mixed = Buffer.concat([bytes.subarray(0, 240 + (tail[0] ?? 0)), tail]);
        for (const candidate of [mixed, Buffer.from(tail)]) {
          const packet = decodePacket(candidate);
          if ('malformed' in packet) continue;
          clientFacts(packet);
          expect(decodePacket(encodePacket(packet))).toEqual(packet);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('the same options in another order give the same bytes', () => {
  const packet = discover({ hostname: 'a' }, clients.uefi64);
  const reversed = { ...packet, options: new Map([...packet.options].toReversed()) };
  expect(encodePacket(reversed)).toEqual(encodePacket(packet));
});

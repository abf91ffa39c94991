import { assert, integer, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, frameReader } from '#rack/trunk/frameStream.ts';
import { tagged, untagged, vlanOf } from '#rack/trunk/vlanTag.ts';

const addresses = Buffer.from('ffffffffffff525400770041', 'hex');
const frame = Buffer.concat([addresses, Buffer.from('0800', 'hex'), Buffer.from('an IPv4 packet')]);

test('a tag stands between the addresses and the type', () => {
  const onTheWire = tagged(frame, 42);
  expect(onTheWire.subarray(0, 18).toString('hex')).toBe(`${addresses.toString('hex')}8100002a0800`);
  expect(vlanOf(onTheWire)).toBe(42);
  expect(untagged(onTheWire)).toEqual(frame);
});

test('the VLAN is the low twelve bits; VLAN 0 is a priority of the network without a tag', () => {
  const withPriority = tagged(frame, 42 | (7 << 13));
  expect(vlanOf(withPriority)).toBe(42);
  expect(vlanOf(tagged(frame, 7 << 13))).toBeUndefined();
});

test.each([Buffer.alloc(0), addresses, frame])('no tag: no VLAN (%#)', (bytes) => {
  expect(vlanOf(bytes)).toBeUndefined();
});

test('frames come out of a stream as they went in, however it is cut', () => {
  assert(
    property(uint8Array({ maxLength: 3000 }), integer({ min: 1, max: 500 }), (bytes, piece) => {
      const sent = [Buffer.from(bytes), frame, Buffer.alloc(0), tagged(frame, 9)];
      const stream = Buffer.concat(sent.map(encodeFrame));
      const received: Buffer[] = [];
      const read = frameReader((each) => received.push(Buffer.from(each)));
      for (let at = 0; at < stream.length; at += piece) read(stream.subarray(at, at + piece));
      expect(received).toEqual(sent);
    }),
  );
});

test('a length that no frame has is refused', () => {
  const read = frameReader(() => {});
  expect(() => read(Buffer.from('ffffffff', 'hex'))).toThrow(RangeError);
});

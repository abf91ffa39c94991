import { describe, expect, test } from 'vitest';
import { type DhcpPacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { wholeImagePath } from '#bootserver/http/wholeImage.ts';
import type { LoaderChoice } from '#bootserver/machine.ts';
import { Bench, network, optionOf } from './bench.ts';
import { clients, discover, type RawOptions, rawOption, request } from './samples.ts';

function offerTo(raw: RawOptions, bench = new Bench()): DhcpPacket {
  return bench.reply(discover({}, raw));
}

/** All that concerns booting. */
function bootPart(packet: DhcpPacket) {
  const names = ['bootFile', 'vendorClass', 'vendorSpecific', 'site', 'machineId'] as const;
  return { file: packet.file, siaddr: packet.siaddr, options: names.map((name) => rawOption(packet, name)) };
}

const kinds = Object.keys(clients) as (keyof typeof clients)[];

test.each(kinds)('OFFER and ACK say the same to %s', (kind) => {
  const bench = new Bench();
  const offer = offerTo(clients[kind], bench);
  const ack = bench.reply(
    request({ serverId: network.address, requestedAddress: offer.yiaddr }, clients[kind]),
  );
  expect(bootPart(ack)).toEqual(bootPart(offer));
});

test.each(kinds)('to %s header and option 67 name one file, with a server beside it', (kind) => {
  const offer = offerTo(clients[kind]);
  expect(optionOf(offer, 'bootFile') ?? '').toBe(offer.file);
  expect(offer.siaddr).toBe(offer.file === '' ? '0.0.0.0' : network.address);
});

test.each(kinds)('the reply to %s has no overload, no menu, no host name in a URL', (kind) => {
  const offer = offerTo(clients[kind]);
  expect(offer.options.has(52)).toBe(false);
  expect(offer.options.has(43)).toBe(false);
  expect(offer.file).toMatch(/^$|^[a-z0-9.-]+$|^http:\/\/\d+\.\d+\.\d+\.\d+:\d+\/[^/]/);
});

describe('each kind of client', () => {
  test.each([
    ['bios', 'undionly.kpxe'],
    ['uefi64', 'snponly.efi'],
    ['arm64', 'ipxe-arm64.efi'],
    ['http64', 'http://10.77.0.1:8080/ipxe/ipxe-amd64.efi'],
    ['ipxeFull', 'http://10.77.0.1:8080/boot.ipxe'],
    ['ipxeOurs', 'http://10.77.0.1:8080/boot.ipxe'],
    ['ipxeBare', 'undionly.kpxe'],
    ['ramdisk', ''],
    ['os', ''],
  ] as const)('%s is given %j', (kind, file) => {
    expect(offerTo(clients[kind]).file).toBe(file);
  });

  test('a full offer to PXE firmware does not name a vendor class, which would send it to port 4011', () => {
    expect(rawOption(offerTo(clients.uefi64), 'vendorClass')).toBeUndefined();
    expect(rawOption(offerTo(clients.bios), 'vendorClass')).toBeUndefined();
  });

  test('an offer to HTTP firmware names its class', () => {
    expect(optionOf(offerTo(clients.http64), 'vendorClass')).toBe('HTTPClient');
  });

  test('the site’s URL is told to a ramdisk and to our own scripts', () => {
    for (const kind of ['ramdisk', 'ipxeOurs'] as const)
      expect(optionOf(offerTo(clients[kind]), 'site')).toBe('https://10.77.0.1:8443');
    for (const kind of kinds.filter((kind) => !['ramdisk', 'ipxeOurs'].includes(kind)))
      expect(rawOption(offerTo(clients[kind]), 'site')).toBeUndefined();
  });

  test('iPXE with HTTP and bzImage alone gets the script too', () => {
    expect(offerTo({ ...clients.bios, 77: '69505845', 175: '130101180101' }).file).toMatch(/boot\.ipxe$/);
  });

  test('iPXE that was handed out in this boot is not handed out again, whatever it says', () => {
    const bench = new Bench();
    bench.loaderGiven = true;
    expect(offerTo(clients.ipxeBare, bench).file).toMatch(/boot\.ipxe$/);
  });

  test('an unknown architecture gets an address and no boot file', () => {
    const offer = bench60('PXEClient:Arch:00255:UNDI:003000');
    expect(offer.yiaddr).toMatch(/^10\.77/);
    expect(offer.file).toBe('');
  });
});

describe('a machine with Secure Boot on', () => {
  const digest = 'cd'.repeat(32);
  const offered = (kind: keyof typeof clients, loader: LoaderChoice) => {
    const bench = new Bench();
    bench.loader = loader;
    return offerTo(clients[kind], bench).file;
  };

  // Case 24: shim reads the header field, and looks for GRUB beside itself; header and option 67 are alike for all, see above.
  test.each([
    ['uefi64', 'shimx64.efi'],
    ['arm64', 'shimaa64.efi'],
    ['http64', 'http://10.77.0.1:8080/shim/shimx64.efi'],
    ['bios', 'undionly.kpxe'],
    ['ipxeFull', 'http://10.77.0.1:8080/boot.ipxe'],
    ['os', ''],
  ] as const)('is handed shim where its client can run it: %s gets %j', (kind, file) => {
    expect(offered(kind, { kind: 'shim' })).toBe(file);
  });

  test('with a key of its own is given the whole image of its boot entry by HTTP, and nothing without one', () => {
    const image = `http://10.77.0.1:8080/images/sha256/${digest}/ramdisk.efi`;
    expect(offered('http64', { kind: 'uki', digests: { x86_64: digest } })).toBe(image);
    expect(offered('http64', { kind: 'uki', digests: { aarch64: digest } })).toBe('');
    expect(offered('http64', { kind: 'uki', digests: {} })).toBe('');
    // iPXE, which its operator may have signed with the same key.
    expect(offered('uefi64', { kind: 'uki', digests: { x86_64: digest } })).toBe('snponly.efi');
  });

  test('the longest URL of an image fits the header field', () => {
    const longest = `http://255.255.255.255:65535${wholeImagePath(digest)}`;
    expect(longest.length).toBeLessThan(128);
  });
});

function bench60(vendorClass: string): DhcpPacket {
  return new Bench().reply(discover({ vendorClass, architectures: [255] }));
}

test('option 97 is echoed when it has the right form, and only when it was sent', () => {
  expect(rawOption(offerTo(clients.uefi64), 'machineId')).toBe(clients.uefi64[97]);
  expect(rawOption(offerTo({ ...clients.uefi64, 97: '0011' }), 'machineId')).toBeUndefined();
  expect(rawOption(offerTo(clients.ipxeFull), 'machineId')).toBeUndefined();
});

test('no reply has a pad byte between its options', () => {
  const bytes = encodePacket(offerTo(clients.uefi64));
  let at = 240;
  while (bytes[at] !== 255) {
    expect(bytes[at]).not.toBe(0);
    at += 2 + bytes[at + 1]!;
  }
});

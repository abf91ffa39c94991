import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replyDestination } from '#bootserver/dhcp/destination.ts';
import type { DhcpMode } from '#bootserver/dhcp/network.ts';
import { dhcpOptions, readOption } from '#bootserver/dhcp/options.ts';
import { type DhcpPacket, decodePacket, encodedLength, encodePacket } from '#bootserver/dhcp/packet.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';
import { userClasses } from '#bootserver/dhcp/userClass.ts';
import { decodeVendorOptions } from '#bootserver/dhcp/vendorOptions.ts';
import { type BootQuirk, bootQuirkNames } from '#contract/bootQuirks.ts';
import { Bench, network, optionOf } from './bench.ts';
import { ascii, clientMessage, clients, discover, type RawOptions, rawOption, request } from './samples.ts';

/** Every class of client that boots from the network. */
const booting: Record<string, RawOptions> = {
  ...clients,
  uboot: { 60: ascii('PXEClient:Arch:00022:UNDI:003000'), 93: '0016' },
  ubootHttp: { 60: ascii('HTTPClient:Arch:00024:UNDI:003000'), 93: '0018' },
  raspberryPi: { ...clients.bios, 97: '00525069341131c003a632010212345678' },
};

function benchIn(mode: DhcpMode, quirks: readonly BootQuirk[] = []): Bench {
  const bench = new Bench();
  bench.network = { ...network, mode, quirks: { any: [...quirks] } };
  return bench;
}

/** All that concerns booting. */
function bootPart({ file, siaddr, options }: DhcpPacket) {
  const names = ['vendorClass', 'vendorSpecific', 'serverName', 'bootFile', 'site', 'machineId'] as const;
  return {
    file,
    siaddr,
    options: names.map((name) => options.get(dhcpOptions[name].number)?.toString('hex')),
  };
}

test('case 12: OFFER and ACK say the same of booting, to every class, in every mode, with any quirks', () => {
  const anyQuirks = fc.subarray([...bootQuirkNames]);
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(booting)), anyQuirks, (raw, quirks) => {
      const bench = benchIn('full', quirks);
      const offer = bench.reply(discover({}, raw));
      const asked = { serverId: network.address, requestedAddress: offer.yiaddr };
      expect(bootPart(bench.reply(request(asked, raw)))).toEqual(bootPart(offer));
    }),
  );
});

test('case 12: beside another server the second answer says what the first said', () => {
  const anyQuirks = fc.subarray([...bootQuirkNames]);
  const { os: _, ramdisk: __, ...firmware } = booting;
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(firmware)), anyQuirks, (raw, quirks) => {
      const inform = clientMessage({ messageType: messageType.inform }, raw, { ciaddr: '10.77.0.50' });
      const bench = benchIn('proxy', quirks);
      expect(bootPart(bench.reply(inform))).toEqual(bootPart(bench.reply(discover({}, raw))));
    }),
  );
});

describe('case 10: no menu of boot servers', () => {
  const { raspberryPi, ...others } = booting;

  test.each(['full', 'proxy'] as const)(
    'to any firmware but the Pi’s, whose one entry is no choice (%s)',
    (mode) => {
      for (const raw of Object.values(others)) {
        const decision = benchIn(mode, ['option-60', 'discovery-control']).ask(discover({}, raw));
        if (decision.kind === 'silent') continue;
        const vendor = decodeVendorOptions(readOption(decision.reply.options, 'vendorSpecific'));
        expect([...(vendor?.keys() ?? [])].filter((number) => [8, 9, 10].includes(number))).toEqual([]);
      }
    },
  );
});

test('case 13: 43.6 is 8 wherever it is, and option 43 ends with 255', () => {
  for (const raw of [clients.bios, clients.uefi64, booting.raspberryPi ?? {}]) {
    const offer = benchIn('proxy', ['discovery-control']).reply(discover({}, raw));
    expect(rawOption(offer, 'vendorSpecific')).toMatch(/^060108.*ff$/);
  }
});

describe('case 20: user classes', () => {
  test.each([
    ['69505845', ['iPXE']],
    ['0469505845', ['iPXE']],
    ['04695058450454657374', ['iPXE', 'Test']],
    ['00', ['\0']],
    ['ff41', ['\xffA']],
  ])('%s', (hex, classes) => {
    expect(userClasses(Buffer.from(hex, 'hex'))).toEqual(classes);
  });

  test.each(['00', 'ff41', ''])('%j does not cost the client its answer', (hex) => {
    expect(benchIn('full').reply(discover({}, { ...clients.uefi64, 77: hex })).file).toBe('snponly.efi');
  });
});

describe('case 34: replies and requests shorter than 300 bytes', () => {
  test('no reply is: it is padded with zeros after its end', () => {
    for (const mode of ['full', 'proxy'] as const) {
      const decision = benchIn(mode).ask(discover({}, clients.bios));
      if (decision.kind === 'silent') throw new Error(decision.reason);
      const bytes = encodePacket(decision.reply);
      expect(bytes.length).toBeGreaterThanOrEqual(300);
      expect(new Set(bytes.subarray(encodedLength(decision.reply)))).toEqual(
        bytes.length > encodedLength(decision.reply) ? new Set([0]) : new Set(),
      );
      expect(bytes[encodedLength(decision.reply) - 1]).toBe(255);
    }
  });

  test.each([0, 1])('a request is answered as it comes, its end option left out too (%i)', (left) => {
    const packet = discover({}, { 93: '0000' });
    const short = encodePacket(packet).subarray(0, encodedLength(packet) - left);
    expect(short.length).toBeLessThan(300);
    const decoded = decodePacket(short);
    expect(decoded).not.toHaveProperty('malformed');
    expect(benchIn('full').reply(decoded as DhcpPacket).yiaddr).toMatch(/^10\.77\.0\.10[0-3]$/);
  });
});

describe('case 37: a server that was not chosen says nothing', () => {
  const chosen = { serverId: '10.0.0.9', requestedAddress: '10.0.0.77' };

  test.each(['full', 'proxy'] as const)('to a REQUEST to another server (%s)', (mode) => {
    for (const raw of Object.values(booting)) {
      const bench = benchIn(mode);
      bench.reserved.set('02:00:00:00:00:01', { address: '10.77.0.20' });
      bench.ask(discover({}, raw));
      expect(bench.ask(request(chosen, raw)).kind).toBe('silent');
      expect(bench.ask(request({ ...chosen, requestedAddress: '10.77.0.200' }, raw)).kind).toBe('silent');
    }
  });

  test('nor to clients of another server that renew, rebind or restart with an address of the same network', () => {
    const bench = benchIn('full');
    for (const address of ['10.77.0.200', '10.77.0.102']) {
      expect(bench.ask(request({}, {}, { ciaddr: address })).kind).toBe('silent');
      expect(bench.ask(request({ requestedAddress: address })).kind).toBe('silent');
    }
  });

  test('beside another server nothing is ever refused', () => {
    for (const header of [{ ciaddr: '192.0.2.7' }, {}])
      for (const values of [{ requestedAddress: '192.0.2.7' }, { serverId: network.address }])
        expect(benchIn('proxy').ask(request(values, clients.uefi64, header)).kind).toBe('silent');
  });

  test('a refusal that is due is broadcast, and holds no address', () => {
    const nak = benchIn('full').reply(request({ requestedAddress: '192.0.2.7' }, clients.uefi64));
    expect(nak).toMatchObject({ ciaddr: '0.0.0.0', yiaddr: '0.0.0.0', siaddr: '0.0.0.0', file: '' });
    expect([...nak.options.keys()]).toEqual([53, 54, 56]);
    expect(replyDestination(nak)).toEqual({ address: '255.255.255.255', port: 68 });
  });
});

test('case 24: header and option 67 are one text, with forward slashes', () => {
  for (const raw of Object.values(booting)) {
    const offer = benchIn('full').reply(discover({}, raw));
    expect(optionOf(offer, 'bootFile') ?? '').toBe(offer.file);
    expect(offer.file).not.toContain('\\');
  }
});

test('case 29: ROM, iPXE and OS of one machine have one address, and each its client identifier back', () => {
  const bench = benchIn('full');
  const identifiers = [undefined, '01020000000001', `ff${'ab'.repeat(14)}`];
  const offers = identifiers.map((hex) => bench.reply(discover({}, hex === undefined ? {} : { 61: hex })));
  expect(new Set(offers.map(({ yiaddr }) => yiaddr)).size).toBe(1);
  expect(offers.map((offer) => rawOption(offer, 'clientId'))).toEqual(identifiers);
});

import { describe, expect, test } from 'vitest';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { readOption } from '#bootserver/dhcp/options.ts';
import { type DhcpPacket, decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { readDatagrams } from '../pcap.ts';

const folder = 'test/fixtures/dhcp';

function messages(capture: string): DhcpPacket[] {
  return readDatagrams(`${folder}/${capture}.pcap`)
    .filter(({ sourcePort }) => sourcePort === 67 || sourcePort === 68)
    .map(({ payload }) => decodePacket(payload))
    .map((packet) => {
      if ('malformed' in packet) throw new Error(packet.malformed);
      return packet;
    });
}

/** Kind and option 93's architecture of the client's messages in the order they came, repeats joined. */
function conversation(capture: string): string[] {
  const seen = messages(capture)
    .filter(({ op }) => op === 1)
    .map((packet) => {
      const { kind, architecture } = clientFacts(packet);
      return architecture === undefined ? kind : `${kind} ${architecture.firmware} ${architecture.machine}`;
    });
  return seen.filter((line, index) => line !== seen[index - 1]);
}

describe.each(['p4-a-bios', 'p4-b-uefi-pxe', 'p4-c-uefi-http', 'p4-d-uefi-sb', 'uefi-ipxerom-trixie'])(
  'capture %s',
  (capture) => {
    test('every message survives decode and encode', () => {
      const found = messages(capture);
      expect(found.length).toBeGreaterThan(3);
      for (const packet of found) expect(decodePacket(encodePacket(packet))).toEqual(packet);
    });
  },
);

test('SeaBIOS with an iPXE ROM is iPXE on BIOS', () => {
  expect(conversation('p4-a-bios')).toEqual(['ipxe bios x86_64']);
});

test('OVMF by PXE is UEFI firmware, then iPXE, then the ramdisk’s DHCP client', () => {
  expect(conversation('p4-b-uefi-pxe')).toEqual(['uefi-pxe uefi x86_64', 'ipxe uefi x86_64', 'os']);
});

test('OVMF by HTTP boot is an HTTP client of architecture 16', () => {
  expect(conversation('p4-c-uefi-http')).toEqual(['uefi-http uefi x86_64', 'ipxe uefi x86_64']);
});

test('GRUB does no DHCP of its own', () => {
  expect(conversation('p4-d-uefi-sb')).toEqual(['uefi-pxe uefi x86_64']);
});

test('OVMF announces another maximum size in its REQUEST than in its DISCOVER', () => {
  const sizes = messages('p4-b-uefi-pxe')
    .filter(({ op }) => op === 1)
    .slice(0, 2)
    .map(({ options }) => readOption(options, 'maximumSize'));
  expect(sizes).toEqual([1472, 65280]);
});

test('firmware and iPXE of one machine have one key and one UUID', () => {
  const facts = messages('p4-b-uefi-pxe')
    .filter(({ op }) => op === 1)
    .map(clientFacts)
    .filter(({ kind }) => kind !== 'os');
  expect(new Set(facts.map(({ key }) => key))).toEqual(new Set(['1/52:54:00:77:00:42']));
  expect(new Set(facts.map(({ uuid }) => uuid)).size).toBe(1);
});

test('iPXE of Debian 13 says that it has HTTP and can start EFI programs', () => {
  const ipxe = messages('p4-b-uefi-pxe')
    .map(clientFacts)
    .find(({ kind }) => kind === 'ipxe');
  expect(ipxe?.ipxeFeatures).toContain(19);
  expect(ipxe?.ipxeFeatures).toContain(36);
});

import { dhcpOptions, type OptionName, type OptionValues, writeOptions } from '#bootserver/dhcp/options.ts';
import type { DhcpPacket } from '#bootserver/dhcp/packet.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';

/** Raw option values in hex by number. */
export type RawOptions = Record<number, string>;

/** A message of a client with MAC 02:00:00:00:00:01. */
export function clientMessage(
  values: OptionValues,
  raw: RawOptions = {},
  header: Partial<DhcpPacket> = {},
): DhcpPacket {
  const options = writeOptions(values);
  for (const [number, hex] of Object.entries(raw)) options.set(Number(number), Buffer.from(hex, 'hex'));
  return {
    op: 1,
    htype: 1,
    hlen: 6,
    hops: 0,
    xid: 0x1234abcd,
    secs: 0,
    flags: 0,
    ciaddr: '0.0.0.0',
    yiaddr: '0.0.0.0',
    siaddr: '0.0.0.0',
    giaddr: '0.0.0.0',
    chaddr: hardware('02:00:00:00:00:01'),
    sname: '',
    file: '',
    options,
    ...header,
  };
}

export function hardware(mac: string): Buffer {
  return Buffer.from(mac.replaceAll(':', '').padEnd(32, '0'), 'hex');
}

export function discover(
  values: OptionValues = {},
  raw: RawOptions = {},
  header: Partial<DhcpPacket> = {},
): DhcpPacket {
  return clientMessage({ messageType: messageType.discover, ...values }, raw, header);
}

export function request(
  values: OptionValues = {},
  raw: RawOptions = {},
  header: Partial<DhcpPacket> = {},
): DhcpPacket {
  return clientMessage({ messageType: messageType.request, ...values }, raw, header);
}

const machineId = '0000112233445566778899aabbccddeeff';

/** What each kind of client sends, as raw options; the first three words are those of the field-case list. */
export const clients = {
  uefi64: { 60: ascii('PXEClient:Arch:00007:UNDI:003016'), 93: '0007', 94: '010310', 97: machineId },
  bios: { 60: ascii('PXEClient:Arch:00000:UNDI:002001'), 93: '0000', 94: '010201', 97: machineId },
  http64: { 60: ascii('HTTPClient:Arch:00016:UNDI:003001'), 93: '0010', 94: '010310', 97: machineId },
  arm64: { 60: ascii('PXEClient:Arch:00011:UNDI:003000'), 93: '000b', 94: '010300', 97: machineId },
  /** iPXE with HTTP, bzImage and EFI. */
  ipxeFull: {
    60: ascii('PXEClient:Arch:00007:UNDI:003010'),
    77: ascii('iPXE'),
    93: '0007',
    175: 'b1050180861000130101180101240101',
  },
  /** A ROM that was built without HTTP. */
  ipxeBare: {
    60: ascii('PXEClient:Arch:00000:UNDI:002001'),
    77: ascii('iPXE'),
    93: '0000',
    175: 'b1050180861000150101180101',
  },
  ipxeOurs: { 60: ascii('PXEClient:Arch:00007:UNDI:003010'), 77: ascii('railhead-ipxe'), 93: '0007' },
  ramdisk: { 60: ascii('railhead-ramdisk') },
  os: { 60: ascii('udhcp 1.35.0') },
} satisfies Record<string, RawOptions>;

export function ascii(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

export function rawOption(packet: DhcpPacket, name: OptionName): string | undefined {
  return packet.options.get(dhcpOptions[name].number)?.toString('hex');
}

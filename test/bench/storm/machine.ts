import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeOptions } from '#bootserver/dhcp/options.ts';
import type { DhcpPacket } from '#bootserver/dhcp/packet.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';
import { hardware } from '../../bootserver/dhcp/samples.ts';
import { type Progress, probeSize, readFile } from '../tftp/reader.ts';
import type { Addresses } from './addresses.ts';
import type { Port68 } from './port68.ts';

/** What firmware and iPXE wait by themselves, as measured: OVMF collects offers, iPXE waits for a second one. */
export const ownWaits = { firmwareMs: 3700, ipxeMs: 3000 };

export interface Surroundings {
  port: Port68;
  addresses: Addresses;
  progress: Progress;
  /** The bytes that kernel and initrd have together. */
  imageBytes: number;
}

export interface BootTimes {
  /** From power on to the machine's script, and to the last byte of its initrd, milliseconds. */
  scriptMs: number;
  bootedMs: number;
}

type Raw = Record<number, string>;
const ascii = (text: string) => Buffer.from(text).toString('hex');
const firmware: Raw = { 60: ascii('PXEClient:Arch:00007:UNDI:003000'), 93: '0007', 94: '010300' };
const ipxe: Raw = { ...firmware, 77: ascii('iPXE'), 175: '130101240101' };

/** Boots one machine from power on to its initrd. @throws Error that says what it waited for in vain */
export async function boot(number: number, around: Surroundings): Promise<BootTimes> {
  const mac = `02:00:00:00:${hex(number >> 8)}:${hex(number & 255)}`;
  const startedAt = performance.now();
  const first = await lease(mac, number * 2 + 1, firmware, ownWaits.firmwareMs, around);
  const [server, loader] = [first.siaddr, first.file];
  const from = first.yiaddr;
  await probeSize({ from, host: server, file: loader });
  const loaded = await readFile({ from, host: server, file: loader, progress: around.progress });
  if (loaded === undefined) throw new Error('TFTP gave up');
  const second = await lease(mac, number * 2 + 2, ipxe, ownWaits.ipxeMs, around);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const fetch = (url: string) => fetched(url, second.yiaddr, agent);
  await fetch(second.file);
  const own = new URL(`/ipxe?mac=${mac}&uuid=&serial=${number}&platform=efi&buildarch=x86_64`, second.file);
  const script = (await fetch(own.href)).toString();
  const scriptMs = performance.now() - startedAt;
  const urls = [...script.matchAll(/^(?:kernel|initrd) --name \S+ (\S+)/gm)].map(([, url = '']) => url);
  const files = [...new Set(urls)].slice(0, 2);
  let bytes = 0;
  for (const url of files) bytes += (await fetch(url)).length;
  agent.destroy();
  if (bytes !== around.imageBytes) throw new Error(`${bytes} bytes of kernel and initrd`);
  return { scriptMs, bootedMs: performance.now() - startedAt };
}

/** A client that gets a NAK begins anew (RFC 2131 §3.1). */
async function lease(
  mac: string,
  xid: number,
  raw: Raw,
  waitMs: number,
  around: Surroundings,
): Promise<DhcpPacket> {
  for (let tries = 0; tries < 4; tries++) {
    const ack = await exchange(mac, xid + tries * 0x10000, raw, waitMs, around);
    if (ack !== undefined) return ack;
  }
  throw new Error('a NAK each time');
}

/** DISCOVER, the client's own wait, REQUEST; the address is the interface's from then on. Undefined for a NAK. */
async function exchange(
  mac: string,
  xid: number,
  raw: Raw,
  waitMs: number,
  { port, addresses }: Surroundings,
): Promise<DhcpPacket | undefined> {
  const offer = await port.ask(message(mac, xid, messageType.discover, raw));
  if (offer === undefined) throw new Error('no OFFER');
  await sleep(waitMs);
  const { yiaddr } = offer;
  const server = offer.options.get(54)?.toString('hex') ?? '';
  const asked = { ...raw, 50: Buffer.from(yiaddr.split('.').map(Number)).toString('hex'), 54: server };
  const ack = await port.ask(message(mac, xid, messageType.request, asked));
  if (ack === undefined) throw new Error('no ACK');
  if (ack.yiaddr !== yiaddr) return undefined;
  await addresses.add(yiaddr);
  return { ...ack, file: ack.file || (ack.options.get(67)?.toString().replace(/\0$/, '') ?? '') };
}

function message(mac: string, xid: number, type: number, raw: Raw): DhcpPacket {
  const options = writeOptions({ messageType: type });
  options.set(55, Buffer.from([1, 3, 6, 43, 54, 60, 66, 67]));
  for (const [number, value] of Object.entries(raw)) options.set(Number(number), Buffer.from(value, 'hex'));
  const none = '0.0.0.0';
  return {
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid, secs: 0, flags: 0x8000 },
    ...{ ciaddr: none, yiaddr: none, siaddr: none, giaddr: none, chaddr: hardware(mac) },
    ...{ sname: '', file: '', options },
  };
}

/** As iPXE's script has it, a fetch that fails is tried again, later and later. */
async function fetched(url: string, localAddress: string, agent: Agent): Promise<Buffer> {
  for (const waitMs of [1000, 2000, 4000, 8000]) {
    const body = await once(url, localAddress, agent);
    if (body !== undefined) return body;
    await sleep(waitMs);
  }
  throw new Error(`no ${new URL(url).pathname}`);
}

function once(url: string, localAddress: string, agent: Agent): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { localAddress, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks) : undefined));
    });
    request.on('error', () => resolve(undefined));
  });
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

import { createHash, type Hash } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { sendDatagrams } from '#base/udp/sendDatagrams.ts';
import { socketAddress } from '#base/udp/socketAddress.ts';
import { openTransferSocket } from '#base/udp/transferSocket.ts';

/** What OVMF asks for (test/fixtures/dhcp/p4-b-uefi-pxe.pcap), and how long it waits before it speaks again, and how often. */
export const firmware = {
  options: { tsize: '0', blksize: '1468', windowsize: '4' },
  timeoutMs: 4000,
  tries: 6,
};

/** What all readers together have received in order. */
export interface Progress {
  bytes: number;
}

interface ReaderOptions {
  /** Of this client; each reader has a port of its own. */
  from: string;
  host: string;
  file: string;
  progress: Progress;
}

/** Downloads one file as firmware does. Resolves to its digest; undefined when it gave up or was refused. */
export function readFile(options: ReaderOptions): Promise<string | undefined> {
  return new Promise((resolve) => new Reader(options, resolve));
}

/** Asks for a file's size and ends the transfer with ERROR 8, as OVMF does before it loads a file. */
export function probeSize({ from, host, file }: Omit<ReaderOptions, 'progress'>): Promise<void> {
  const fd = openTransferSocket(from);
  const socket = createSocket('udp4');
  const ask = () => sendDatagrams(fd, socketAddress(host, 69), [request(file)]);
  return new Promise((resolve) => {
    const timer = setInterval(ask, firmware.timeoutMs);
    socket.once('message', (_, { address, port }) => {
      clearInterval(timer);
      sendDatagrams(fd, socketAddress(address, port), [Buffer.from('\0\x05\0\x08User aborted\0')]);
      socket.close();
      resolve();
    });
    socket.bind({ fd });
    ask();
  });
}

/** RFC 1350 with RFC 2347, 2348, 2349 and 7440: acknowledges each window's last block, and what it has when one is missing. */
class Reader {
  readonly #fd: number;
  readonly #socket: Socket;
  readonly #hash: Hash = createHash('sha256');
  readonly #timer: NodeJS.Timeout;
  readonly #progress: Progress;
  readonly #done: (digest: string | undefined) => void;
  #to: Buffer;
  #port: number | undefined;
  #last: Buffer;
  #blockSize = 512;
  #windowSize = 1;
  #received = 0;
  #inWindow = 0;
  #toldOfGap = false;
  #tries = 0;

  constructor({ from, host, file, progress }: ReaderOptions, done: (digest: string | undefined) => void) {
    this.#progress = progress;
    this.#done = done;
    this.#to = socketAddress(host, 69);
    this.#last = request(file);
    this.#fd = openTransferSocket(from);
    this.#socket = createSocket('udp4');
    this.#socket.on('message', (bytes, sender) => this.#take(bytes, sender));
    this.#socket.bind({ fd: this.#fd });
    this.#timer = setTimeout(() => this.#timedOut(), firmware.timeoutMs);
    this.#send(this.#last);
  }

  #take(bytes: Buffer, sender: RemoteInfo): void {
    this.#port ??= this.#meet(sender);
    if (sender.port !== this.#port) return;
    const kind = bytes[1];
    if (kind === 3) this.#data(bytes);
    else if (kind === 6) this.#agreed(bytes);
    else this.#finish(undefined);
  }

  #meet(sender: RemoteInfo): number {
    this.#to = socketAddress(sender.address, sender.port);
    return sender.port;
  }

  #agreed(bytes: Buffer): void {
    const words = bytes.subarray(2).toString('latin1').split('\0');
    const value = (name: string) => words[words.indexOf(name) + 1];
    if (words.includes('blksize')) this.#blockSize = Number(value('blksize'));
    if (words.includes('windowsize')) this.#windowSize = Number(value('windowsize'));
    if (this.#received === 0) this.#acknowledge();
  }

  #data(bytes: Buffer): void {
    if (bytes.readUInt16BE(2) !== ((this.#received + 1) & 0xffff)) {
      this.#outOfOrder();
      return;
    }
    this.#received += 1;
    this.#inWindow += 1;
    this.#toldOfGap = false;
    this.#hash.update(bytes.subarray(4));
    this.#progress.bytes += bytes.length - 4;
    this.#tries = 0;
    this.#timer.refresh();
    const isLast = bytes.length - 4 < this.#blockSize;
    if (isLast || this.#inWindow >= this.#windowSize) this.#acknowledge();
    if (isLast) this.#finish(this.#hash.digest('hex'));
  }

  /** Once for each gap, or each of the blocks behind it would have the window sent again. */
  #outOfOrder(): void {
    if (this.#toldOfGap) return;
    this.#toldOfGap = true;
    this.#acknowledge();
  }

  #acknowledge(): void {
    this.#inWindow = 0;
    this.#last = Buffer.from([0, 4, (this.#received >> 8) & 255, this.#received & 255]);
    this.#send(this.#last);
  }

  #timedOut(): void {
    this.#tries += 1;
    if (this.#tries >= firmware.tries) {
      this.#finish(undefined);
      return;
    }
    this.#inWindow = 0;
    this.#toldOfGap = false;
    this.#send(this.#last);
    this.#timer.refresh();
  }

  #send(datagram: Buffer): void {
    sendDatagrams(this.#fd, this.#to, [datagram]);
  }

  #finish(digest: string | undefined): void {
    clearTimeout(this.#timer);
    this.#socket.close();
    this.#done(digest);
  }
}

function request(file: string): Buffer {
  const words = [file, 'octet', ...Object.entries(firmware.options).flat()];
  return Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.from(words.map((word) => `${word}\0`).join(''), 'latin1'),
  ]);
}

import koffi from 'koffi';

/** Datagrams of one system call; more are sent by several. */
const slots = 32;
/** The most that a datagram of ours holds: what Ethernet carries. A larger one is sent by itself. */
const slotBytes = 1536;

/** `linux/socket.h` */
const MSG_DONTWAIT = 0x40;

/** Sizes and places in `struct mmsghdr` and `struct iovec` on 64-bit Linux: sendmmsg(2), sendmsg(2). */
const header = { bytes: 64, name: 0, nameLength: 8, vector: 16, vectorLength: 24 } as const;
const vector = { bytes: 16, base: 0, length: 8 } as const;

type Sender = ReturnType<typeof openSender>;
let sender: Sender | undefined;

/**
 * Sends datagrams from the socket `fd` to one place in as few system calls as can be: a window of TFTP blocks costs one instead
 * of one each, and none of Node's work for a request. `to` is a `socketAddress`. What the kernel does not take now (its buffer is
 * full, the network is gone) is lost, as it may be on the way.
 */
export function sendDatagrams(fd: number, to: Buffer, datagrams: readonly Buffer[]): void {
  sender ??= openSender();
  for (let at = 0; at < datagrams.length; at += slots)
    sendSome(sender, fd, to, datagrams.slice(at, at + slots));
}

function sendSome(
  { sendmmsg, headers, vectors, data, name }: Sender,
  fd: number,
  to: Buffer,
  some: Buffer[],
): void {
  to.copy(name);
  for (const [slot, datagram] of some.entries()) {
    if (datagram.length > slotBytes)
      throw new RangeError(`a datagram of ${datagram.length} bytes is too large`);
    datagram.copy(data, slot * slotBytes);
    vectors.writeUInt32LE(datagram.length, slot * vector.bytes + vector.length);
    headers.writeUInt32LE(to.length, slot * header.bytes + header.nameLength);
  }
  sendmmsg(fd, headers, some.length, MSG_DONTWAIT);
}

/** Memory that every call uses again: all pointers in it are written once. The call ends before the next one begins. */
function openSender() {
  const data = Buffer.allocUnsafeSlow(slots * slotBytes);
  const name = Buffer.alloc(28);
  const vectors = Buffer.alloc(slots * vector.bytes);
  const headers = Buffer.alloc(slots * header.bytes);
  for (let slot = 0; slot < slots; slot++) {
    vectors.writeBigUInt64LE(
      koffi.address(data) + BigInt(slot * slotBytes),
      slot * vector.bytes + vector.base,
    );
    const at = slot * header.bytes;
    headers.writeBigUInt64LE(koffi.address(name), at + header.name);
    headers.writeBigUInt64LE(koffi.address(vectors) + BigInt(slot * vector.bytes), at + header.vector);
    headers.writeBigUInt64LE(1n, at + header.vectorLength);
  }
  const libc = koffi.load('libc.so.6');
  const sendmmsg = libc.func('int sendmmsg(int fd, const void *messages, unsigned int count, int flags)');
  return { sendmmsg, headers, vectors, data, name };
}

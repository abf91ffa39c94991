import koffi from 'koffi';

/** Datagrams of one system call; more are sent by several. */
const slots = 32;
/** The most that a datagram of ours holds: what Ethernet carries. */
const slotBytes = 1536;

/** `linux/socket.h`, `linux/udp.h` */
const MSG_DONTWAIT = 0x40;
const SOL_UDP = 17;
const UDP_SEGMENT = 103;

/** Sizes and places in `struct mmsghdr` and `struct iovec` on 64-bit Linux: sendmmsg(2), sendmsg(2). */
const header = {
  bytes: 64,
  name: 0,
  nameLength: 8,
  vector: 16,
  vectorLength: 24,
  control: 32,
  controlLength: 40,
};
const vector = { bytes: 16, base: 0, length: 8 };

type Sender = ReturnType<typeof openSender>;
let sender: Sender | undefined;
/** Until the kernel has refused it once: some network cards compute no checksums, and some paths carry less than the interface. */
let cutsForUs = true;

/**
 * Sends datagrams from the socket `fd` to one place in as few system calls as can be. Those of one length, of which the last may be
 * shorter, pass through the network stack as one, which the kernel cuts at the end (udp(7), UDP_SEGMENT). `to` is a
 * `socketAddress`. What the kernel does not take now (its buffer is full, the network is gone) is lost, as it may be on the way.
 */
export function sendDatagrams(fd: number, to: Buffer, datagrams: readonly Buffer[]): void {
  if (datagrams.some(({ length }) => length > slotBytes)) throw new RangeError('a datagram is too large');
  sender ??= openSender();
  to.copy(sender.name);
  for (let at = 0; at < datagrams.length; at += slots) {
    const some = datagrams.slice(at, at + slots);
    if (!(isEven(some) && sendAsOne(sender, fd, to.length, some))) sendEach(sender, fd, to.length, some);
  }
}

function isEven(datagrams: readonly Buffer[]): boolean {
  const size = datagrams[0]?.length ?? 0;
  return (
    cutsForUs &&
    datagrams.length > 1 &&
    datagrams.every(({ length }, at) => length === size || (at === datagrams.length - 1 && length < size))
  );
}

/** False when the kernel refused it, which it then does for all. */
function sendAsOne(sender: Sender, fd: number, nameLength: number, datagrams: readonly Buffer[]): boolean {
  const { data, vectors, headers, control, sendmsg } = sender;
  let length = 0;
  for (const datagram of datagrams) length += datagram.copy(data, length);
  vectors.writeUInt32LE(length, vector.length);
  headers.writeUInt32LE(nameLength, header.nameLength);
  headers.writeUInt32LE(control.length, header.controlLength);
  control.writeUInt16LE(datagrams[0]?.length ?? 0, controlData);
  if (sendmsg(fd, headers, MSG_DONTWAIT) >= 0 || transient.includes(koffi.errno())) return true;
  cutsForUs = false;
  return false;
}

/** EAGAIN, ENOBUFS, and what a router may say of a client that is gone: nothing that cutting has to do with. */
const transient = [
  koffi.os.errno.EAGAIN,
  koffi.os.errno.ENOBUFS,
  koffi.os.errno.EHOSTUNREACH,
  koffi.os.errno.ENETUNREACH,
  koffi.os.errno.ECONNREFUSED,
];

function sendEach(sender: Sender, fd: number, nameLength: number, datagrams: readonly Buffer[]): void {
  const { data, vectors, headers, sendmmsg } = sender;
  for (const [slot, datagram] of datagrams.entries()) {
    datagram.copy(data, slot * slotBytes);
    vectors.writeUInt32LE(datagram.length, slot * vector.bytes + vector.length);
    headers.writeUInt32LE(nameLength, slot * header.bytes + header.nameLength);
  }
  headers.writeUInt32LE(0, header.controlLength);
  sendmmsg(fd, headers, datagrams.length, MSG_DONTWAIT);
}

/** `struct cmsghdr` with one 16-bit number, padded to 8 bytes. */
const controlBytes = 24;
const controlData = 16;

/** Memory that every call uses again: all pointers in it are written once. The call ends before the next one begins. */
function openSender() {
  const data = Buffer.allocUnsafeSlow(slots * slotBytes);
  const name = Buffer.alloc(28);
  const vectors = Buffer.alloc(slots * vector.bytes);
  const headers = Buffer.alloc(slots * header.bytes);
  const control = segmentControl();
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
  headers.writeBigUInt64LE(koffi.address(control), header.control);
  const libc = koffi.load('libc.so.6');
  return {
    sendmsg: libc.func('int64_t sendmsg(int fd, const void *message, int flags)'),
    sendmmsg: libc.func('int sendmmsg(int fd, const void *messages, unsigned int count, int flags)'),
    ...{ headers, vectors, data, name, control },
  };
}

function segmentControl(): Buffer {
  const control = Buffer.alloc(controlBytes);
  control.writeBigUInt64LE(18n, 0); // the header and two bytes
  control.writeInt32LE(SOL_UDP, 8);
  control.writeInt32LE(UDP_SEGMENT, 12);
  return control;
}

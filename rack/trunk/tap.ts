import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import koffi from 'koffi';
import { systemCode } from '#base/errors.ts';

const libc = koffi.load('libc.so.6');
const ioctl = libc.func('int ioctl(int fd, unsigned long request, void *argument)');
const poll = libc.func('int poll(void *fds, unsigned long count, int timeout)');

/** `linux/if_tun.h`: attach to a tap whose frames come without a header before them. */
const TUNSETIFF = 0x400454ca;
const IFF_TAP_NO_PI = 0x1002;
/** `struct ifreq`: the name, then flags. */
const ifreqBytes = 40;
const nameBytes = 16;

/** `poll.h` */
const POLLIN = 1;
/** How long a wait lasts at most, and with it how long `close` may have to wait. */
const pollMs = 200;
const longestFrame = 65_536;

/** The host's end of a tap device. */
export interface Tap {
  /** A frame that the device cannot take now is lost, as on a full wire. */
  write(frame: Buffer): void;
  close(): Promise<void>;
}

/**
 * Takes the end of a tap device of the network namespace that this thread is in; `onFrame` gets what its other end sends.
 * @throws Error when the device is not there, or somebody has it
 */
export function openTap(name: string, onFrame: (frame: Buffer) => void): Tap {
  const fd = openSync('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK);
  const request = Buffer.alloc(ifreqBytes);
  request.write(name, 'latin1');
  request.writeUInt16LE(IFF_TAP_NO_PI, nameBytes);
  if (ioctl(fd, TUNSETIFF, request) !== 0) {
    const errno = koffi.errno();
    closeSync(fd);
    throw new Error(`the tap ${name} cannot be had (errno ${errno})`);
  }
  let isOpen = true;
  const reading = readOn(fd, onFrame, () => isOpen).finally(() => closeSync(fd));
  return {
    write: (frame) => {
      if (isOpen) unlessBusy(() => writeSync(fd, frame));
    },
    close: () => {
      isOpen = false;
      return reading;
    },
  };
}

async function readOn(fd: number, onFrame: (frame: Buffer) => void, isOpen: () => boolean): Promise<void> {
  const buffer = Buffer.alloc(longestFrame);
  while (isOpen()) {
    if (!(await isReadable(fd))) continue;
    for (let length = 1; length > 0 && isOpen(); ) {
      length = unlessBusy(() => readSync(fd, buffer)) ?? 0;
      if (length > 0) onFrame(Buffer.from(buffer.subarray(0, length)));
    }
  }
}

/** Node's own streams cannot wait for such a descriptor. */
function isReadable(fd: number): Promise<boolean> {
  const request = Buffer.alloc(8); // struct pollfd: descriptor, wanted events, found events
  request.writeInt32LE(fd, 0);
  request.writeInt16LE(POLLIN, 4);
  return new Promise((resolve, reject) => {
    poll.async(request, 1, pollMs, (error: unknown, count: number) => {
      if (error) reject(error);
      else resolve(count > 0);
    });
  });
}

/** The answer of a call on a descriptor that does not block; undefined when it would have, or the device is down. */
function unlessBusy(call: () => number): number | undefined {
  try {
    return call();
  } catch (error) {
    if (['EAGAIN', 'EIO', 'ENOBUFS', 'EBADFD'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

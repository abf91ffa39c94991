import { closeSync, openSync, writeSync } from 'node:fs';

/** Enough for all headers and the start of a request. */
const snapBytes = 256;

/** A file of frames for Wireshark (pcap, microseconds, Ethernet), the start of each alone. */
export interface Capture {
  add(frame: Buffer): void;
  close(): void;
}

/** Begins the file anew. */
export function openCapture(file: string): Capture {
  const fd = openSync(file, 'w');
  writeSync(fd, fileHeader());
  return {
    add: (frame) => {
      const kept = frame.subarray(0, snapBytes);
      writeSync(fd, Buffer.concat([recordHeader(kept.length, frame.length, Date.now()), kept]));
    },
    close: () => closeSync(fd),
  };
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(snapBytes, 16);
  header.writeUInt32LE(1, 20);
  return header;
}

function recordHeader(kept: number, length: number, now: number): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(Math.floor(now / 1000), 0);
  header.writeUInt32LE((now % 1000) * 1000, 4);
  header.writeUInt32LE(kept, 8);
  header.writeUInt32LE(length, 12);
  return header;
}

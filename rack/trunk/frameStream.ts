/** No frame of ours is longer; QEMU's own bound is 68 KiB. */
const longestFrame = 68 * 1024;

/** A frame as QEMU's `-netdev stream` writes it: its length in four bytes, big-endian, before it. */
export function encodeFrame(frame: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(frame.length);
  return Buffer.concat([length, frame]);
}

/**
 * Cuts the bytes of such a stream into frames, whatever pieces they come in.
 * @throws RangeError for a length that no frame has: the stream cannot be read on
 */
export function frameReader(onFrame: (frame: Buffer) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= 4) {
      const length = rest.readUInt32BE();
      if (length > longestFrame) throw new RangeError(`a frame of ${length} bytes`);
      if (rest.length < 4 + length) return;
      onFrame(rest.subarray(4, 4 + length));
      rest = rest.subarray(4 + length);
    }
  };
}

/** EtherType of a frame that carries a VLAN tag (IEEE 802.1Q §9.4). */
const taggedFrame = 0x8100;
/** Destination and source address; the tag, if there is one, follows. */
const addressBytes = 12;
const tagBytes = 4;

/** The VLAN of an Ethernet frame; undefined when it has no tag, or one of VLAN 0, which is a priority alone. */
export function vlanOf(frame: Buffer): number | undefined {
  if (frame.length < addressBytes + tagBytes) return undefined;
  if (frame.readUInt16BE(addressBytes) !== taggedFrame) return undefined;
  return frame.readUInt16BE(addressBytes + 2) & 0x0fff || undefined;
}

/** The frame with a tag put in. */
export function tagged(frame: Buffer, vlan: number): Buffer {
  const tag = Buffer.alloc(tagBytes);
  tag.writeUInt16BE(taggedFrame, 0);
  tag.writeUInt16BE(vlan, 2);
  return Buffer.concat([frame.subarray(0, addressBytes), tag, frame.subarray(addressBytes)]);
}

/** The frame without its tag. */
export function untagged(frame: Buffer): Buffer {
  return Buffer.concat([frame.subarray(0, addressBytes), frame.subarray(addressBytes + tagBytes)]);
}

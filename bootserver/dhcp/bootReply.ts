import type { BootFields } from './bootFields.ts';
import type { DhcpPacket } from './packet.ts';
import { messageType, replyHeader, withEchoes } from './reply.ts';

/**
 * A reply that says what to boot and gives no address: that of a second server beside the one that does (PXE 2.1 §2.2.4, and
 * the answers of its boot server on port 4011). OFFER and ACK come from here, so they say the same.
 */
export function buildBootReply(
  request: DhcpPacket,
  type: typeof messageType.offer | typeof messageType.ack,
  serverId: string,
  boot: BootFields,
): DhcpPacket {
  const header = replyHeader(request);
  return {
    ...header,
    ciaddr: type === messageType.ack ? request.ciaddr : header.ciaddr,
    siaddr: boot.server ?? header.siaddr,
    file: boot.file ?? '',
    options: withEchoes(request, { messageType: type, serverId, ...boot.options }),
  };
}

import { createSocket, type Socket } from 'node:dgram';
import { openInterfaceSocket } from '#base/boundSocket.ts';
import { type DhcpPacket, decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';

/** The DHCP client port of all machines: one socket, which hears every broadcast reply and hands it to whom it is for. */
export class Port68 {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (reply: DhcpPacket) => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes) => {
      const packet = decodePacket(bytes);
      if (!('malformed' in packet)) this.#waiting.get(packet.xid)?.(packet);
    });
  }

  static open(interfaceName: string): Port68 {
    const socket = createSocket('udp4');
    // With room for the replies to all machines: a real one has to hear its own alone.
    socket.bind({ fd: openInterfaceSocket(interfaceName, 68) });
    return new Port68(socket);
  }

  /** Sends until the answer comes, after 4, 8, 16 and 32 s, as edk2 does; undefined when none came. */
  async ask(packet: DhcpPacket): Promise<DhcpPacket | undefined> {
    const bytes = encodePacket(packet);
    for (const waitMs of [4000, 8000, 16_000, 32_000]) {
      const reply = await this.#once(packet.xid, bytes, waitMs);
      if (reply !== undefined) return reply;
    }
    return undefined;
  }

  #once(xid: number, bytes: Buffer, waitMs: number): Promise<DhcpPacket | undefined> {
    return new Promise((resolve) => {
      const done = (reply?: DhcpPacket) => {
        clearTimeout(timer);
        this.#waiting.delete(xid);
        resolve(reply);
      };
      const timer = setTimeout(done, waitMs);
      this.#waiting.set(xid, done);
      this.#socket.send(bytes, 67, '255.255.255.255');
    });
  }

  close(): void {
    this.#socket.close();
  }
}

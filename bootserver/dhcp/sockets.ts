import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { openInterfaceSockets } from '#base/boundSocket.ts';
import type { Log } from '#base/log.ts';

export interface DhcpSocketOptions {
  interfaceName: string;
  /** Our own on the interface. */
  address: string;
  port: number;
  /** Sockets that the service manager has bound: to the interface, then to our address there. */
  fds?: readonly number[];
  log: Log;
}

/** DHCP's side of one interface. */
export interface DhcpSockets {
  /** Sends from our address; nothing once it is closed: a reply may have waited for its lease until then. */
  send(bytes: Buffer, port: number, address: string, failed: (error: Error) => void): void;
  close(): Promise<void>;
}

/** Hears an interface: broadcasts, and what is sent to our address. @throws Error with a system `code` */
export async function openDhcpSockets(
  options: DhcpSocketOptions,
  receive: (bytes: Buffer, from: RemoteInfo) => void,
): Promise<DhcpSockets> {
  const sockets: Socket[] = [];
  for (const fd of descriptors(options)) sockets.push(await listen(fd, options.log, receive));
  const [everything, own = everything] = sockets as [Socket, Socket?];
  let isOpen = true;
  return {
    send: (bytes, port, address, failed) => {
      if (!isOpen) return;
      own.send(bytes, port, address, (error) => {
        if (error) failed(error);
      });
    },
    close: async () => {
      isOpen = false;
      await Promise.all(sockets.map(closed));
    },
  };
}

function descriptors({ fds, interfaceName, port, address }: DhcpSocketOptions): readonly number[] {
  if (fds !== undefined && fds.length > 0) return fds;
  return openInterfaceSockets(interfaceName, port, address);
}

async function listen(
  fd: number,
  log: Log,
  receive: (bytes: Buffer, from: RemoteInfo) => void,
): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', lookup: isAddressAlready });
  socket.on('message', receive);
  const listening = once(socket, 'listening');
  socket.bind({ fd });
  await listening;
  socket.on('error', (error) => log.error({ err: error }, 'DHCP socket failed'));
  socket.setBroadcast(true);
  return socket;
}

/** What we send to is never a name. */
function isAddressAlready(
  address: string,
  _: unknown,
  done: (error: null, address: string, family: number) => void,
): void {
  done(null, address, 4);
}

async function closed(socket: Socket): Promise<void> {
  const done = once(socket, 'close');
  socket.close();
  await done;
}

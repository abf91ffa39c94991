import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { openInterfaceSocket } from '#base/boundSocket.ts';

/** `node floodProcess.ts INTERFACE COUNT`: that many DISCOVERs, each of another MAC, by broadcast; prints how long it took. */
const [interfaceName = '', count = ''] = process.argv.slice(2);

const socket = createSocket('udp4');
const listening = once(socket, 'listening');
socket.bind({ fd: openInterfaceSocket(interfaceName, 68) });
await listening;
socket.setBroadcast(true);
const send = promisify((bytes: Buffer, done: (error: Error | null) => void) =>
  socket.send(bytes, 67, '255.255.255.255', done),
);

const start = performance.now();
for (let at = 0; at < Number(count); at += 100)
  await Promise.all(Array.from({ length: 100 }, (_, more) => send(discover(at + more))));
socket.close();
console.log(JSON.stringify({ seconds: (performance.now() - start) / 1000 }));

function discover(client: number): Buffer {
  const bytes = Buffer.alloc(300);
  bytes.set([1, 1, 6]);
  bytes.writeUInt32BE(client, 4);
  bytes.writeUInt16BE(0x0200, 28);
  bytes.writeUInt32BE(client, 30);
  bytes.set([0x63, 0x82, 0x53, 0x63, 53, 1, 1, 255], 236);
  return bytes;
}

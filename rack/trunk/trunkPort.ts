import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { enterNamespace } from '../enterNamespace.ts';
import { listenOnPath } from '../machine/listenOnPath.ts';
import type { TrunkRecord } from '../record.ts';
import { openCapture } from './capture.ts';
import { encodeFrame, frameReader } from './frameStream.ts';
import { openTap, type Tap } from './tap.ts';
import { tagged, untagged, vlanOf } from './vlanTag.ts';

/** What waits for a machine that takes nothing; further frames are lost, as a switch loses them. */
const waitingBytes = 8 * 2 ** 20;

/**
 * A switch port that a machine's cable is plugged into: frames without a tag are of the provisioning network, frames with a tag of
 * the network of that VLAN, where they have none; tags of other VLANs are dropped. It stands in for the host's kernel, which
 * may be built without 802.1Q. QEMU is at the other end of the socket (`-netdev stream`), each of its runs by a connection of its own.
 */
export async function openTrunkPort(
  trunk: TrunkRecord,
  native: string,
  namespace: string,
  log: Log,
): Promise<Closable> {
  const capture = openCapture(trunk.capture);
  let machine: Socket | undefined;
  const toMachine = (frame: Buffer) => {
    if (machine === undefined || machine.writableLength > waitingBytes) return;
    capture.add(frame);
    machine.write(encodeFrame(frame));
  };
  const taps = openTaps(trunk, native, namespace, toMachine);
  const fromMachine = (frame: Buffer) => {
    capture.add(frame);
    const vlan = vlanOf(frame);
    taps.get(vlan)?.write(vlan === undefined ? frame : untagged(frame));
  };
  const server = createServer((socket) => {
    machine?.destroy();
    machine = socket;
    readFrames(socket, fromMachine);
    socket.on('error', (error) => log.warn({ err: error }, 'the machine is off its switch port'));
    socket.on('close', () => {
      if (machine === socket) machine = undefined;
    });
  });
  await listenOnPath(server, trunk.socket);
  return {
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      machine?.destroy();
      await closed;
      await Promise.all([...taps.values()].map((tap) => tap.close()));
      capture.close();
    },
  };
}

/** What is no stream of frames ends the connection. */
function readFrames(socket: Socket, take: (frame: Buffer) => void): void {
  const read = frameReader(take);
  socket.on('data', (bytes: Buffer) => {
    try {
      read(bytes);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
}

/** The networks behind the port by VLAN; `undefined` is the one without a tag. */
function openTaps(
  { vlans }: TrunkRecord,
  native: string,
  namespace: string,
  toMachine: (frame: Buffer) => void,
): ReadonlyMap<number | undefined, Tap> {
  const leave = enterNamespace(namespace);
  try {
    return new Map<number | undefined, Tap>([
      [undefined, openTap(native, toMachine)],
      ...vlans.map(({ id, tap }) => [id, openTap(tap, (frame) => toMachine(tagged(frame, id)))] as const),
    ]);
  } finally {
    leave();
  }
}

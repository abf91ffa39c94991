import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Firmware and iPXE never send a request before they have the last answer; who piles up more than this is cut off. */
const maxWaiting = 8;

interface Queue {
  waiting: number;
  last: Promise<void>;
}

/**
 * Takes the requests of one connection one after another: a pipelined one opens nothing, and holds no memory but its
 * headers, before the answer to the one ahead of it is gone. Nothing runs for a connection that was closed meanwhile.
 */
export function inTurn(
  serve: (message: IncomingMessage, response: ServerResponse) => Promise<void>,
): RequestListener {
  const queues = new WeakMap<Socket, Queue>();
  return async (message, response) => {
    const { socket } = message;
    const queue = queues.get(socket) ?? { waiting: 0, last: Promise.resolve() };
    queues.set(socket, queue);
    if (queue.waiting > maxWaiting) {
      socket.destroy();
      return;
    }
    const before = queue.last;
    queue.last = new Promise((resolve) => response.once('close', resolve));
    queue.waiting += 1;
    await before;
    queue.waiting -= 1;
    if (!socket.destroyed) await serve(message, response);
  };
}

import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import type { Transfers } from './transfers.ts';

export interface SendLimits {
  /** Bodies that are read from files while they are sent, at a time; the others wait. */
  transfers: Transfers;
  /** A client that takes no byte for this long is cut off. */
  stallMs: number;
}

/**
 * Sends an answer; a HEAD has the headers alone. The response is destroyed when its client stalls.
 * @throws what the body fails with, or Error when the client leaves
 */
export async function send(
  answer: Answer,
  method: 'GET' | 'HEAD',
  response: ServerResponse,
  { transfers, stallMs }: SendLimits,
): Promise<void> {
  const { body, length } = answer;
  response.writeHead(answer.status, { ...answer.headers, ...lengthHeader(answer) });
  if (method === 'HEAD' || length === 0) {
    response.end();
  } else if (Buffer.isBuffer(body)) {
    cutOffStalled(response, stallMs);
    response.end(body);
  } else {
    await transfers.run(response, async () => {
      // Only now: who waits for a turn has nothing to take.
      cutOffStalled(response, stallMs);
      await body(response);
    });
    response.end();
  }
}

/**
 * A 304 has no body, and no length of one that it does not have (RFC 9110 §15.4.5). GRUB 2.12 knows this header by these capitals alone, and waits for
 * the end of the connection without it (seen with Debian's).
 */
function lengthHeader({ status, length }: Answer): Record<string, string> {
  return status === 304 ? {} : { 'Content-Length': String(length) };
}

/** Bytes that the kernel hands over begin the time anew; after the answer the keep-alive time counts. */
function cutOffStalled(response: ServerResponse, stallMs: number): void {
  response.setTimeout(stallMs, () =>
    response.destroy(new Error(`the client took nothing for ${stallMs / 1000} s`)),
  );
}

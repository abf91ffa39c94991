import type { Writable } from 'node:stream';
import { errorStatus, type WireError } from '#contract/errors.ts';

/** What a route answers. The length is always known: firmware and iPXE want it, and nothing is sent in chunks. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  length: number;
  /** For a GET alone; a HEAD has the headers only. A function writes to its target and does not end it. */
  body: Buffer | ((target: Writable) => Promise<void>);
  /** Called when the answer is over, sent or not. */
  release?(): void | Promise<void>;
}

export function bytesAnswer(content: Buffer, type: string, headers: Record<string, string> = {}): Answer {
  return {
    status: 200,
    headers: { 'content-type': type, ...headers },
    length: content.length,
    body: content,
  };
}

/** A script is made for one machine at one moment. */
export function scriptAnswer(script: string): Answer {
  return bytesAnswer(Buffer.from(script), 'text/plain; charset=utf-8', { 'cache-control': 'no-store' });
}

/** `{ "error": … }` with the status of its code. */
export function errorAnswer(error: WireError, headers: Record<string, string> = {}): Answer {
  const content = Buffer.from(JSON.stringify({ error }));
  return { ...bytesAnswer(content, 'application/json', headers), status: errorStatus[error.code] };
}

export function notFound(path: string): Answer {
  return errorAnswer({ code: 'NOT_FOUND', message: 'nothing is served here', details: { path } });
}

import { createReadStream, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { SourceBehaviour, SourceRequest } from './sourceBehaviour.ts';
import { otherBytes } from './sourceFaults.ts';

/**
 * An HTTPS server of image files with switchable faults, run as a process of its own in the rack's centre namespace:
 * `sourceMain.ts HOST PORT KEY CERTIFICATE`. What it serves it is told over the IPC channel.
 */
const [host, port, keyFile, certificateFile] = process.argv.slice(2) as [string, string, string, string];
const served = new Map<string, { file: string; behaviour: SourceBehaviour }>();

const server = createServer(
  { key: readFileSync(keyFile), cert: readFileSync(certificateFile) },
  (request, response) => {
    answer(request, response).catch(() => response.destroy());
  },
);
server.listen(Number(port), host, () => process.send?.('listening'));

process.on('message', (message: SourceRequest) => {
  if ('serve' in message) served.set(message.serve.path, message.serve);
  else served.delete(message.stopServing.path);
  process.send?.('done');
});
process.on('disconnect', () => process.exit(0));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const entry = served.get(new URL(request.url ?? '/', 'https://source').pathname);
  if (entry === undefined) {
    response.writeHead(404, { 'content-length': 0 }).end();
    return;
  }
  const size = servedSize(entry);
  const range = parseRange(request.headers.range, size);
  response.writeHead(range.partial ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': range.end - range.start,
    'accept-ranges': 'bytes',
    etag: `"${size}"`,
    ...(range.partial ? { 'content-range': `bytes ${range.start}-${range.end - 1}/${size}` } : {}),
  });
  if (request.method === 'HEAD') response.end();
  else await send(entry, range, response);
}

async function send(
  entry: { file: string; behaviour: SourceBehaviour },
  range: Range,
  response: ServerResponse,
): Promise<void> {
  const bytes = createReadStream(entry.file, { start: range.start, end: range.end - 1 });
  if (entry.behaviour === 'other-bytes') await pipeline(bytes, otherBytes(), response);
  else await pipeline(bytes, response);
}

/** A truncated file is served as a whole one: nothing in the answer tells that its second half is missing. */
function servedSize({ file, behaviour }: { file: string; behaviour: SourceBehaviour }): number {
  const { size } = statSync(file);
  return behaviour === 'truncated' ? Math.floor(size / 2) : size;
}

interface Range {
  partial: boolean;
  start: number;
  end: number;
}

function parseRange(header: string | undefined, size: number): Range {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? '');
  if (match === null) return { partial: false, start: 0, end: size };
  const last = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  return { partial: true, start: Number(match[1]), end: last + 1 };
}

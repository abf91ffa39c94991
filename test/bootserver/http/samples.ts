import { createHash } from 'node:crypto';
import { type Agent, Agent as HttpAgent, request } from 'node:http';
import type { Writable } from 'node:stream';
import type { ImageReader } from '#bootserver/http/imageReader.ts';
import type { CachedImage } from '#contract/images.ts';

export const image = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7 + (at >> 8)) & 255));
export const digest = createHash('sha256').update(image).digest('hex');

/** A cache that holds one image with a kernel at 1000 and an initrd at 3000, and counts what is open. */
export class OneImage implements ImageReader {
  openImages = 0;
  state: (digest: string) => CachedImage | undefined = () => undefined;
  /** Tokens of media, each with its image. */
  readonly media = new Map<string, string>();

  granted(token: string): string | undefined {
    return this.media.get(token);
  }

  async open(wanted: string) {
    if (wanted !== digest) return undefined;
    this.openImages += 1;
    return {
      sizeBytes: image.length,
      sendTo: async (target: Writable, start: number, endExclusive: number) => {
        target.write(image.subarray(start, endExclusive));
      },
      close: async () => {
        this.openImages -= 1;
      },
    };
  }

  async section(_: string, name: 'linux' | 'initrd') {
    return name === 'linux' ? { offset: 1000, sizeBytes: 2000 } : { offset: 3000, sizeBytes: 777 };
  }
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** One request with the path exactly as given. */
export function ask(
  url: string,
  path: string,
  {
    method = 'GET',
    headers = {},
    agent,
  }: { method?: string; headers?: Record<string, string>; agent?: Agent } = {},
): Promise<HttpAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** One connection for all requests. */
export function oneConnection(): Agent {
  return new HttpAgent({ keepAlive: true, maxSockets: 1 });
}

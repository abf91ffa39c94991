import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { systemCode } from '#base/errors.ts';
import type { CacheDetail, CacheOverview } from '#cache/operator.ts';
import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';

/** What the agent says of the whole cache. */
export interface CacheListing extends CacheOverview {
  images: CacheDetail[];
}

/** What the agent says of one image; `absent` when only its row of the catalog is known. */
export type ShownImage = Partial<Omit<CacheDetail, 'state'>> & {
  digest: string;
  ref: string;
  state: CacheDetail['state'] | 'absent';
};

/** The agent that runs here, by its local socket. */
export interface LocalAgent {
  /** @throws RailheadError what the agent answers, or UNAVAILABLE when none does */
  get<Answer>(path: string): Promise<Answer>;
  post<Answer>(path: string, body?: object): Promise<Answer>;
  /** Sends bytes as they come. */
  send<Answer>(path: string, bytes: AsyncIterable<Buffer>): Promise<Answer>;
}

export function localAgent(socketPath: string): LocalAgent {
  const ask = async <Answer>(
    options: RequestOptions,
    body: AsyncIterable<Buffer> | Buffer,
  ): Promise<Answer> => {
    const asking = request({ socketPath, ...options, headers: { host: 'bcd', ...options.headers } });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asking.once('response', resolve).once('error', reject);
    });
    // An agent that refuses need not take the rest; what it answers says more than that it stopped reading. A source that fails is told.
    const sent = pipeline(body instanceof Buffer ? [body] : body, asking).catch(onlyOurs);
    try {
      const response = await answered;
      const answer = (await json(response)) as Answer & { error?: WireError };
      if ((response.statusCode ?? 500) >= 400 && answer.error !== undefined)
        throw fromWireError(answer.error);
      return answer;
    } catch (error) {
      throw error instanceof RailheadError ? error : ((await sent) ?? unreachable(socketPath, error));
    } finally {
      asking.destroy();
      await sent;
    }
  };
  const nothing = Buffer.alloc(0);
  const type = (name: string) => ({ 'content-type': `application/${name}` });
  return {
    get: (path) => ask({ path }, nothing),
    post: (path, body = {}) => {
      const bytes = Buffer.from(JSON.stringify(body));
      return ask(
        { path, method: 'POST', headers: { ...type('json'), 'content-length': bytes.length } },
        bytes,
      );
    },
    send: (path, bytes) => ask({ path, method: 'POST', headers: type('octet-stream') }, bytes),
  };
}

function onlyOurs(error: unknown): RailheadError | undefined {
  return error instanceof RailheadError ? error : undefined;
}

export function unreachable(socketPath: string, error: unknown): RailheadError {
  const reason = systemCode(error) ?? 'unknown';
  const hint =
    reason === 'EACCES'
      ? "run this as root or as the agent's user"
      : 'start the agent (systemctl start bcd-site)';
  const message = `no agent answers at ${socketPath} (${reason}): ${hint}`;
  return new RailheadError('UNAVAILABLE', message, { path: socketPath, reason }, error);
}

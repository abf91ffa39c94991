import { imageId, tenantId } from './books.ts';
import { type Latency, latency } from './latency.ts';

/** Calls a method of the API. */
export type Call = <Data>(method: string, input: object) => Promise<Data>;

/** How many of each call are timed, and how long a page of a list is. */
export interface Amounts {
  images: number;
  times: number;
  limit: number;
}

export const deepPage = 1000;

export function apiCalls(port: number, token: string): Call {
  return async (method, input) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/compute/${method.replace('.', '/')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    });
    if (answer.status !== 200) throw new Error(`${method}: ${await answer.text()}`);
    return ((await answer.json()) as { data: never }).data;
  };
}

/** One caller at a time: what each call takes. */
export async function timedCalls(
  call: Call,
  { images, times, limit }: Amounts,
): Promise<Record<string, Latency>> {
  const list = (cursor?: string) => call<Page>('images.list', { tenantId, limit, ...(cursor && { cursor }) });
  const deep = await cursorOf(deepPage, list);
  return {
    register: await latency(times, (turn) => call('images.register', newImage(turn))),
    get: await latency(times, (turn) =>
      call('images.get', { tenantId, imageId: imageId((turn * 7919) % images) }),
    ),
    listPage1: await latency(times, () => list()),
    [`listPage${deepPage}`]: await latency(times, () => list(deep)),
    profileGet: await latency(times, (turn) =>
      call('profiles.get', { tenantId, profileId: `profile-${turn}` }),
    ),
    profileListPage1: await latency(times, () => call('profiles.list', { tenantId, limit })),
  };
}

interface Page {
  items: unknown[];
  cursor?: string;
}

/** The cursor with which page `page` is asked for, found by turning every page before it. */
async function cursorOf(page: number, list: (cursor?: string) => Promise<Page>): Promise<string> {
  let cursor: string | undefined;
  for (let turned = 1; turned < page; turned++) {
    ({ cursor } = await list(cursor));
    if (cursor === undefined) throw new Error(`the list ends at page ${turned}`);
  }
  return cursor ?? '';
}

function newImage(turn: number) {
  const name = `new-${process.pid}@${turn}`;
  const source = `https://images.example.com/${name}`;
  return { tenantId, ref: name, format: 'raw', sha256: turn.toString(16).padStart(64, '0'), source };
}

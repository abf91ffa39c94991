import { request } from 'undici';
import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';

/** The operators' API of a centre: `call('images', 'list', { tenantId: 'root' })`. */
export interface Api {
  /** @throws RailheadError what the centre answered; UNAVAILABLE when it did not */
  call<Answer>(group: string, method: string, input: object): Promise<Answer>;
}

export function connectApi(url: string, token: string): Api {
  return {
    async call<Answer>(group: string, method: string, input: object): Promise<Answer> {
      const { body, statusCode } = await send(`${url}/api/compute/${group}/${method}`, token, input);
      const answer = (await body.json()) as { data?: Answer; error?: WireError };
      if (answer.error !== undefined) throw fromWireError(answer.error);
      if (answer.data === undefined)
        throw new RailheadError('INTERNAL', `${group}.${method} answered ${statusCode} without data`);
      return answer.data;
    },
  };
}

async function send(url: string, token: string, input: object) {
  try {
    return await request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
      headersTimeout: 90_000,
    });
  } catch (cause) {
    throw new RailheadError('UNAVAILABLE', `the centre does not answer at ${url}`, { url }, cause);
  }
}

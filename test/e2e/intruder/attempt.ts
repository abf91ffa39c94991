import { type Dispatcher, request } from 'undici';

/** One try to get in where one may not. */
export interface Attempt {
  /** As the route table has it: `POST /v1/join`. */
  route: string;
  /** What is shown: nothing, what was good once, what is somebody else's, what is of another centre or site. */
  credential: 'none' | 'stale' | 'stolen' | 'foreign' | 'open';
  how: string;
  send(): Promise<Answer>;
  /** Which answers keep the door shut; default 401 and 403. */
  shut?: readonly number[];
}

export interface Answer {
  status: number;
  text: string;
}

/** Nothing of this may ever be told: private keys, and tokens of every kind. */
const secret = /PRIVATE KEY|rh[tj]_[A-Za-z0-9_-]{20}|railhead\.token=|"privateKey"|"d":/;

/** Why an attempt got in, or learned a secret; undefined when it did not. */
export async function success({ send, shut, credential, how }: Attempt): Promise<string | undefined> {
  const { status, text } = await send();
  const what = `${credential}, ${how}: ${status} ${text.slice(0, 200)}`;
  if (secret.test(text)) return `told a secret: ${what}`;
  if (credential === 'open') return status < 500 ? undefined : what;
  return (shut ?? [401, 403]).includes(status) ? undefined : what;
}

/** Sends JSON, and returns what is answered, whatever the status. */
export async function send(
  route: string,
  base: string,
  options: { dispatcher?: Dispatcher; bearer?: string | undefined; body?: unknown; path?: string } = {},
): Promise<Answer> {
  const [method = 'GET', path = '/'] = route.split(' ');
  const { dispatcher, bearer, body } = options;
  const answer = await request(new URL(options.path ?? path, base), {
    method: method as Dispatcher.HttpMethod,
    ...(dispatcher !== undefined && { dispatcher }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

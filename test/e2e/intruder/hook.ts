import { randomBytes } from 'node:crypto';
import { Agent } from 'undici';
import { type Attempt, send } from './attempt.ts';

/** Tokens of BMCs: one that is good, and one of a machine that has left the site. */
export interface HookLoot {
  good: string;
  stale: string;
}

const event = { Events: [{ MessageId: 'ResourceEvent.1.3.ResourcePoweredOff' }] };

/** Where BMCs post their events: only who has a BMC's token is listened to, and that has the site look at the BMC, no more. */
export function attemptsAtHook(url: string, { good, stale }: HookLoot): Attempt[] {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  return ['POST /v1/bmc-events/:token', 'POST /v1/bmc-events/:token/'].flatMap((route) => {
    const post = (how: string, token: string, body: unknown = event, shut?: number[]): Attempt => ({
      ...{ route, credential: token === stale ? 'stale' : token === good ? 'stolen' : 'foreign', how },
      ...(shut !== undefined && { shut }),
      send: () => send(route, url, { dispatcher, body, path: route.slice(5).replace(':token', token) }),
    });
    return [
      post('a token that was guessed', randomBytes(24).toString('base64url')),
      post('a token of a machine that has left', stale),
      post('half a token', good.slice(0, 16)),
      post('the context of another one', good, { ...event, Context: stale }),
      post('more than an event is long', good, { Events: 'x'.repeat(300_000) }, [400, 413]),
    ];
  });
}

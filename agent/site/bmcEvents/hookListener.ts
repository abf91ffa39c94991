import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { RailheadError } from '#contract/errors.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import { addRoutes, type Route, route } from '#doors/routes.ts';
import { contextsOf, isNews } from '#redfish/events/news.ts';
import type { Json } from '#redfish/json.ts';
import type { Identity } from '../../join/identity.ts';
import { createSiteDoor, type Door, listen } from '../http/door.ts';
import type { BmcHooks } from '../store/bmcHooks.ts';

export interface HookParts {
  hooks: Pick<BmcHooks, 'ownerOf'>;
  /** A BMC has posted; `isNews`: it may be worth a look. */
  onDelivery(nodeId: string, isNews: boolean): void;
  log: Log;
}

export const hookPath = '/v1/bmc-events';

/** An event of a BMC has some kilobytes. */
const bodyLimit = 256 * 1024;
/** Of one BMC. */
const rate = { perSecond: 5, burst: 50 };

/** How many posts were turned away since the start, for want of a token that is known. */
export const hookRefusals = { count: 0 };

/** Where BMCs post their events. Nothing of an event is believed: it is a reason to look at the BMC that it is from. */
export function hookRoutes({ hooks, onDelivery }: HookParts): Route[] {
  const allowance = { limiter: new RateLimiter(rate), keyOf: (nodeId: string) => nodeId };
  const admit = ({ params }: { params: unknown }): string => {
    const nodeId = hooks.ownerOf((params as { token: string }).token);
    if (nodeId !== undefined) return nodeId;
    hookRefusals.count++;
    throw unknownToken();
  };
  const row = (path: string): Route =>
    route<string>({
      method: 'POST',
      path,
      admit,
      allowance,
      bodyLimit,
      answer: ({ body, params }, nodeId, reply) => {
        const { token } = params as { token: string };
        if (contextsOf(body as Json).some((context) => context !== token)) throw unknownToken();
        onDelivery(nodeId, isNews(body as Json));
        // iLO takes nothing else for a yes.
        return reply.code(200).send({});
      },
    });
  // iLO adds a slash.
  return [row(`${hookPath}/:token`), row(`${hookPath}/:token/`)];
}

function unknownToken(): RailheadError {
  return new RailheadError('FORBIDDEN', 'no BMC of this site has this token', { reason: 'token' });
}

export interface HookListenerOptions extends HookParts {
  /** `address:port`. */
  where: string;
  /** The site's own certificate and key; plain HTTP without. */
  identity?: { current: Identity; onChange(listener: (identity: Identity) => void): () => void };
}

/** The door for BMCs: TLS 1.2 too, since many have nothing newer. */
export function createHookDoor({ identity, ...parts }: Omit<HookListenerOptions, 'where'>): Door {
  const tls = identity && { tls: tlsOf(identity.current), oldestTls: 'TLSv1.2' as const };
  const door = createSiteDoor({ log: parts.log, bodyLimit, ...tls });
  // Not every BMC says that it posts JSON.
  door.addContentTypeParser('*', { parseAs: 'string' }, door.getDefaultJsonParser('error', 'error'));
  addRoutes(door, hookRoutes(parts));
  return door;
}

export async function openHookListener(options: HookListenerOptions): Promise<Closable> {
  const door = createHookDoor(options);
  const forget = options.identity?.onChange((identity) =>
    (door.server as unknown as { setSecureContext(tls: object): void }).setSecureContext(tlsOf(identity)),
  );
  await listen(door, options.where, 'bmc.events.listen');
  return {
    close: async () => {
      forget?.();
      await door.close();
    },
  };
}

function tlsOf({ certificate, privateKey }: Identity) {
  return { cert: certificate, key: privateKey };
}
